"""Events to deltas, and what they say about the end of the answer.

An answer that a filter stopped is shown as far as it came, with the filter's name; without any it is a rejection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw, UnsetType

from penguin_harness.contracts import BlockEnd, ModelDelta, Outcome
from penguin_harness.llm.failure import TransportError, malformed, of_event, read_loosely
from penguin_harness.llm.openai_responses.events import (
    DELTAS,
    Event,
    Response,
    decode,
    decode_item,
    decode_response,
    decode_usage,
    output_of,
    reason_of,
)
from penguin_harness.llm.openai_responses.item import OpenItem
from penguin_harness.llm.sse import Event as ServerEvent
from penguin_harness.omnimessage import TokenCounts

_UNFINISHED = frozenset({"queued", "in_progress"})
_NO_ITEM = Raw(b"{}")


class EventReader:
    """Reads the events of one answer: each becomes deltas, the rest is remembered for the outcome."""

    def __init__(self) -> None:
        self.complete = False
        self._ending: str | None = None
        """How the answer ended: its state, or why it is not whole."""
        self._open: dict[int | str, OpenItem] = {}
        """Items by their place in the output and by their id."""
        self._item: OpenItem | None = None
        self._begun = 0
        self._held = False
        """The open item's end waits until it is certain that the output limit did not cut it."""
        self._has_content = False
        self._counts: dict[str, int] = {}

    @property
    def terminal(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return self._ending is not None

    def read(self, events: Iterable[ServerEvent]) -> Iterator[ModelDelta]:
        """The deltas of these events. Raises TransportError for an error inside the stream, or one that is no JSON."""
        for name, data in events:
            if self.complete:
                return
            if name == "error":
                raise of_event(read_loosely(data))
            if data[:1] != b"{" and self._is_no_event(data):
                continue
            event = decode(data)
            voice = event.type or name
            kind = DELTAS.get(voice)
            if kind is None:
                yield from self._framed(event, voice, data)
            elif piece := event.delta:
                item = self._item
                index, label = event.output_index, event.item_id
                if item is None or item.index != index or item.label != label or item.kind != kind:
                    item = self._turn_to(kind, event)
                    yield from self._let_go(item)
                delta = item.say(piece, voice, event.content_index if kind == "message" else _part(event))
                if delta is not None:
                    self._has_content = self._has_content or kind != "reasoning"
                    yield delta

    def finish(self) -> Iterable[ModelDelta]:
        """Nothing is held back but an end, which the end of the request says too."""
        return ()

    def usage(self) -> TokenCounts | None:
        """What the request cost, as far as the provider said it; only zeros count as silence."""
        given, output = self._counts.get("input", 0), self._counts.get("output", 0)
        cached = min(self._counts.get("cached", 0), given)
        if not given and not output:
            return None
        return TokenCounts.of(cache_read=cached, cache_write=given - cached, output=output)

    def outcome(self) -> Outcome:
        """How an answer that has ended without a failure counts."""
        usage = self.usage()
        match self._ending:
            case None:
                return malformed("the answer ended without a terminal signal").outcome(usage)
            case "completed" if self._has_content:
                return Outcome("completed", usage=usage)
            case "completed":
                return malformed("empty response (status completed)").outcome(usage)
            case "content_filter" as reason if self._has_content:
                return Outcome("completed", None, f"the vendor stopped the answer ({reason})", usage)
            case "content_filter" as reason:
                return TransportError("fatal", "rejected", f"the vendor blocked the answer ({reason})").outcome(usage)
            case reason:
                text = f"the answer was cut by the output limit ({reason})"
                return Outcome("completed", "output_limit", text, usage)

    def _is_no_event(self, data: bytes) -> bool:
        """Some gateways close with a sentinel; whether the answer is whole, only its last event says."""
        data = data.strip()
        self.complete = data == b"[DONE]"
        return self.complete or not data

    def _framed(self, event: Event, kind: str, data: bytes) -> Iterator[ModelDelta]:
        """All but the deltas: items begin and end, the answer ends."""
        match kind:
            case "response.output_item.added":
                yield from self._begin(_item_of(event), event.output_index)
            case "response.output_item.done":
                yield from self._whole(_item_of(event), event.output_index)
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._end(decode_response(event.response), kind.removeprefix("response."))
            case "error":
                raise of_event(read_loosely(data))
            case _ if event.error:
                raise of_event(read_loosely(data))
            case _ if not isinstance(event.output, UnsetType):
                response = decode_response(Raw(data))
                yield from self._end(response, response.status or "completed")
            case _:
                return

    def _begin(self, raw: Raw, index: int | None) -> Iterator[ModelDelta]:
        item = decode_item(raw)
        yield from self._let_go(None)
        if item.type is not None:
            self._item = self._new(item.type, index, item.id)
            yield from self._produced(self._item, self._item.first(item, raw))

    def _whole(self, raw: Raw, index: int | None) -> Iterator[ModelDelta]:
        """The item is whole, or cut: which of both, the next item or the end of the answer will say."""
        item = decode_item(raw)
        if item.type is None:
            return
        known = self._known(item.type, index, item.id) or self._new(item.type, index, item.id)
        is_last = known is self._item
        yield from self._let_go(known)
        for delta in self._produced(known, known.last(item, raw)):
            is_last = True
            yield delta
        self._held = is_last and item.status != "incomplete"

    def _end(self, response: Response, status: str) -> Iterator[ModelDelta]:
        """The end of the answer; one of which nothing streamed is read here."""
        self._count(response)
        told = b"" if isinstance(response.error, UnsetType) else bytes(response.error)
        if status in ("failed", "cancelled") or told not in (b"", b"null"):
            raise of_event(read_loosely(told) if told else f"the provider gave no answer (status {status})")
        if status in _UNFINISHED:
            return
        for index, raw in enumerate(output_of(response) if self._item is None else ()):
            yield from self._whole(raw, index)
        self._ending = reason_of(response) or status
        self.complete = True
        if self._ending == "completed":
            yield from self._let_go(None)

    def _turn_to(self, kind: str, event: Event) -> OpenItem:
        """The item that a delta belongs to; a server that announces none has begun one."""
        index, label = event.output_index, event.item_id
        item = self._known(kind, index, label) or self._new(kind, index, label)
        item.label = label
        return item

    def _known(self, kind: str, index: int | None, label: str | None) -> OpenItem | None:
        """By id, else by place, else the one that is being said."""
        for key in (label, index):
            if key is not None and (found := self._open.get(key)) is not None and found.kind == kind:
                return found
        item = self._item
        return item if index is None and item is not None and item.kind == kind and not self._held else None

    def _new(self, kind: str, index: int | None, label: str | None) -> OpenItem:
        item = OpenItem(kind, self._begun, index, label)
        self._begun += 1
        for key in (label, index):
            if key is not None:
                self._open[key] = item
        return item

    def _let_go(self, item: OpenItem | None) -> Iterator[ModelDelta]:
        """Another item goes on, or the answer has ended well: what was held back is whole."""
        if self._held and item is not self._item:
            yield BlockEnd()
        self._held = False
        if item is not None:
            self._item = item

    def _produced(self, item: OpenItem, deltas: Iterable[ModelDelta]) -> Iterator[ModelDelta]:
        for delta in deltas:
            self._has_content = self._has_content or item.kind != "reasoning"
            yield delta

    def _count(self, response: Response) -> None:
        usage = decode_usage(response)
        details = usage.input_tokens_details
        cached = details.cached_tokens if details is not None else None
        counts = {"input": usage.input_tokens, "output": usage.output_tokens, "cached": cached}
        self._counts |= {name: count for name, count in counts.items() if count is not None}


def _part(event: Event) -> int | None:
    return event.content_index if event.summary_index is None else event.summary_index


def _item_of(event: Event) -> Raw:
    return _NO_ITEM if isinstance(event.item, UnsetType) else event.item
