"""What commands write, lose and read, out of their arguments."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from penguin_harness.policy.rules import pattern
from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import options

_COPIERS = ("cp", "mv", "install", "ln", "rsync", "scp")
_REMOVERS = ("rm", "unlink", "shred", "truncate", "srm")
_TARGET = frozenset({"-t", "--target-directory", "-o", "-g", "-m"})
_SIZE = frozenset({"-s", "--size", "-n", "-r", "--reference"})
_HELP = {"--help", "-help", "--version"}


def written(command: Command) -> Iterator[Field]:
    """The files that a command writes or removes, as far as its arguments say."""
    yield from (target.field for target in command.targets if target.writes)
    arguments = command.arguments
    if command.runs("tee", "sponge"):
        yield from options(arguments).operands
    elif command.runs(*_COPIERS):
        yield from options(arguments).operands[-1:]
    elif command.runs("sed", "perl") and options(arguments).has("-i", "--in-place"):
        yield from options(arguments).operands
    elif command.runs("dd"):
        yield from _of(arguments, "of=")
    else:
        yield from lost(command)


def lost(command: Command) -> Iterator[Field]:
    """The files whose content is gone afterwards."""
    yield from (target.field for target in command.targets if target.truncates)
    if command.runs(*_REMOVERS):
        yield from options(command.arguments, _SIZE).operands
    elif command.runs("mv"):
        yield from options(command.arguments, _TARGET).operands[:-1]
    elif command.runs("ln", "cp"):
        yield from options(command.arguments, _TARGET).operands[-1:]


def files(command: Command) -> Iterator[Field]:
    """The arguments, and what stands in them behind `@` and `=`, as in `curl -d @file` and `dd if=file`."""
    yield from (target.field for target in command.targets if target.operator in {"<", "<>"})
    for field in command.arguments:
        yield field
        for mark in "@=":
            _, found, rest = field.text.partition(mark)
            if found:
                yield msgspec.structs.replace(field, text=rest, pattern=None)


def asks_for_help(command: Command) -> bool:
    """Whether it only prints how it is used."""
    return any(field.text in _HELP for field in command.arguments)


def named(command: Command, *patterns: str) -> bool:
    """Whether the command is of one of these kinds, and does more than explain itself."""
    return any(each.names(command) for each in map(pattern, patterns)) and not asks_for_help(command)


def _of(arguments: tuple[Field, ...], mark: str) -> Iterator[Field]:
    for field in arguments:
        if field.text.startswith(mark):
            yield msgspec.structs.replace(field, text=field.text.removeprefix(mark), pattern=None)
