"""The tail journal: what was shown of segments that are not complete yet, in a side file of the session.

A net for the death of the process, no part of the Trace. It is appended to while segments are open and removed when
none is; a segment that is complete within the flush interval never touches the disk.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from penguin_harness.contracts import Half, Place
from penguin_harness.errors import TraceError
from penguin_harness.omnimessage import (
    CompletePayload,
    EventPayload,
    PartialPayload,
    PartialToolCallOutput,
    SessionMeta,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from penguin_harness.trace.entries import MODEL, OpenSegment, halves_at, producer_of, read_entries
from penguin_harness.trace.reader import read_lines

FLUSH_AFTER = 0.1
"""Seconds that something may be shown and not be on disk."""


class TailJournal:
    """Implements the contract `Tail` in the file at `path`; `place` says how far the Trace goes now."""

    def __init__(self, path: Path, place: Callable[[], Place]) -> None:
        self.path = path
        self.error: Exception | None = None
        """Why the file could not be written or read the last time. The run goes on: it has only lost its net."""
        self._place = place
        self._exists = path.exists()
        self._file = -1
        self._shown: list[PartialPayload] = []
        self._open: dict[str, OpenSegment] = {}
        self._timer: asyncio.TimerHandle | None = None

    def note(self, fragment: PartialPayload) -> None:
        """A fragment was shown: it is on disk in a moment, unless its segment is complete before."""
        self._shown.append(fragment)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_AFTER, self.flush)

    def recorded(self, payload: CompletePayload | EventPayload | SessionMeta) -> None:
        """A record is on disk; with the last open segment the file goes."""
        match payload:
            case ToolCallOutput(tool_call_id=call):
                producer = call
            case Text() | Thinking() | ToolCall():
                producer = MODEL
            case _:
                return
        if producer == MODEL and not self._open and not any(type(f) is PartialToolCallOutput for f in self._shown):
            self._shown.clear()  # the usual case: one segment, complete before anything was written
            return
        self._sort()
        if self._open.pop(producer, None) is not None and not self._open:
            self.clear()

    def flush(self) -> None:
        """Write down what was shown since the last time."""
        self._stop_timer()
        self._sort()
        if self._open:
            place = self._place()
            entries = [entry for segment in self._open.values() if (entry := segment.take(place))]
            self._append(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))

    def halves(self) -> Sequence[Half]:
        """What is known of the segment that is open exactly where the Trace ends, and of the request's outputs."""
        self.flush()
        if not self._exists:
            return ()
        try:
            return halves_at(self._place(), read_entries(read_lines(self.path)))
        except TraceError as error:  # a resume without its net is still a resume
            self.error = error
            return ()

    def clear(self) -> None:
        """Forget everything: it is on disk, or nobody's any more."""
        self._stop_timer()
        self._shown.clear()
        self._open.clear()
        self._close_file()
        if self._exists:
            self._exists = False
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:  # left over it does no harm: an entry counts at its own place only
                self.error = error

    def close(self) -> None:
        """Give the file back. It stays only if it holds a segment whose end could not be recorded."""
        self.flush()
        self._close_file()

    def _sort(self) -> None:
        """Give what was shown to its segments."""
        segments = self._open
        for fragment in self._shown:
            producer = producer_of(fragment)
            if fragment.event_type == "start":
                segments[producer] = OpenSegment(fragment)
            elif producer in segments:
                segments[producer].fragments.append(fragment)
        self._shown.clear()

    def _append(self, lines: bytes) -> None:
        if not lines:
            return
        try:
            if self._file < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
                self._file = os.open(self.path, flags, 0o644)
                self._exists = True
            if os.write(self._file, lines) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:  # the segment's later entries do not count, what is there of it stands
            self.error = error

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _close_file(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
