"""The command policy: what a shell line would do, and whether the project's rules forbid it."""

from penguin_harness.policy.book import UNPARSED, UNPARSED_REASON, Decision, Entry, Judgement, Part, RuleBook, shown
from penguin_harness.policy.calls import command_allowance, command_policy

__all__ = [
    "UNPARSED",
    "UNPARSED_REASON",
    "Decision",
    "Entry",
    "Judgement",
    "Part",
    "RuleBook",
    "command_allowance",
    "command_policy",
    "shown",
]
