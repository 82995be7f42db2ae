"""Fragments folded into complete messages, for consumers that keep a view of their own."""

from __future__ import annotations

from typing import TypeAlias

from penguin_harness.omnimessage.messages import ModelMessage, OmniMessage
from penguin_harness.omnimessage.payloads import (
    CompletePayload,
    PartialPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)

Producer: TypeAlias = tuple[tuple[str, ...], str]
"""Who speaks: the chain of sessions, and the call id for a tool or "" for the model."""


class _Segment:
    def __init__(self, message: ModelMessage[PartialPayload]) -> None:
        self.first = message
        self.pieces: list[str] = []
        self.images: tuple[str, ...] | None = None
        self.stop_reason: StopReason = "completed"

    def add(self, payload: PartialPayload) -> None:
        self.stop_reason = payload.stop_reason
        match payload:
            case PartialText(text=piece) | PartialThinking(thinking=piece) | PartialToolCall(arguments=piece):
                self.pieces.append(piece)
            case PartialToolCallOutput(output=piece, images=images):
                self.pieces.append(piece)
                self.images = images or self.images

    def complete(self) -> ModelMessage[CompletePayload]:
        return ModelMessage(self.first.timestamp, self._payload(), self.first.origin)

    def _payload(self) -> CompletePayload:
        content = "".join(self.pieces)
        match self.first.payload:
            case PartialText(role=role):
                return Text(role, content, stop_reason=self.stop_reason)
            case PartialThinking():
                return Thinking("assistant", content, self.stop_reason)
            case PartialToolCall(name=name, tool_call_id=call):
                return ToolCall("assistant", name, content, call, self.stop_reason)
            case PartialToolCallOutput(tool_call_id=call):
                return ToolCallOutput("user", content, call, self.images, self.stop_reason)


class Aggregator:
    """Keeps the open segments of a stream, each producer apart by origin and call id."""

    def __init__(self) -> None:
        self._open: dict[Producer, _Segment] = {}

    def add(self, message: OmniMessage) -> ModelMessage[CompletePayload] | None:
        """Take the next message of a stream; on `stop`, the complete message that the fragments amount to.

        The stream's own complete message follows and replaces it: it may also bear fidelity.
        A fragment that continues nothing begins a segment, as for a reader that joined late.
        """
        if not isinstance(message, ModelMessage):
            return None
        payload = message.payload
        if not isinstance(payload, PartialPayload):
            return None
        producer = _producer(message.origin, payload)
        if payload.event_type == "start" or producer not in self._open:
            self._open[producer] = _Segment(ModelMessage(message.timestamp, payload, message.origin))
        segment = self._open[producer]
        segment.add(payload)
        return self._open.pop(producer).complete() if payload.event_type == "stop" else None

    @property
    def open(self) -> tuple[ModelMessage[CompletePayload], ...]:
        """What is still streaming, as complete messages of what came so far, in order of their start."""
        return tuple(segment.complete() for segment in self._open.values())


def _producer(origin: tuple[str, ...] | None, payload: PartialPayload) -> Producer:
    call = payload.tool_call_id if isinstance(payload, PartialToolCallOutput) else ""
    return (origin or (), call)
