"""The rules of a project, its own and the factory's, and what they say about a shell line.

The reader of shell lines is imported with the first of them: who never runs a command does not pay for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from msgspec import Struct

from penguin_harness.errors import ConfigError

if TYPE_CHECKING:
    from penguin_harness.policy.rules import Pattern, Rule
    from penguin_harness.policy.shell.command import Command

Decision: TypeAlias = Literal["forbid", "allow"]

UNPARSED = "unparsed"
UNPARSED_REASON = "it cannot be read as bash, so nobody can say what it would do"
_ADVICE = "Do not look for another way to do it; say what you wanted to do, and let the user decide."
_REWRITE = "Write it in a plainer way."
_SHOWN = 200


class Entry(Protocol):
    """A rule as the project's configuration has it."""

    @property
    def decision(self) -> Decision:
        """What it says."""
        ...

    @property
    def pattern(self) -> str | None:
        """The commands that it is about."""
        ...

    @property
    def rule(self) -> str | None:
        """The factory rule that it lifts."""
        ...

    @property
    def reason(self) -> str:
        """Why, for whoever is refused."""
        ...


class Part(Struct, frozen=True):
    """A simple command of a line, and the rule that decided about it."""

    command: Command
    rule: Rule | None = None


class Judgement(Struct, frozen=True):
    """What the rules say about a line."""

    parts: tuple[Part, ...]
    decision: Decision | None
    """`allow` when every part is allowed by name; None when nothing decides, so that a person is asked."""
    hit: Part | None = None
    """The part that is forbidden."""
    unreadable: str = ""
    """Why the line cannot be read, if it cannot."""

    @property
    def reason(self) -> str | None:
        """Why the line is forbidden, in words for the model; None when it is not."""
        if self.decision != "forbid":
            return None
        if self.hit is None or self.hit.rule is None:
            return f"The command policy forbids this line: {UNPARSED_REASON} ({self.unreadable}). {_REWRITE}"
        rule, source = self.hit.rule, shown(self.hit.command.source)
        because = rule.reason.strip().rstrip(".")
        return f"The command policy forbids `{source}`{f': {because}' if because else ''} (rule {rule.name}). {_ADVICE}"


class RuleBook:
    """Rules in the order in which they are looked at: the project's own, then the factory's that it has not lifted."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Raises ConfigError for an entry that makes no sense."""
        self.own: list[Rule] = []
        self.lifted: dict[str, list[Pattern | None]] = {}
        """Factory rules that do not hold, at all or for some commands."""
        for entry in entries:
            if entry.rule is None:
                self.own.append(_own_rule(entry))
            else:
                self.lifted.setdefault(_factory_name(entry), []).append(_pattern_of(entry))

    def judge(
        self, line: str, *, environment: Mapping[str, str], folder: str | None = None, workspace: str | None = None
    ) -> Judgement:
        """What the rules say about a line that runs with these variables in this folder, by default the workspace."""
        from penguin_harness.policy.shell.syntax import Unreadable
        from penguin_harness.policy.shell.walk import find_commands

        try:
            commands = find_commands(line, environment=environment, folder=folder, workspace=workspace)
        except Unreadable as error:
            return Judgement((), None if self.is_lifted(UNPARSED) else "forbid", unreadable=str(error))
        parts = tuple(Part(command, self._rule_for(command)) for command in commands)
        hit = next((part for part in parts if part.rule is not None and part.rule.decision == "forbid"), None)
        if hit is not None:
            return Judgement(parts, "forbid", hit)
        is_allowed = bool(parts) and all(part.rule is not None for part in parts)
        return Judgement(parts, "allow" if is_allowed else None)

    def is_lifted(self, name: str, command: Command | None = None) -> bool:
        """Whether a factory rule does not hold, for this command or at all."""
        for exception in self.lifted.get(name, ()):
            if exception is None:
                return True
            if command is not None and any(map(exception.names, (command, *command.feeders))):
                return True
        return False

    def _rule_for(self, command: Command) -> Rule | None:
        """A project's rule may allow, but only lifting a factory rule by its name takes that out of force."""
        from penguin_harness.policy.factory import FACTORY

        own = next((rule for rule in self.own if rule.applies(command)), None)
        if own is not None and own.decision == "forbid":
            return own
        factory = (rule for rule in FACTORY if rule.applies(command) and not self.is_lifted(rule.name, command))
        return next(factory, own)


def shown(text: str) -> str:
    """A command on one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _own_rule(entry: Entry) -> Rule:
    from penguin_harness.policy.rules import Rule

    found = _pattern_of(entry)
    if found is None:
        raise ConfigError("a [[policy]] entry needs a pattern, or the name of a factory rule that it lifts")
    applies = found.names if entry.decision == "forbid" else found.begins
    return Rule(found.text, entry.decision, entry.reason, applies)


def _pattern_of(entry: Entry) -> Pattern | None:
    from penguin_harness.policy.rules import pattern

    return None if entry.pattern is None else pattern(entry.pattern)


def _factory_name(entry: Entry) -> str:
    import difflib

    from penguin_harness.policy.factory import FACTORY

    name = entry.rule or ""
    known = [*(rule.name for rule in FACTORY), UNPARSED]
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise ConfigError(
            f"there is no factory rule {name!r}{f'; is it {near[0]!r}?' if near else ''}; see `penguin policy list`"
        )
    if entry.decision != "allow":
        raise ConfigError(f'the factory rule {name!r} forbids by itself; an entry that names it has decision = "allow"')
    return name
