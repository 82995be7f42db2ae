"""xargs and find: the commands that they make of what they read and find."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import options
from penguin_harness.policy.shell.wrappers import Wrapper, behind, flags_of, short_and_long

_XARGS = Wrapper(
    short_and_long("adEIJLnPRs", "arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars")
)
_FIND_ROOT_FLAGS = re.compile(r"-[HLP]+|-O\d|-D")
_FIND_TAME = re.compile(
    r"-(?:depth|d|mindepth|maxdepth|xdev|mount|type|print0?|ls|delete|exec(?:dir)?|ok(?:dir)?|noleaf)"
)
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


def fed_by_xargs(command: Command, given: str | None, feeders: tuple[Command, ...]) -> Iterator[tuple[Field, ...]]:
    """The commands that xargs runs with what it reads."""
    inner = behind(command.arguments, _XARGS) or (Field("echo"),)
    flags = options(flags_of(command, _XARGS), _XARGS.valued)
    mark = next((flags.values[name].text for name in ("-I", "-J", "--replace") if name in flags.values), None)
    if mark is None and flags.has("-i", "--replace"):
        mark = "{}"
    unread = Field("…", known=False, made_by=feeders)
    if mark is None:
        yield (*inner, *(map(Field, given.replace("\0", "\n").split()) if given is not None else (unread,)))
        return
    for line in [Field(line) for line in given.splitlines()] if given is not None else [unread]:
        yield tuple(_put(field, mark, line) for field in inner)


def found_by_find(command: Command) -> Iterator[tuple[Field, ...]]:
    """The commands that find runs; for what it finds stand its folders, when it leaves nothing out."""
    arguments = list(command.arguments)
    roots = found_roots(command)
    at = 0
    while at < len(arguments):
        if arguments[at].text not in _FIND_RUNS:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(arguments)) if arguments[n].text in {";", "+"}), len(arguments))
        for root in roots or (Field("{}", known=False),):
            yield tuple(_put(field, "{}", root) for field in arguments[at + 1 : end])
        at = end + 1


def found_roots(command: Command) -> tuple[Field, ...]:
    """The folders that find goes through as a whole: none when a test leaves something out."""
    arguments = [field for field in command.arguments if not _FIND_ROOT_FLAGS.fullmatch(field.text)]
    first = next((at for at, field in enumerate(arguments) if field.text[:1] in {"-", "(", "!"}), len(arguments))
    tests = arguments[first:]
    inside = False
    for field in tests:
        if inside:
            inside = field.text not in {";", "+"}
        elif field.text in _FIND_RUNS:
            inside = True
        elif field.text.startswith(("-", "!")) and not _FIND_TAME.fullmatch(field.text):
            return ()
    return tuple(arguments[:first]) or (Field("."),)


def _put(field: Field, mark: str, value: Field) -> Field:
    if mark not in field.text:
        return field
    text = field.text.replace(mark, value.text)
    return Field(text, field.known and value.known, value.pattern if field.text == mark else None, value.made_by)
