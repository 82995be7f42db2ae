"""The streaming discipline: start, deltas, stop, complete message, for each producer apart (section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from penguin_harness.omnimessage.check.report import Findings
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

Producer: TypeAlias = str | None
"""A call id for a tool, None for the model."""

_COMPLETE = {
    "partial_text": "text",
    "partial_thinking": "thinking",
    "partial_tool_call": "tool_call",
    "partial_tool_call_output": "tool_call_output",
}


class _Segment:
    def __init__(self, first: PartialPayload, *, sound: bool) -> None:
        self.first = first
        self.sound = sound  # False where the start is missing: what follows is not compared
        self.pieces: list[str] = []
        self.images: tuple[str, ...] | None = None
        self.stopped: StopReason | None = None

    @property
    def name(self) -> str:
        return self.first.type


class Segments:
    """The open segments of one session's producers."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._open: dict[Producer, _Segment] = {}

    def fragment(self, payload: PartialPayload) -> None:
        """A fragment arrives."""
        producer = payload.tool_call_id if isinstance(payload, PartialToolCallOutput) else None
        if payload.event_type == "start":
            self._start(producer, payload)
        else:
            self._continue(producer, payload)

    def complete(self, payload: CompletePayload) -> None:
        """A complete message of a producer arrives: alone, or as the end of its segment."""
        producer = payload.tool_call_id if isinstance(payload, ToolCallOutput) else None
        segment = self._open.pop(producer, None)
        if segment is None:
            return
        if _COMPLETE[segment.name] != payload.type:
            self._findings.broken("4.5", f"{payload.type} where the complete {_COMPLETE[segment.name]} belongs")
        elif segment.stopped is None:
            self._findings.broken("4.5", f"the complete {payload.type} comes before the `stop` of its segment")
        elif segment.sound:
            self._compare(segment, segment.stopped, payload)

    def end_model(self, before: str) -> None:
        """The model's stream is over: its segment must be closed and complete."""
        self._leak(None, before)

    def end_all(self, before: str) -> bool:
        """Nothing may be open here; whether something was."""
        leaks = [*self._open]
        for producer in leaks:
            self._leak(producer, before)
        return bool(leaks)

    def open(self) -> Iterator[str]:
        """What is open, in words."""
        for producer, segment in self._open.items():
            yield f"a {segment.name}" + (f" of call {producer!r}" if producer is not None else "")

    def clear(self) -> None:
        """Forget what is open."""
        self._open.clear()

    def _start(self, producer: Producer, payload: PartialPayload) -> None:
        before = self._open.get(producer)
        if before is not None:
            if before.stopped is None:
                self._findings.broken("4.2", f"{payload.type} starts while a {before.name} is open")
            else:
                self._findings.broken("4.5", f"{payload.type} starts before the complete {_COMPLETE[before.name]}")
        self._open[producer] = segment = _Segment(payload, sound=True)
        self._check_bare(segment, payload)

    def _continue(self, producer: Producer, payload: PartialPayload) -> None:
        segment = self._open.get(producer)
        if segment is None or segment.name != payload.type:
            self._findings.broken("4.1", f"{payload.type} {payload.event_type} without its start")
            segment = self._open[producer] = _Segment(payload, sound=False)
        elif segment.stopped is not None:
            self._findings.broken("4.5", f"{payload.type} {payload.event_type} after the segment's stop")
            segment.sound = False
        self._check_names(segment, payload)
        if payload.event_type == "stop":
            segment.stopped = payload.stop_reason
            self._check_bare(segment, payload)
        else:
            self._add(segment, payload)

    def _add(self, segment: _Segment, payload: PartialPayload) -> None:
        segment.pieces.append(_content(payload))
        if isinstance(payload, PartialToolCallOutput) and payload.images:
            if segment.images:
                self._findings.broken("4.8", f"a second delta with images in the output of {payload.tool_call_id!r}")
            segment.images = payload.images

    def _check_bare(self, segment: _Segment, payload: PartialPayload) -> None:
        if _content(payload) or (isinstance(payload, PartialToolCallOutput) and payload.images):
            self._findings.broken("4.3", f"{payload.type} {payload.event_type} carries {_content(payload)[:80]!r}")
            segment.sound = False

    def _check_names(self, segment: _Segment, payload: PartialPayload) -> None:
        match segment.first, payload:
            case PartialToolCall() as first, PartialToolCall():
                named = payload.name == first.name or not (payload.name or self._findings.strict)
                if not named or payload.tool_call_id != first.tool_call_id:
                    self._told_apart(first, payload)
            case _:
                pass

    def _compare(self, segment: _Segment, stopped: StopReason, payload: CompletePayload) -> None:
        if stopped != payload.stop_reason:
            self._findings.broken("4.6", f"stop says {stopped}, the complete {payload.type} {payload.stop_reason}")
        match segment.first, payload:
            case PartialText(), Text(text=content):
                images = None
            case PartialThinking(), Thinking(thinking=content):
                images = None
            case PartialToolCall() as first, ToolCall(arguments=content) as call:
                images = None
                if (call.name, call.tool_call_id) != (first.name, first.tool_call_id):
                    self._told_apart(first, call)
            case PartialToolCallOutput(), ToolCallOutput(output=content, images=images):
                pass
            case _:
                return
        streamed = "".join(segment.pieces)
        if streamed != content:
            self._findings.broken(
                "4.4", f"the deltas say {_end(streamed)}, the complete {payload.type} {_end(content)}"
            )
        elif (segment.images or ()) != (images or ()):
            self._findings.broken("4.4", f"the deltas carry {len(segment.images or ())} images, not the complete set")

    def _told_apart(self, first: PartialToolCall, other: PartialToolCall | ToolCall) -> None:
        names = f"{other.name!r} {other.tool_call_id!r}"
        self._findings.broken("4.7", f"{names} in the segment of {first.name!r} {first.tool_call_id!r}")

    def _leak(self, producer: Producer, before: str) -> None:
        segment = self._open.pop(producer, None)
        if segment is None:
            return
        if segment.stopped is None:
            self._findings.broken("4.9", f"{before} while a {segment.name} is open")
        else:
            self._findings.broken("4.5", f"{before} before the complete {_COMPLETE[segment.name]}")


def _content(payload: PartialPayload) -> str:
    match payload:
        case PartialText(text=piece) | PartialThinking(thinking=piece):
            return piece
        case PartialToolCall(arguments=piece) | PartialToolCallOutput(output=piece):
            return piece


def _end(text: str) -> str:
    return repr(text if len(text) <= 60 else "…" + text[-59:])
