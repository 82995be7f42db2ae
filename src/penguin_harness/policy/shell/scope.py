"""What a shell holds while it runs a line: variables with the values that they may have, functions, a folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from penguin_harness.policy.shell.command import Field
from penguin_harness.policy.shell.syntax import Function

Members: TypeAlias = tuple[Field, ...]
EMPTY = Field("")
MOST_VALUES = 256

_OF_THE_SHELL = re.compile(
    r"BASH_\w+|RANDOM|SRANDOM|SECONDS|EPOCH\w+|LINENO|E?UID|PPID|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|SHLVL|PIPESTATUS"
    r"|COPROC\w*|DIRSTACK|GROUPS|REPLY|OPT(?:ARG|IND|ERR)|SHELLOPTS|FUNCNAME|MAPFILE|COLUMNS|LINES|OLDPWD|[?$!_#-]"
)
_SET_BY_ARITHMETIC = re.compile(
    r"\b([A-Za-z_]\w*)(?:\[[^]]*\])?\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)


class Scope:
    """The state of one shell; a subshell has a copy."""

    def __init__(self, environment: Mapping[str, str], folder: str | None, base: str | None = None) -> None:
        self.environment = environment
        self.folder = folder
        self.base = base
        """The folder that the work is about, where that is known."""
        self.arguments: tuple[Members, ...] | None = ((),)
        """What `$@` may be; None when nobody can say."""
        self.name = Field("bash")
        """`$0`."""
        self.functions: dict[str, Function] = {}
        self.is_sure = True
        """False where what is set now may not have been: the old values stay possible."""
        self.is_closed = True
        """False when a file was sourced: what the line did not set may be set now."""
        self.home = environment.get("HOME") or posixpath.expanduser("~")
        """The user's home folder."""
        self._variables: dict[str, tuple[Members, ...]] = {"HOME": ((Field(self.home),),)}
        self._exported = {"HOME", *environment}

    def copy(self) -> Scope:
        """A subshell."""
        other = Scope(self.environment, self.folder, self.base)
        other.arguments, other.name = self.arguments, self.name
        other.is_sure, other.is_closed = self.is_sure, self.is_closed
        other.functions = dict(self.functions)
        other._variables = dict(self._variables)
        other._exported = set(self._exported)
        return other

    def is_like(self, other: Scope) -> bool:
        """Whether commands would find the same things here as there."""
        mine = (self._variables, self.arguments, self.folder, self.functions, self.is_closed)
        return mine == (other._variables, other.arguments, other.folder, other.functions, other.is_closed)

    def child(self) -> Scope:
        """Another shell, which gets what is exported."""
        other = self.copy()
        other._variables = {name: values for name, values in self._variables.items() if name in self._exported}
        return other

    @contextmanager
    def for_a_while(self, names: Collection[str]) -> Generator[None, None, None]:
        """Within it the variables may change, and are handed on; afterwards they are as they were."""
        before = {name: self._variables.get(name) for name in names}
        exported = set(self._exported)
        yield
        self._exported = exported | (self._exported - {*names})
        for name, readings in before.items():
            if readings is None:
                self._variables.pop(name, None)
            else:
                self._variables[name] = readings

    def export(self, *names: str) -> None:
        """Hand variables on to other programs."""
        self._exported.update(names)

    def readings(self, name: str, source: str) -> tuple[Members, ...]:
        """Each way in which a variable may be filled: no member when it is not set, one when it is no list."""
        unknown = ((Field(source, known=False),),)
        if name in self._variables:
            return self._variables[name]
        if name in {"@", "*"}:
            return unknown if self.arguments is None else self.arguments
        if name.isdigit() and name != "0":
            return unknown if self.arguments is None else tuple(a[int(name) - 1 : int(name)] for a in self.arguments)
        fixed = {"0": self.name, "BASH": Field("/bin/bash"), "IFS": Field(" \t\n")}
        if self.folder is not None:
            fixed["PWD"] = Field(self.folder)
        if name in fixed:
            return ((fixed[name],),)
        if name in self.environment:
            return ((Field(self.environment[name]),),)
        return unknown if not self.is_closed or _OF_THE_SHELL.fullmatch(name) else ((),)

    def value(self, name: str) -> str:
        """The text of a variable of which there is one."""
        return next((members[0].text for members in self.readings(name, f"${name}") if members), "")

    def any_of(self, name: str) -> str:
        """The characters that a variable may hold, in any of its readings."""
        texts = (members[0].text for members in self.readings(name, f"${name}") if members and members[0].known)
        return "".join(dict.fromkeys("".join(texts)))

    def set(self, name: str, values: Iterable[Field]) -> None:
        """A variable gets one of these values; of a list, the first member does."""
        found = [Field(value.text, value.known, None, value.made_by) for value in values]
        rests = {members[1:] for members in self._variables.get(name, ((),))}
        self._fill(name, [(value, *rest) for value in found for rest in rests])

    def set_list(self, name: str, members: Iterable[Field]) -> None:
        """A variable becomes a list."""
        self._fill(name, [tuple(members)])

    def set_arguments(self, arguments: Members) -> None:
        """`$@` becomes these."""
        before = () if self.is_sure else self.arguments
        self.arguments = None if before is None else tuple(dict.fromkeys((*before, arguments)))[:MOST_VALUES]

    def shift(self) -> None:
        """The first of the arguments goes."""
        if self.arguments is not None:
            before = () if self.is_sure else self.arguments
            self.arguments = tuple(dict.fromkeys((*before, *(each[1:] for each in self.arguments))))

    def unset(self, name: str) -> None:
        """A variable exists no more."""
        self._fill(name, [()])

    def forget(self, *names: str) -> None:
        """Nobody can say what these hold."""
        for name in names:
            self.set(name, [Field(f"${name}", known=False)])

    def calculate(self, expression: str) -> None:
        """What an arithmetic expression sets is some number."""
        for found in _SET_BY_ARITHMETIC.finditer(expression):
            self.forget(found[1] or found[2])

    def _fill(self, name: str, readings: Iterable[Members]) -> None:
        before = () if self.is_sure else self.readings(name, f"${name}")
        found = tuple(dict.fromkeys((*before, *readings)))
        if len(found) > MOST_VALUES:
            makers = dict.fromkeys(maker for members in found for field in members for maker in field.made_by)
            found = ((Field(f"${name}", known=False, made_by=tuple(makers)),),)
        self._variables[name] = found

    def enter(self, folder: Field) -> None:
        """Change the folder."""
        if not folder.is_plain:
            self.folder = None
        elif folder.text.startswith("/"):
            self.folder = posixpath.normpath(folder.text)
        elif self.folder is not None:
            self.folder = posixpath.normpath(posixpath.join(self.folder, folder.text))
