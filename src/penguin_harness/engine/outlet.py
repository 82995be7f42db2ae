"""The one door out of the engine: stamp, encode once, record, fold, hand to the consumer, in this order."""

from __future__ import annotations

from typing import TypeAlias

from penguin_harness.contracts import Recorder
from penguin_harness.engine.channel import Channel
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import (
    PARTIALS,
    ApprovalDecision,
    Clock,
    CompactionEnd,
    EventMessage,
    EventPayload,
    ModelMessage,
    ModelPayload,
    OmniMessage,
    RequestEnd,
    SessionMeta,
    SessionMetaMessage,
    Text,
    ToolCallOutput,
    encode,
)

Emitted: TypeAlias = tuple[OmniMessage, bytes | None]
"""A message and its line; a fragment has none until somebody forwards it."""

_COMMITS = frozenset({SessionMeta, Text, ApprovalDecision, ToolCallOutput, RequestEnd, CompactionEnd})


class Outlet:
    """Where everything that happens in a session goes, in the order in which it happens."""

    def __init__(self, context: Context, recorder: Recorder, clock: Clock) -> None:
        self.context = context
        self._recorder = recorder
        self._clock = clock
        self._channel: Channel[Emitted] = Channel(0)

    def attach(self, channel: Channel[Emitted]) -> None:
        """From now on the stream goes to this run's consumer."""
        self._channel = channel

    def emit(self, payload: ModelPayload | EventPayload) -> None:
        """Stream a payload, recorded first unless it is a fragment. Raises TraceError when it cannot be recorded."""
        if isinstance(payload, PARTIALS):
            self._channel.put((ModelMessage(self._clock.now(), payload), None))
        else:
            self._channel.put(self._write(payload))

    def record(self, payload: ModelPayload | EventPayload | SessionMeta) -> None:
        """Record what the caller knows already and does not get back."""
        self._write(payload)

    @property
    def full(self) -> bool:
        """Whether the consumer lags behind: who can wait then awaits `room`."""
        return self._channel.full

    async def room(self) -> None:
        """Wait until the consumer has caught up."""
        await self._channel.room()

    def _write(self, payload: ModelPayload | EventPayload | SessionMeta) -> Emitted:
        message = self._enveloped(payload)
        line = encode(message)
        self._recorder.append(line, commit=type(payload) in _COMMITS)
        fold(self.context, message)
        return message, line

    def _enveloped(self, payload: ModelPayload | EventPayload | SessionMeta) -> OmniMessage:
        now = self._clock.now()
        if isinstance(payload, SessionMeta):
            return SessionMetaMessage(now, payload)
        return ModelMessage(now, payload) if isinstance(payload, ModelPayload) else EventMessage(now, payload)
