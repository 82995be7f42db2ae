"""Arguments, told apart: flags, their values, operands."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from penguin_harness.policy.shell.command import Field


class Options(Struct, frozen=True):
    """The arguments of a command."""

    flags: frozenset[str]
    """Short ones one by one, `-r`; long ones without their value, `--recursive`."""
    values: dict[str, Field]
    operands: tuple[Field, ...]

    def has(self, *names: str) -> bool:
        """Whether one of the flags is there; a long one may be cut short."""
        return any(name in self.flags or self._is_cut(name) for name in names)

    def _is_cut(self, name: str) -> bool:
        return name.startswith("--") and any(len(flag) > 4 and name.startswith(flag) for flag in self.flags)


def options(arguments: Iterable[Field], valued: frozenset[str] = frozenset()) -> Options:
    """Tell flags from operands; `valued` flags take the next argument. Behind `--` there are operands only."""
    flags: set[str] = set()
    values: dict[str, Field] = {}
    operands: list[Field] = []
    rest = deque(arguments)
    while rest:
        field = rest.popleft()
        if field.text == "--":
            operands += rest
            break
        if not field.text.startswith("-") or field.text == "-":
            operands.append(field)
            continue
        found, value = _flags(field, valued)
        flags.update(found)
        if value is not None:
            values[found[-1]] = value
        elif found[-1] in valued and rest:
            values[found[-1]] = rest.popleft()
    return Options(frozenset(flags), values, tuple(operands))


def takes_next(flag: str, valued: frozenset[str]) -> bool:
    """Whether the next argument is the flag's value."""
    found, value = _flags(Field(flag), valued)
    return value is None and found[-1] in valued


def _flags(field: Field, valued: frozenset[str]) -> tuple[list[str], Field | None]:
    """The flags of one argument, and the value of the last one when it stands there too."""
    name, equals, value = field.text.partition("=")
    if name.startswith("--") or name in valued:
        return [name], msgspec.structs.replace(field, text=value) if equals else None
    found: list[str] = []
    for at, letter in enumerate(field.text[1:], 2):
        found.append(f"-{letter}")
        if found[-1] in valued:
            value = field.text[at:]
            return found, msgspec.structs.replace(field, text=value) if value else None
    return found, None
