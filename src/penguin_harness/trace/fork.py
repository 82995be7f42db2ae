"""A session's Trace under another id, byte for byte up to a committed turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from penguin_harness.errors import SessionError, TraceError
from penguin_harness.omnimessage import (
    CompactionBegin,
    CompactionEnd,
    DecodeError,
    OmniMessage,
    RequestBegin,
    RequestEnd,
    SessionMetaMessage,
    ToolCall,
    ToolCallOutput,
    decode,
    encode,
)
from penguin_harness.trace.files import SessionFiles, context_file, new_session_id
from penguin_harness.trace.reader import read_lines


def fork_files(traces: Path, files: SessionFiles, at: int | None) -> str:
    """Write the files of a new session and return its id.

    `at` counts the committed turns of the newest context from 1; None takes all. Raises SessionError when there is no
    such turn.
    """
    lines = list(read_lines(files.newest))
    ends = list(_turn_ends(lines))
    turn = len(ends) if at is None else at
    if not 1 <= turn <= len(ends):
        there = f"it has the turns 1 to {len(ends)}" if ends else "it has none"
        raise SessionError(f"cannot fork {files.session_id} at turn {turn} of its newest context: {there}")
    forked = new_session_id()
    for number, path in enumerate(files.paths, 1):
        kept = lines[: ends[turn - 1]] if path == files.newest else list(read_lines(path))
        _write(context_file(traces, forked, number), forked, kept)
    return forked


def _turn_ends(lines: list[bytes]) -> Iterator[int]:
    """How many lines hold each committed turn with everything before it and all its outputs."""
    unanswered: set[str] = set()
    compacting = committed = False
    for number, line in enumerate(lines, 1):
        message = _read(line)
        match message.payload if message is not None else None:
            case CompactionBegin():
                compacting = True
            case CompactionEnd():
                compacting = False
            case RequestBegin():
                unanswered = set()
            case ToolCall(tool_call_id=call):
                unanswered.add(call)
            case ToolCallOutput(tool_call_id=call):
                unanswered.discard(call)
            case RequestEnd(status="completed") if not compacting:
                committed = True
            case _:
                continue
        if committed and not unanswered:
            committed = False
            yield number


def _read(line: bytes) -> OmniMessage | None:
    try:
        return decode(line)
    except DecodeError:  # a line that nobody can read belongs to no turn
        return None


def _write(path: Path, session_id: str, lines: list[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(_renamed(line, session_id) + b"\n" for line in lines))
    except OSError as error:
        raise TraceError(f"cannot write the Trace {path}: {error.strerror or error}") from None


def _renamed(line: bytes, session_id: str) -> bytes:
    message = _read(line)
    if not isinstance(message, SessionMetaMessage):
        return line
    return encode(replace(message, payload=replace(message.payload, session_id=session_id)))
