"""Server-sent events out of network chunks: incremental, on bytes, the same whatever the chunking."""

from __future__ import annotations

from typing import TypeAlias

Event: TypeAlias = tuple[str, bytes]
"""An event's name, "" where the server gives none, and its data."""

_BOM = b"\xef\xbb\xbf"
_DATA = b"data: "
_NEXT_DATA = b"\n\ndata: "


class SseReader:
    """Collects whole events. Only LF, CR and CRLF end a line; a character cut by a chunk's border stays whole."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # pieces of the line that is not whole yet
        self._data: list[bytes] = []  # lines of the event that is not whole yet
        self._name = ""
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes."""
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_line_feeds(chunk)
        if b"\n" not in chunk:
            if chunk:
                self._line.append(chunk)
            return []
        return self._read(self._whole_lines(chunk))

    def finish(self) -> list[Event]:
        """What a stream that ended without its last blank line still holds."""
        return self._read(self._whole_lines(b"\n\n"))

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if chunk.endswith(b"\r"):
            self._after_cr = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _whole_lines(self, chunk: bytes) -> bytes:
        if self._line:
            chunk = b"".join((*self._line, chunk))
            self._line.clear()
        if self._at_start:
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        return chunk

    def _read(self, text: bytes) -> list[Event]:
        events: list[Event] = []
        if self._data or self._name or not text.startswith(_DATA):
            self._take_lines(text, events)
            return events
        # Nearly all events are one line of data, and many arrive in one chunk: they are cut apart in one go.
        *values, last = text[len(_DATA) :].split(_NEXT_DATA)
        if text.count(b"\n", 0, len(text) - len(last)) == 2 * len(values):
            events += [("", value) for value in values]
        else:
            for value in values:
                self._take_lines(_DATA + value + b"\n\n", events)
        self._take_lines(_DATA + last, events)
        return events

    def _take_lines(self, text: bytes, events: list[Event]) -> None:
        lines = text.split(b"\n")
        if unfinished := lines.pop():
            self._line.append(unfinished)
        for line in lines:
            if not line:
                self._end_event(events)
                continue
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
            elif field == b"event":
                self._name = value.removeprefix(b" ").decode(errors="replace")
            # Comments are signs of life; `id` and `retry` are for reconnecting, which a model's answer cannot.

    def _end_event(self, events: list[Event]) -> None:
        if self._data:
            events.append((self._name, b"\n".join(self._data)))
            self._data.clear()
        self._name = ""


class WholeBody:
    """The same reading for an endpoint that ignores `stream` and answers in one JSON document."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """Nothing yet: the document is not whole."""
        self._chunks.append(chunk)
        return []

    def finish(self) -> list[Event]:
        """The document as one event."""
        return [("", b"".join(self._chunks))]
