"""The segments that a model stream consists of; each knows how it starts, goes on and ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from penguin_harness.contracts import CallDelta
from penguin_harness.omnimessage import (
    AssistantContent,
    AssistantPartial,
    FragmentKind,
    InlineData,
    InlineThinking,
    PartialText,
    PartialThinking,
    PartialToolCall,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    clean,
    ends_with_high_surrogate,
)

Stream: TypeAlias = Callable[[AssistantPartial], None]
"""Takes a fragment."""

_ARGUMENTS = msgspec.json.Decoder(dict[str, Raw])


class MalformedStream(Exception):
    """The provider's stream cannot be assembled; the text says what came."""


class Segment(ABC):
    """Content in the making. Pieces are kept until the segment streams and its end needs them all."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.fidelity: Raw | UnsetType = UNSET
        self.stop_reason: StopReason = "completed"
        self.ended = False
        self.started = False
        self._half = ""

    def add(self, piece: str, stream: Stream | None) -> None:
        """Keep a piece, made valid Unicode, and stream it unless the segment waits."""
        if self._half or not piece.isascii():
            piece = self._joined(piece)
        if piece:
            self.pieces.append(piece)
            if stream is not None:
                if self.started:
                    stream(self._fragment("delta", piece))
                else:
                    self.open(stream)

    def open(self, stream: Stream) -> None:
        """Become the segment that streams: what waited is streamed now."""
        if not self.started and self._may_start():
            self.started = True
            stream(self._fragment("start", ""))
            for piece in self.pieces:
                stream(self._fragment("delta", piece))

    def finish(self, stream: Stream) -> AssistantContent:
        """End the segment, with `stop` when any of it streamed; the complete payload, which comes next."""
        if self._half:
            self._half = ""
            self.pieces.append("\ufffd")
            if self.started:
                stream(self._fragment("delta", "\ufffd"))
        if self.started:
            stream(self._fragment("stop", "", self.stop_reason))
        return self._complete("".join(self.pieces))

    def is_whole(self) -> bool:
        """Whether nothing can belong to it any more once another segment has begun."""
        return self._is_whole()

    def _joined(self, piece: str) -> str:
        """The first half of a character waits for the second, which may come with the next piece."""
        piece, self._half = self._half + piece, ""
        if ends_with_high_surrogate(piece):
            piece, self._half = piece[:-1], piece[-1]
        return clean(piece)

    def _may_start(self) -> bool:
        return bool(self.pieces)

    def _is_whole(self) -> bool:
        return True

    @abstractmethod
    def _fragment(self, kind: FragmentKind, piece: str, stop_reason: StopReason = "completed") -> AssistantPartial:
        """A fragment of this segment."""

    @abstractmethod
    def _complete(self, content: str) -> AssistantContent:
        """The complete payload."""


class TextSegment(Segment):
    """A text; another block begins another one."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block = block

    def _fragment(self, kind: FragmentKind, piece: str, stop_reason: StopReason = "completed") -> AssistantPartial:
        return PartialText("assistant", kind, piece, stop_reason)

    def _complete(self, content: str) -> AssistantContent:
        return Text("assistant", content, stop_reason=self.stop_reason, fidelity=self.fidelity)


class ThinkingSegment(Segment):
    """Thinking; another block begins another one."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block = block

    def _fragment(self, kind: FragmentKind, piece: str, stop_reason: StopReason = "completed") -> AssistantPartial:
        return PartialThinking("assistant", kind, piece, stop_reason)

    def _complete(self, content: str) -> AssistantContent:
        return Thinking("assistant", content, self.stop_reason, self.fidelity)


class CallSegment(Segment):
    """A tool call; whole when its arguments are a JSON object."""

    def __init__(self, tool_call_id: str, provider_id: str, name: str) -> None:
        super().__init__()
        self.tool_call_id = tool_call_id
        self.provider_id = provider_id
        self.name = name

    def is_other(self, delta: CallDelta) -> bool:
        """Whether a fragment under this call's index begins another call."""
        if delta.id and self.provider_id and delta.id != self.provider_id:
            return True
        return bool(delta.name and self.name and delta.arguments.strip()) and self.is_whole()

    def _may_start(self) -> bool:
        return bool(self.name) or self.ended

    def _is_whole(self) -> bool:
        try:
            _ARGUMENTS.decode("".join(self.pieces))
        except (msgspec.MsgspecError, RecursionError):
            return False
        return True

    def _fragment(self, kind: FragmentKind, piece: str, stop_reason: StopReason = "completed") -> AssistantPartial:
        return PartialToolCall("assistant", kind, self.name, piece, self.tool_call_id, stop_reason)

    def _complete(self, content: str) -> AssistantContent:
        return ToolCall("assistant", self.name, content, self.tool_call_id, self.stop_reason, self.fidelity)


class WholeSegment(Segment):
    """Content that does not stream."""

    def __init__(self, payload: InlineData | InlineThinking) -> None:
        super().__init__()
        self.payload = payload
        self.ended = True

    def _fragment(self, kind: FragmentKind, piece: str, stop_reason: StopReason = "completed") -> AssistantPartial:
        raise AssertionError("whole content has no fragments")

    def _complete(self, content: str) -> AssistantContent:
        return self.payload
