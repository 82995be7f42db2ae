"""The command policy: what a shell line would do, and whether the project's rules forbid it."""

from penguin_harness.policy.book import UNPARSED, UNPARSED_REASON, Entry, Judgement, Part, RuleBook, shown
from penguin_harness.policy.calls import command_allowance, command_policy
from penguin_harness.policy.factory import FACTORY
from penguin_harness.policy.rules import Decision, Rule

__all__ = [
    "FACTORY",
    "UNPARSED",
    "UNPARSED_REASON",
    "Decision",
    "Entry",
    "Judgement",
    "Part",
    "Rule",
    "RuleBook",
    "command_allowance",
    "command_policy",
    "shown",
]
