"""Server-sent events out of network chunks: incremental, on bytes, the same whatever the chunking."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

Event: TypeAlias = tuple[str, bytes]
"""An event's name, "" where the server gives none, and its data."""

_BOM = b"\xef\xbb\xbf"
_EVENT = b"event: "
_DATA = b"data: "


class SseReader:
    """Collects whole events. Only LF, CR and CRLF end a line; a character cut by a chunk's border stays whole."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # pieces of the line that is not whole yet
        self._lines: list[bytes] = []  # of the event that is not whole yet
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if chunk.endswith(b"\r"):
            self._after_cr = True
        border = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        events = self._read(chunk[:border]) if border else []
        if border < len(chunk):
            self._line.append(chunk[border:])
        return events

    def finish(self) -> list[Event]:
        """What a stream that ended without its last blank line still holds."""
        return self._read(b"\n\n")

    def _read(self, text: bytes) -> list[Event]:
        """The events that these whole lines complete."""
        if self._line:
            text = b"".join((*self._line, text))
            self._line.clear()
        if self._at_start:
            self._at_start = False
            text = text.removeprefix(_BOM)
        lines = self._lines + text.splitlines()
        end = len(lines)
        while end and lines[end - 1]:
            end -= 1
        self._lines = lines[end:]
        return _events(lines[:end])


def _events(lines: list[bytes]) -> list[Event]:
    """Nearly all are one line of data, or that below a name, and many arrive together: those are read in one go."""
    named = bool(lines) and lines[0].startswith(_EVENT)
    size = 3 if named else 2
    data = [line[6:] for line in lines[size - 2 :: size] if line[:6] == _DATA]
    names = [*map(_name, lines[::3])] if named else [""] * len(data)
    if len(lines) != len(data) * size or any(lines[size - 1 :: size]) or (named and not all(names)):
        return [*_events_by_line(lines)]
    return [*zip(names, data, strict=True)]


def _events_by_line(lines: list[bytes]) -> Iterator[Event]:
    name, data = "", list[bytes]()
    for line in lines:
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ").decode(errors="replace")
        elif not line:
            if data:
                yield name, b"\n".join(data)
            name, data = "", []
        # Comments are signs of life; `id` and `retry` are for reconnecting, which a model's answer cannot.


@lru_cache(64)
def _name(line: bytes) -> str:
    """The name in a line that gives one, as nearly all do."""
    return line[len(_EVENT) :].decode(errors="replace") if line.startswith(_EVENT) else ""


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
