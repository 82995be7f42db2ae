"""Tool calls that run a command, held against the rules."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from penguin_harness.contracts import Policy
from penguin_harness.omnimessage import ToolCall, clean
from penguin_harness.omnimessage.unicode import clean_json
from penguin_harness.policy.book import Judgement, RuleBook

_SHELL_TOOL = "exec_command"
_COMMANDS = ("command", "cmd", "commands", "command_line", "shell_command", "script")
"""Arguments that hold a shell line, in our tools and in those of others."""
_INPUT_TOOL, _INPUT = "input_command", "text"
"""What a shell in the background may read as its lines."""
_FOLDERS = ("workdir", "cwd", "working_directory")


class Line(Struct, frozen=True):
    """A shell line in a call."""

    text: str
    folder: str | None = None
    is_bash: bool = True
    """False when it may be something else, so that it is no fault when it cannot be read."""


def command_policy(
    book: RuleBook, *, environment: Mapping[str, str] | None = None, workspace: str | None = None
) -> Policy:
    """The policy of a session whose commands have these variables, by default our own, in this workspace."""
    variables = os.environ if environment is None else environment

    def forbids(call: ToolCall) -> str | None:
        judgements = _judgements(call, book, variables, workspace)
        return next((judgement.reason for judgement in judgements if judgement.reason is not None), None)

    return forbids


def command_allowance(
    book: RuleBook, *, environment: Mapping[str, str] | None = None, workspace: str | None = None
) -> Callable[[ToolCall], bool]:
    """Whether the project's own rules allow every part of a command, so that nobody need be asked."""
    variables = os.environ if environment is None else environment

    def allows(call: ToolCall) -> bool:
        if call.name != _SHELL_TOOL:
            return False
        judgements = list(_judgements(call, book, variables, workspace))
        return bool(judgements) and all(judgement.decision == "allow" for judgement in judgements)

    return allows


def _judgements(
    call: ToolCall, book: RuleBook, environment: Mapping[str, str], workspace: str | None
) -> Iterator[Judgement]:
    for line in lines_of(call):
        judgement = book.judge(
            line.text, environment=environment, folder=_folder(line, environment, workspace), workspace=workspace
        )
        if not judgement.unreadable or line.is_bash:
            yield judgement


def lines_of(call: ToolCall) -> Iterator[Line]:
    """The shell lines of a call; its other arguments are none of the policy's business."""
    arguments = _arguments(call)
    folder = next((arguments[name] for name in _FOLDERS if isinstance(arguments.get(name), str)), None)
    for name in _COMMANDS:
        for text in _texts(arguments.get(name), arguments.get("args"), are_lines=name == "commands"):
            yield Line(text, folder, call.name == _SHELL_TOOL)
    if call.name == _INPUT_TOOL:
        for text in _texts(arguments.get(_INPUT), None, are_lines=False):
            yield Line(text, is_bash=False)


def _folder(line: Line, environment: Mapping[str, str], workspace: str | None) -> str | None:
    folder = line.folder
    if folder is None:
        return workspace
    if folder == "~" or folder.startswith("~/"):
        folder = environment.get("HOME", "~") + folder[1:]
    return folder if workspace is None else posixpath.join(workspace, folder)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Decoded as the tool decodes them; arguments that are no object never reach a tool."""
    try:
        return msgspec.json.decode(clean_json(clean(call.arguments).encode()) or b"{}", type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {}


def _texts(value: object, arguments: object, *, are_lines: bool) -> Iterator[str]:
    """The lines in an argument: a text, perhaps with its words apart, or a list."""
    if isinstance(value, str):
        yield " ".join([value, *map(shlex.quote, _words(arguments))])
    elif words := _words(value):
        if are_lines:
            yield from words
        else:
            yield shlex.join(words)


def _words(value: object) -> list[str]:
    return [word for word in cast("list[object]", value) if isinstance(word, str)] if isinstance(value, list) else []
