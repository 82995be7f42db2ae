"""What a check finds: violations of rules, and notes on what is no violation but worth knowing."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from penguin_harness.omnimessage.check.rules import RULES

Surface: TypeAlias = Literal["trace", "stream"]
Dialect: TypeAlias = Literal["strict", "lenient"]


class Violation(Struct, frozen=True):
    """A rule that a message breaks."""

    line: int
    """Counted from 1, in a file and in a sequence alike."""
    rule: str
    text: str
    """The rule's sentence."""
    message: str
    """What breaks it, with the value."""
    file: int = 1
    """Which of the session's files, counted from 1."""

    def __str__(self) -> str:
        return f"file {self.file}, line {self.line}: {self.message} [{self.rule}: {self.text}]"


class Note(Struct, frozen=True):
    """Something worth knowing that breaks no rule."""

    line: int
    message: str
    file: int = 1

    def __str__(self) -> str:
        return f"file {self.file}, line {self.line}: {self.message}"


class Report(Struct, frozen=True):
    """The outcome of a check; the first violation stands first."""

    violations: tuple[Violation, ...]
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """Whether every rule is obeyed."""
        return not self.violations

    def __str__(self) -> str:
        return "\n".join(map(str, self.violations)) or "conforms"


class Findings:
    """Collects what the parts of the checker find at the place where it stands."""

    def __init__(self, dialect: Dialect) -> None:
        self.strict = dialect == "strict"
        self.file = 1
        self.line = 0
        self.violations: list[Violation] = []
        self.notes: list[Note] = []

    def broken(self, rule: str, message: str, *, line: int | None = None) -> None:
        """The rule is broken here, unless the dialect lets it pass."""
        if self.strict or not RULES[rule].strict_only:
            place = self.line if line is None else line
            self.violations.append(Violation(place, rule, RULES[rule].text, message, self.file))

    def note(self, message: str, *, line: int | None = None) -> None:
        """Something worth knowing, here."""
        self.notes.append(Note(self.line if line is None else line, message, self.file))
