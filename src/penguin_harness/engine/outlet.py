"""The one door out of the engine: stamp, encode once, record, fold, hand to the consumer, in this order."""

from __future__ import annotations

from typing import TypeAlias

from penguin_harness.contracts import Recorder, Tail
from penguin_harness.engine.channel import Channel
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import (
    ApprovalDecision,
    Clock,
    CompactionEnd,
    CompletePayload,
    EventMessage,
    EventPayload,
    ModelMessage,
    OmniMessage,
    PartialPayload,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    SessionMetaMessage,
    ToolCallOutput,
    encode,
)

Emitted: TypeAlias = tuple[OmniMessage, bytes | None]
"""A message and its line; a fragment has none until somebody forwards it."""

_COMMITS = frozenset({SessionMeta, RequestBegin, ApprovalDecision, ToolCallOutput, RequestEnd, CompactionEnd})


class Outlet:
    """Where everything that happens in a session goes, in the order in which it happens."""

    def __init__(self, context: Context, recorder: Recorder, clock: Clock, tail: Tail) -> None:
        self.context = context
        self.tail = tail
        self.channel: Channel[Emitted] = Channel(0)
        """Where the stream goes: to the consumer of the run that is under way."""
        self._recorder = recorder
        self._clock = clock

    def stream(self, fragment: PartialPayload) -> None:
        """Stream a fragment, which is not recorded."""
        self.channel.put((ModelMessage(self._clock.now(), fragment), None))
        self.tail.note(fragment)

    def emit(self, payload: CompletePayload | EventPayload | SessionMeta) -> None:
        """Record a payload, then stream it. Raises TraceError, and streams nothing, when it cannot be recorded."""
        self.channel.put(self._write(payload))

    def record(self, payload: CompletePayload | EventPayload | SessionMeta) -> None:
        """Record what the caller knows already and does not get back."""
        self._write(payload)

    def _write(self, payload: CompletePayload | EventPayload | SessionMeta) -> Emitted:
        message = self._enveloped(payload)
        line = encode(message)
        self._recorder.append(line, commit=type(payload) in _COMMITS)
        fold(self.context, message)
        self.tail.recorded(payload)
        return message, line

    def _enveloped(self, payload: CompletePayload | EventPayload | SessionMeta) -> OmniMessage:
        now = self._clock.now()
        if isinstance(payload, SessionMeta):
            return SessionMetaMessage(now, payload)
        return ModelMessage(now, payload) if isinstance(payload, CompletePayload) else EventMessage(now, payload)
