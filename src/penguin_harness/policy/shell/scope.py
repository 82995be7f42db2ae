"""What a shell holds while it runs a line: variables with the values that they may have, functions, a folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from penguin_harness.policy.shell.command import Field
from penguin_harness.policy.shell.syntax import Function

EMPTY = Field("")
MOST_VALUES = 256

_OF_THE_SHELL = re.compile(
    r"BASH_\w+|RANDOM|SRANDOM|SECONDS|EPOCH\w+|LINENO|E?UID|PPID|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|SHLVL|PIPESTATUS"
    r"|COPROC\w*|DIRSTACK|GROUPS|REPLY|OPT(?:ARG|IND|ERR)|SHELLOPTS|FUNCNAME|MAPFILE|COLUMNS|LINES|OLDPWD|[?$!_#-]"
)
_NAME = re.compile(r"[A-Za-z_]\w*")


class Scope:
    """The state of one shell; a subshell has a copy."""

    def __init__(self, environment: Mapping[str, str], folder: str | None, base: str | None = None) -> None:
        self.environment = environment
        self.folder = folder
        self.base = base
        """The folder that the work is about, where that is known."""
        self.positional: tuple[Field, ...] | None = ()
        """None when nobody can say."""
        self.name = Field("bash")
        """`$0`."""
        self.functions: dict[str, Function] = {}
        self.is_sure = True
        """False where what is set now may not have been: the old values stay possible."""
        self.is_closed = True
        """False when a file was sourced: what the line did not set may be set now."""
        self.home = environment.get("HOME") or posixpath.expanduser("~")
        """The user's home folder."""
        self._values: dict[str, tuple[Field, ...]] = {"HOME": (Field(self.home),)}
        self._lists: dict[str, tuple[Field, ...]] = {}

    def copy(self) -> Scope:
        """A subshell."""
        other = Scope(self.environment, self.folder, self.base)
        other.positional, other.name = self.positional, self.name
        other.is_sure, other.is_closed = self.is_sure, self.is_closed
        other.functions = dict(self.functions)
        other._values, other._lists = dict(self._values), dict(self._lists)
        return other

    def is_set(self, name: str) -> bool:
        """Whether the variable exists, be it empty."""
        if name in self._values or name in self._lists:
            return bool(self._values.get(name, (EMPTY,)))
        if name.isdigit() and self.positional is not None:
            return int(name) <= len(self.positional)
        return name in self.environment or name in {"PWD", "IFS"} or not self.is_closed

    def values(self, name: str, source: str) -> tuple[Field, ...]:
        """What a variable may hold; not known when nobody can say."""
        if name in self._values:
            return self._values[name] or (EMPTY,)
        if name in self._lists:
            return self._lists[name][:1] or (EMPTY,)
        if name == "PWD":
            return (Field(self.folder),) if self.folder is not None else (Field(source, known=False),)
        if name == "IFS":
            return (Field(" \t\n"),)
        if name in {"0", "BASH"}:
            return (self.name,) if name == "0" else (Field("/bin/bash"),)
        if name.isdigit():
            return self._argument(int(name), source)
        if name in self.environment:
            return (Field(self.environment[name]),)
        if not self.is_closed or _OF_THE_SHELL.fullmatch(name):
            return (Field(source, known=False),)
        return (EMPTY,)

    def members(self, name: str, source: str) -> tuple[Field, ...]:
        """The members of a list, or the arguments for `@` and `*`."""
        if name in {"@", "*"}:
            return (Field(source, known=False),) if self.positional is None else self.positional
        return self._lists[name] if name in self._lists else self.values(name, source)

    def set(self, name: str, values: Iterable[Field]) -> None:
        """A variable gets one of these values."""
        found = tuple(Field(value.text, value.known, None, value.made_by) for value in values)
        if not self.is_sure:
            found = (*self.values(name, f"${name}"), *found)
        found = tuple(dict.fromkeys(found))
        unknown = Field(f"${name}", known=False, made_by=tuple(dict.fromkeys(c for v in found for c in v.made_by)))
        self._values[name] = found if len(found) <= MOST_VALUES else (unknown,)
        self._lists.pop(name, None)

    def unset(self, name: str) -> None:
        """A variable exists no more."""
        if self.is_sure:
            self._values[name] = ()
            self._lists.pop(name, None)
        else:
            self.set(name, [EMPTY])

    def set_list(self, name: str, members: Iterable[Field]) -> None:
        """A variable becomes a list."""
        self._lists[name] = tuple(members)
        self._values.pop(name, None)

    def forget(self, *names: str) -> None:
        """Nobody can say what these hold."""
        for name in names:
            self.set(name, [Field(f"${name}", known=False)])

    def calculate(self, expression: str) -> None:
        """An arithmetic expression may set what it names."""
        self.forget(*(name for name in _NAME.findall(expression) if name not in self._values))

    def enter(self, folder: Field) -> None:
        """Change the folder."""
        if not folder.is_plain:
            self.folder = None
        elif folder.text.startswith("/"):
            self.folder = posixpath.normpath(folder.text)
        elif self.folder is not None:
            self.folder = posixpath.normpath(posixpath.join(self.folder, folder.text))

    def _argument(self, number: int, source: str) -> tuple[Field, ...]:
        if self.positional is None:
            return (Field(source, known=False),)
        return (self.positional[number - 1],) if 0 < number <= len(self.positional) else (EMPTY,)
