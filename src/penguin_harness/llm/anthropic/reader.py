"""Events to deltas, and what they say about the end of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw, UnsetType

from penguin_harness.contracts import BlockEnd, CallDelta, ModelDelta, Outcome, TextDelta, ThinkingDelta
from penguin_harness.llm.anthropic.block import OpenBlock
from penguin_harness.llm.anthropic.events import Delta, Event, Usage, decode, decode_blocks
from penguin_harness.llm.failure import malformed, of_event, read_loosely
from penguin_harness.llm.sse import Event as ServerEvent
from penguin_harness.omnimessage import TokenCounts

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})


class EventReader:
    """Reads the events of one answer: each becomes deltas, the rest is remembered for the outcome."""

    def __init__(self) -> None:
        self.stop_reason: str | None = None
        self.complete = False
        """The sentinel came."""
        self._open: OpenBlock | None = None
        self._has_content = False
        self._counts: dict[str, int] = {}

    @property
    def terminal(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return self.complete or self.stop_reason is not None

    def read(self, events: Iterable[ServerEvent]) -> Iterator[ModelDelta]:
        """The deltas of these events. Raises TransportError for an error inside the stream, or one that is no JSON."""
        for name, data in events:
            if self.complete or not data or data == b"[DONE]":
                continue
            event = decode(data)
            if event.type == "content_block_delta":
                delta = None if event.delta is None else self._added(event.delta, event.index)
                if delta is not None:
                    self._has_content = True
                    yield delta
            else:
                yield from self._framed(event, event.type or name, data)

    def finish(self) -> Iterable[ModelDelta]:
        """Nothing is held back."""
        return ()

    def usage(self) -> TokenCounts | None:
        """What the request cost, as far as the provider said it; only zeros count as silence."""
        counts = self._counts
        read, output = counts.get("cache_read_input_tokens", 0), counts.get("output_tokens", 0)
        written = counts.get("input_tokens", 0) + counts.get("cache_creation_input_tokens", 0)
        if not (read or written or output):
            return None
        return TokenCounts.of(cache_read=read, cache_write=written, output=output)

    def outcome(self) -> Outcome:
        """How an answer that has ended without a failure counts."""
        usage = self.usage()
        if not self.terminal:
            return malformed("the answer ended without a terminal signal").outcome(usage)
        if self.stop_reason == "refusal":
            return Outcome("fatal", "rejected", "the model's safety system stopped the answer (refusal)", usage)
        if self.stop_reason in _CUT:
            text = f"the answer was cut by the output limit ({self.stop_reason})"
            return Outcome("completed", "output_limit", text, usage)
        if not self._has_content:
            return malformed(f"empty response (stop_reason {self.stop_reason})").outcome(usage)
        return Outcome("completed", usage=usage)

    def _added(self, delta: Delta, index: int) -> ModelDelta | None:
        if delta.text:
            return TextDelta(delta.text, index)
        if delta.partial_json:
            if self._open is not None:
                self._open.streamed = True
            return CallDelta(index, delta.partial_json)
        if delta.thinking:
            return ThinkingDelta(delta.thinking, index)
        if isinstance(delta.signature, Raw) and self._open is not None:
            self._open.sign(delta.signature)
        return None

    def _framed(self, event: Event, kind: str, data: bytes) -> Iterator[ModelDelta]:
        """All but the deltas: blocks begin and end, counts and the reason of the end come."""
        match kind:
            case "content_block_start":
                yield from self._begin(event.index, event.content_block)
            case "content_block_stop":
                yield from self._whole(event.index)
            case "message" if isinstance(event.content, Raw):
                yield from self._message(event.content)
            case "error":
                raise of_event(read_loosely(data))
            case _ if event.error:
                raise of_event(read_loosely(data))
            case _:
                pass
        for usage in (event.message and event.message.usage, event.usage):
            self._count(usage or Usage())
        reason = event.stop_reason or (event.delta and event.delta.stop_reason)
        if reason and self.stop_reason is None:
            self.stop_reason = reason
            if reason not in _CUT and self._open is not None and self._open.whole:
                yield BlockEnd()
        self.complete = kind in ("message_stop", "message")

    def _message(self, content: Raw) -> Iterator[ModelDelta]:
        """A whole answer, of an endpoint that does not stream."""
        for index, raw in enumerate(decode_blocks(content)):
            yield from self._begin(index, raw)
            yield from self._whole(index)

    def _begin(self, index: int, raw: Raw | UnsetType) -> Iterator[ModelDelta]:
        if self._open is not None and self._open.whole:
            yield BlockEnd()
        self._open = OpenBlock(index, raw)
        yield from self._produced(self._open.first())

    def _whole(self, index: int) -> Iterator[ModelDelta]:
        """The block is whole, or cut: which of both, the stop reason or the next block will say."""
        if self._open is not None and self._open.index == index:
            self._open.whole = True
            yield from self._produced(self._open.last())

    def _produced(self, deltas: Iterable[ModelDelta]) -> Iterator[ModelDelta]:
        for delta in deltas:
            self._has_content = True
            yield delta

    def _count(self, usage: Usage) -> None:
        for name in usage.__struct_fields__:
            if (count := getattr(usage, name)) is not None:
                self._counts[name] = count
