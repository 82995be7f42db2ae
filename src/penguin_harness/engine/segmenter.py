"""The streaming discipline, enforced for every adapter: deltas in, whole segments out.

Segments of one model never overlap: the first open one streams, what belongs to later ones waits behind it. Tool calls
are assembled by index; a fragment that fits no call makes the stream malformed, it is never attached to another call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from msgspec import UNSET, Raw, UnsetType

from penguin_harness.contracts import BlockDelta, BlockEnd, CallDelta, ModelDelta, TextDelta, ThinkingDelta
from penguin_harness.engine.call_ids import CallIds
from penguin_harness.engine.segments import (
    CallSegment,
    MalformedStream,
    Segment,
    Stream,
    TextSegment,
    ThinkingSegment,
    WholeSegment,
)
from penguin_harness.omnimessage import AssistantContent, StopReason


class Segmenter:
    """Frames one model stream: `stream` takes the fragments, `complete` the complete payloads, in their order."""

    def __init__(
        self, stream: Stream, complete: Callable[[AssistantContent], None], used_ids: AbstractSet[str]
    ) -> None:
        self._stream = stream
        self._complete = complete
        self._ids = CallIds(used_ids)
        self._segments: deque[Segment] = deque()
        self._calls: dict[int, CallSegment] = {}
        self._touched: Segment | None = None

    def push(self, delta: ModelDelta) -> None:
        """Take the next delta. Raises MalformedStream for a fragment that fits no call."""
        match delta:
            case TextDelta():
                self._prose(TextSegment, delta.text, delta)
            case ThinkingDelta():
                self._prose(ThinkingSegment, delta.thinking, delta)
            case CallDelta():
                call = self._call(delta)
                if call is not None:
                    self._extend(call, delta.arguments, delta.fidelity)
            case BlockDelta(payload=payload):
                self._begin(WholeSegment(payload))
            case BlockEnd():
                if self._touched is not None:
                    self._touched.ended = True
                    self._advance()

    def close(self, stop_reason: StopReason = "completed") -> None:
        """The stream is over: close what is open; what was not whole yet gets the stop reason."""
        cut = stop_reason == "fatal"
        for segment in self._segments:
            if not segment.ended and not (cut and segment is not self._touched and segment.is_whole()):
                segment.stop_reason = stop_reason
            segment.ended = True
        self._advance()

    def _prose(
        self, kind: type[TextSegment] | type[ThinkingSegment], piece: str, delta: TextDelta | ThinkingDelta
    ) -> None:
        last = self._segments[-1] if self._segments else None
        if not isinstance(last, kind) or last.block != delta.block or last.ended:
            if not piece and delta.fidelity is UNSET:
                return
            last = self._begin(kind(delta.block))
        self._touched = last
        if delta.fidelity is not UNSET:
            last.fidelity = delta.fidelity
        if piece:
            last.add(piece, self._stream if last is self._segments[0] else None)
        if len(self._segments) > 1:
            self._advance()

    def _extend(self, segment: Segment, piece: str, fidelity: Raw | UnsetType) -> None:
        self._touched = segment
        if fidelity is not UNSET:
            segment.fidelity = fidelity
        if piece:
            segment.add(piece, self._stream if segment is self._segments[0] else None)
        if len(self._segments) > 1:
            self._advance()

    def _begin(self, segment: Segment) -> Segment:
        if self._segments and not isinstance(self._segments[-1], CallSegment):
            self._segments[-1].ended = True
        self._segments.append(segment)
        self._touched = segment
        if len(self._segments) > 1 or isinstance(segment, CallSegment | WholeSegment):
            self._advance()
        return segment

    def _advance(self) -> None:
        """Finish segments at the front as far as they are whole, and let the next one stream."""
        while self._segments:
            head = self._segments[0]
            head.open(self._stream)
            if not (head.ended or (len(self._segments) > 1 and head.is_whole())):
                return
            self._complete(head.finish(self._stream))
            head.ended = True
            self._segments.popleft()

    def _call(self, delta: CallDelta) -> CallSegment | None:
        known = self._calls.get(delta.index)
        if known is None:
            return self._unlabelled(delta) or self._new_call(delta)
        if known.is_other(delta):
            known.ended = True
            self._advance()
            return self._new_call(delta)
        if known.ended:
            if delta.arguments.strip():
                raise MalformedStream(f"more arguments came for the finished call {known.name!r}")
            return None
        known.name = known.name or (delta.name or "")
        return known

    def _unlabelled(self, delta: CallDelta) -> CallSegment | None:
        """The call that a fragment under a new index continues, if any."""
        if delta.name:
            return None
        open_calls = [call for call in self._calls.values() if not call.ended]
        if delta.id:
            return next((call for call in open_calls if call.provider_id == delta.id), None)
        if len(open_calls) != 1:
            raise MalformedStream(f"a fragment of tool call {delta.index} came without id and name")
        return open_calls[0]

    def _new_call(self, delta: CallDelta) -> CallSegment:
        call = CallSegment(self._ids.assign(delta.id), delta.id or "", delta.name or "")
        self._calls[delta.index] = call
        self._begin(call)
        return call
