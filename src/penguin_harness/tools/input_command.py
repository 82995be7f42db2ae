"""The tool `input_command`."""

from __future__ import annotations

import signal
from typing import Annotated, Literal

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.command import Command
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.ending import closing_note
from penguin_harness.tools.exec_command import LONGEST_WINDOW_MS
from penguin_harness.tools.tool import ToolResult, tool

POLL_MS = 10_000
ANSWER_MS = 1_000
WRITE_LIMIT = 5.0
"""Seconds for a command to take what is written to it."""


@tool(timeout=LONGEST_WINDOW_MS / 1000 + 30)
async def input_command(
    context: ToolContext,
    process_id: Annotated[str, Meta(description="As exec_command named it.")],
    action: Annotated[
        Literal["poll", "write", "end_input", "interrupt", "terminate"],
        Meta(description="See what is new, write `text` to its input, close that, send Ctrl-C, or end it."),
    ] = "poll",
    text: Annotated[str, Meta(description="For `write`: with the newline that enters it.")] = "",
    yield_time_ms: Annotated[
        Annotated[int, Meta(ge=0, le=LONGEST_WINDOW_MS)] | None,
        Meta(description=f"Milliseconds to wait for its end; {POLL_MS} for `poll`, else {ANSWER_MS} unless given."),
    ] = None,
) -> ToolResult:
    """Go on with a command in the background: what it has printed since the last look is returned, once."""
    command = context.processes.find(process_id)
    if text and action != "write":
        raise ToolFailed(f"A text goes with the action `write`, not `{action}`.")
    note = await _act(command, action, text)
    default = POLL_MS if action == "poll" else ANSWER_MS
    await command.follow(context.write, (default if yield_time_ms is None else yield_time_ms) / 1000)
    return ToolResult(note="\n".join(filter(None, (note, closing_note(command, is_new=False)))))


async def _act(command: Command, action: str, text: str) -> str | None:
    match action:
        case "write":
            return await _write(command, text)
        case "end_input":
            command.end_input()
        case "interrupt":
            command.tree.signal(signal.SIGINT)
        case "terminate":
            await command.end()
        case _:
            pass
    return None


async def _write(command: Command, text: str) -> str | None:
    if not command.line.has_input:
        raise ToolFailed("Its input is empty, nothing can be written to it: start it again with stdin=true.")
    size = len(text.encode())
    try:
        written = await command.send(text, WRITE_LIMIT)
    except BrokenPipeError:
        return "[nothing was written: it does not read its input any more]"
    return f"[only {written} of {size} bytes were written: it reads no more now]" if written < size else None
