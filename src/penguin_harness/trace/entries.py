"""The lines of a tail journal: cut off an open segment as it grows, and put together again after a death."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import Half, Place
from penguin_harness.omnimessage import (
    PartialPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)

MODEL = ""
"""The producer that is no tool call: segments of one model never overlap."""

_TEXT_OF = {
    PartialText: attrgetter("text"),
    PartialThinking: attrgetter("thinking"),
    PartialToolCall: attrgetter("arguments"),
    PartialToolCallOutput: attrgetter("output"),
}


class Entry(Struct, frozen=True):
    """One line: where a segment stands, what kind it is, and more of its text."""

    place: Place
    start: PartialPayload
    at: int
    """Characters of the segment that came before: where one of its entries is missing, the later ones do not count."""
    text: str


class OpenSegment:
    """A segment in the making: what is not on disk yet, and how much is."""

    def __init__(self, start: PartialPayload) -> None:
        self.fragments: list[PartialPayload] = []
        self._start = start
        self._text_of = _TEXT_OF[type(start)]
        self._at = 0
        self._told = not isinstance(start, PartialToolCall)  # its name is shown before any of its arguments

    def take(self, place: Place) -> Entry | None:
        """The next entry, if there is anything new."""
        text = "".join(map(self._text_of, self.fragments))
        if not text and self._told:
            return None
        entry = Entry(_place_of(self._start, place), self._start, self._at, text)
        self.fragments.clear()
        self._told = True
        self._at += len(text)
        return entry


class _Found:
    """A segment on its way back."""

    def __init__(self, start: PartialPayload) -> None:
        self.start = start
        self.length = 0
        self._pieces: list[str] = []

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)

    def half(self) -> Half:
        text = "".join(self._pieces)
        match self.start:
            case PartialText():
                return Text("assistant", text, stop_reason="aborted")
            case PartialThinking():
                return Thinking("assistant", text, stop_reason="aborted")
            case PartialToolCall(name=name, tool_call_id=call):
                return ToolCall("assistant", name, text, call, stop_reason="aborted")
            case PartialToolCallOutput(tool_call_id=call):
                return ToolCallOutput("user", text, call, stop_reason="aborted")


def producer_of(fragment: PartialPayload) -> str:
    """Whose segment it belongs to: the call's, or the model's."""
    return fragment.tool_call_id if isinstance(fragment, PartialToolCallOutput) else MODEL


def read_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """The entries of a journal; what is no entry is passed over, a torn end among it."""
    for line in lines:
        try:
            yield _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue


def halves_at(place: Place, entries: Iterable[Entry]) -> list[Half]:
    """The interrupted messages: the segment that is open exactly there, and the request's outputs."""
    found: dict[str, _Found] = {}
    for entry in entries:
        if entry.place == _place_of(entry.start, place):
            producer = producer_of(entry.start)
            if entry.at == 0:
                found[producer] = _Found(entry.start)
            segment = found.get(producer)
            if segment is not None and (segment.start, segment.length) == (entry.start, entry.at):
                segment.add(entry.text)
    return [segment.half() for segment in found.values()]


def _place_of(start: PartialPayload, place: Place) -> Place:
    """An output belongs to its call, whatever the model says meanwhile."""
    return replace(place, content=0) if isinstance(start, PartialToolCallOutput) else place


_DECODER = msgspec.json.Decoder(Entry)
