"""One simple command as the shell would run it: what is known of its words, and what reaches it."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase

from msgspec import Struct


class Field(Struct, frozen=True):
    """A word after expansion."""

    text: str
    """What is not known stands in it as it was written."""
    known: bool = True
    pattern: str | None = None
    """For a word with unquoted wildcards: what it matches, quoted ones escaped."""
    made_by: tuple[Command, ...] = ()
    """The commands whose output is in it."""

    @property
    def is_plain(self) -> bool:
        """Whether the text is certain."""
        return self.known and self.pattern is None

    @property
    def name(self) -> str:
        """The last part of it as a path."""
        return self.text.rpartition("/")[2]

    @property
    def spelled(self) -> str:
        """As a person would write it."""
        return shlex.quote(self.text) if self.is_plain else self.text

    def may_name(self, name: str) -> bool:
        """Whether it is the path of a program with that name, or a wildcard that may find it."""
        if not self.known:
            return False
        if self.pattern is None:
            return self.name == name
        return fnmatchcase(name, self.pattern.rpartition("/")[2])


class Target(Struct, frozen=True):
    """Where a redirection leads."""

    operator: str
    field: Field
    descriptor: str = ""

    @property
    def writes(self) -> bool:
        """Whether a file is written."""
        return self.operator in {">", ">>", ">|", "&>", "&>>", "<>"} or (self.operator == ">&" and not self.is_copy)

    @property
    def diverts(self) -> bool:
        """Whether what is printed goes there."""
        return self.writes and (self.descriptor in {"", "1"} or self.operator.startswith("&"))

    @property
    def truncates(self) -> bool:
        """Whether what the file held is lost."""
        return self.writes and self.operator not in {">>", "&>>", "<>"}

    @property
    def is_copy(self) -> bool:
        """Whether it names a descriptor and not a file."""
        text = self.field.text
        return self.operator in {">&", "<&"} and (text == "-" or text.rstrip("-").isdigit())


class Command(Struct, frozen=True, eq=False):
    """A program with its arguments. Equal to nothing but itself."""

    fields: tuple[Field, ...]
    source: str
    """As it stands in the line."""
    targets: tuple[Target, ...] = ()
    assigned: tuple[str, ...] = ()
    """Variables that are set for it, or by it."""
    via: tuple[str, ...] = ()
    """The programs that run it, outermost first."""
    folder: str | None = "."
    """Where it runs, relative to where the line begins if not absolute; None when nobody can say."""
    feeders: tuple[Command, ...] = ()
    """The commands whose output it reads."""
    given: str | None = None
    """What it reads, if that is known."""
    home: str = "/root"
    base: str | None = None
    """The folder that the work is about, if it is known."""
    is_bomb: bool = False
    """Whether it is a function that starts itself without end."""

    @property
    def arguments(self) -> tuple[Field, ...]:
        """What stands behind the program."""
        return self.fields[1:]

    def runs(self, *names: str) -> bool:
        """Whether the program may be one of these."""
        return bool(self.fields) and any(map(self.fields[0].may_name, names))
