"""A rule of the command policy, and a command as rules name it."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

from penguin_harness.errors import ConfigError
from penguin_harness.policy.book import Decision
from penguin_harness.policy.shell.command import Command, Field, Target
from penguin_harness.policy.shell.options import options
from penguin_harness.policy.shell.parser import parse
from penguin_harness.policy.shell.syntax import Assignment, Simple, Text, Unreadable, Word
from penguin_harness.policy.shell.walk import find_commands

_VALUED = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"}),
    "docker": frozenset({"-H", "--host", "-c", "--context", "--config", "-l", "--log-level"}),
    "podman": frozenset({"-c", "--connection", "--url", "--log-level", "--root"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--kubeconfig", "-s", "--server", "--user", "--cluster"}),
    "gh": frozenset({"-R", "--repo", "--hostname"}),
    "aws": frozenset({"--profile", "--region", "--endpoint-url", "--output"}),
    "crontab": frozenset({"-u"}),
    "systemctl": frozenset({"-H", "--host", "-M", "--machine", "-t", "--type", "-p", "--property"}),
}
"""Flags that take the next argument, of programs whose flags come before what they do."""


class Rule(Struct, frozen=True):
    """What a rule says about one simple command."""

    name: str
    decision: Decision
    reason: str
    applies: Callable[[Command], bool]


class Pattern(Struct, frozen=True):
    """A command as a person writes it in a rule: `git push --force`, with wildcards in words."""

    text: str
    fields: tuple[Field, ...]

    def names(self, command: Command) -> bool:
        """Whether the command is of this kind: its program, at least its flags, and its operands to begin with."""
        if not command.fields or not _is_program(self.fields[0], command.fields[0]):
            return False
        valued = _VALUED.get(command.fields[0].name, frozenset())
        wanted, given = options(self.fields[1:], valued), options(command.arguments, valued)
        if len(wanted.operands) > len(given.operands) or not all(map(given.has, wanted.flags)):
            return False
        return all(map(_is_like, wanted.operands, given.operands))

    def begins(self, command: Command) -> bool:
        """Whether the command begins with exactly these words, and does nothing besides."""
        if len(command.fields) < len(self.fields) or command.assigned or not all(map(_is_harmless, command.targets)):
            return False
        return all(map(_is_exactly, self.fields, command.fields))


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """Read a pattern. Raises ConfigError for what is not one plain command."""
    try:
        items = parse(text).items
        commands = find_commands(text, environment={"HOME": "~"})
    except Unreadable as error:
        raise ConfigError(f"the pattern {text!r} cannot be read: {error}") from None
    match [stage for item in items for pipeline in item.pipelines for stage in pipeline.stages]:
        case [Simple(assignments=(), words=words, redirects=())] if all(map(_is_written_out, words)):
            return Pattern(text, commands[0].fields)
        case _:
            raise ConfigError(f"the pattern {text!r} is not one plain command, as `git push --force` is")


def _is_written_out(word: Word | Assignment) -> bool:
    return isinstance(word, Word) and all(isinstance(piece, Text) for piece in word.pieces)


def _is_program(wanted: Field, given: Field) -> bool:
    if wanted.pattern is not None:
        return given.known and fnmatchcase(given.name, wanted.pattern)
    return given.text == wanted.text if "/" in wanted.text else given.may_name(wanted.text)


def _is_like(wanted: Field, given: Field) -> bool:
    if not given.known:
        return wanted.pattern == "*"
    if wanted.pattern is not None:
        return fnmatchcase(given.text, wanted.pattern)
    return fnmatchcase(wanted.text, given.pattern) if given.pattern is not None else given.text == wanted.text


def _is_exactly(wanted: Field, given: Field) -> bool:
    return given.is_plain and _is_like(wanted, given)


def _is_harmless(target: Target) -> bool:
    return not target.writes or target.field.text == "/dev/null"
