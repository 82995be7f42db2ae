"""A tool call's arguments for people: on one line, and in full."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from penguin_harness.cli.diff import change_lines, diff_lines
from penguin_harness.cli.terminal.neutral import neutral, one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import ToolCall

_LEADING = ("command", "path", "prompt", "query", "url", "pattern", "name")
"""Arguments that say most by themselves, the best first."""
_WRITTEN = re.compile(rf'"({"|".join(_LEADING)})"\s*:\s*("(?:[^"\\]|\\.)*"?)')
_LONGEST_VALUE = 200
_LAST_VALUE = re.compile(r'"(?:content|new_text|command)"\s*:\s*"((?:[^"\\]|\\.)*)\Z', re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def summary(arguments: str) -> str:
    """The arguments on one line, also while they are still being written."""
    members = decoded(arguments)
    if members is None:
        return _of_fragment(arguments)
    leading = next((name for name in _LEADING if isinstance(members.get(name), str)), None)
    if leading is None:
        return " ".join(f"{one_line(name)}={_brief(value)}" for name, value in members.items())
    return one_line(members[leading][: 2 * _LONGEST_VALUE])


def being_written(arguments: str) -> list[str]:
    """The lines so far of a long text that is still being written."""
    found = _LAST_VALUE.search(arguments)
    if found is None:
        return []
    try:
        text = json.loads(f'"{_HALF_ESCAPE.sub("", found[1])}"', strict=False)
    except ValueError:
        return []
    return neutral(text).split("\n") if "\n" in text else []


def decoded(arguments: str) -> Mapping[str, Any] | None:
    """The arguments as an object; None when they are none."""
    try:
        return msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return None


def proposal(call: ToolCall) -> list[Line]:
    """What the call would do, as a person must see it before allowing it."""
    members = decoded(call.arguments) or {}
    match members:
        case {"command": str(command)}:
            return [[Span("$ ", "dim"), Span(row, "bold")] for row in neutral(command).split("\n")]
        case {"path": str(path), "old_text": str(old), "new_text": str(new)}:
            return [[Span(one_line(path), "bold")], *change_lines(old, new)]
        case {"path": str(path), "content": str(content)}:
            added = [f"+{row}" for row in content.removesuffix("\n").split("\n")]
            return [[Span(one_line(path), "bold")], *diff_lines("\n".join(added))]
        case _:
            return full(call)


def full(call: ToolCall) -> list[Line]:
    """Everything, laid out."""
    members = decoded(call.arguments)
    text = call.arguments if members is None else json.dumps(members, indent=2, ensure_ascii=False)
    return [[Span(row)] for row in neutral(text).split("\n")]


def _of_fragment(arguments: str) -> str:
    found = _WRITTEN.search(arguments)
    if found is None:
        return one_line(arguments[:_LONGEST_VALUE])
    value = found[2] if found[2].endswith('"') and len(found[2]) > 1 else f'{found[2].rstrip(chr(92))}"'
    try:
        return one_line(json.loads(value))
    except ValueError:
        return one_line(value)


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text[:_LONGEST_VALUE])
