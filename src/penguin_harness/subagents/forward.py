"""A child's stream into its parent's: each message with the child's id in front of its origin, its line untouched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from penguin_harness.engine.channel import Channel
from penguin_harness.engine.outlet import Emitted
from penguin_harness.omnimessage import (
    EventMessage,
    OmniMessage,
    RequestBegin,
    SessionMeta,
    SessionMetaMessage,
    ToolListReady,
    forward,
)

Chain: TypeAlias = tuple[str, ...]


class Forwarder:
    """Forwards one child, and what descends from it, into whatever stream its parent has at the moment.

    A run of the parent that begins while the child is at work sees it from the child's next request on, behind its
    session_meta and tool list, so that every stream makes sense by itself.
    """

    def __init__(self, meta: Callable[[], SessionMeta], channel: Callable[[], Channel[Emitted]]) -> None:
        self._child_id = meta().session_id
        self._meta = meta
        self._channel = channel
        self._seen: Channel[Emitted] | None = None
        self._shown: set[Chain] = set()
        """The sessions that the stream has seen begin."""
        self._heads: dict[Chain, list[Emitted]] = {}

    async def put(self, emitted: Emitted) -> None:
        """Forward the child's next message; waits while the parent's reader is slow."""
        message, line = emitted
        chain = (self._child_id, *(message.origin or ()))
        outer: Emitted = replace(message, origin=chain), None if line is None else forward(line, self._child_id)
        self._remember(chain, outer)
        channel = self._channel()
        if channel is not self._seen:
            self._seen, self._shown = channel, set()
        if channel.closed:
            return
        if chain not in self._shown and not self._begin(chain, outer, channel):
            return
        channel.put(outer)
        if channel.full:
            await channel.room()

    def _resumed(self, chain: Chain, message: OmniMessage) -> list[Emitted]:
        """The head of a child that was resumed, whose session_meta no stream of this process has seen."""
        own = chain == (self._child_id,)
        return [(SessionMetaMessage(message.timestamp, self._meta(), chain), None)] if own else []

    def _remember(self, chain: Chain, outer: Emitted) -> None:
        message = outer[0]
        if isinstance(message, SessionMetaMessage):
            self._heads[chain] = [outer]
        elif isinstance(message, EventMessage) and isinstance(message.payload, ToolListReady):
            self._heads[chain] = [*self._heads.get(chain, [])[:1], outer]

    def _begin(self, chain: Chain, outer: Emitted, channel: Channel[Emitted]) -> bool:
        """Whether this message may be the session's first in this stream; what must stand before it is put."""
        message = outer[0]
        if isinstance(message, SessionMetaMessage):
            self._shown.add(chain)
            return True
        if not (isinstance(message, EventMessage) and isinstance(message.payload, RequestBegin)):
            return False
        for head in self._heads.get(chain) or self._resumed(chain, message):
            channel.put(head)
        self._shown.add(chain)
        return True
