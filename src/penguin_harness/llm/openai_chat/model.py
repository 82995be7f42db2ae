"""The adapter: a request out, deltas and one outcome in."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from penguin_harness.contracts import ModelItem, ModelRef, Request
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.failure import TransportError, of_exception
from penguin_harness.llm.http import Reply, Transport
from penguin_harness.llm.openai_chat.reader import ChunkReader
from penguin_harness.llm.openai_chat.request import MessageCache, body
from penguin_harness.llm.sse import Event

USAGE_WAIT = 5.0
"""How long after a finish reason the token counts may still come."""

CONVERSATIONS = 8
"""How many conversations keep their encoded messages: a session, its subagents, a title."""


class OpenAIChat:
    """A model behind Chat Completions. Keeps connections and encoded bytes, never a conversation."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._transport = Transport(
            endpoint.url("chat/completions"),
            api_key=endpoint.api_key,
            idle_timeout=endpoint.idle_timeout,
            content_timeout=endpoint.content_timeout,
        )
        self._caches: dict[int, MessageCache] = {}

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        return self._endpoint.ref

    @property
    def context_window(self) -> int:
        """Tokens that fit in one request and its answer."""
        return self._endpoint.context_window

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """Deltas as they arrive, then one Outcome. Closing the generator closes the connection at once."""
        reader = ChunkReader()
        try:
            async with self._transport.post(self.body(request)) as reply:
                while not reader.complete and (events := await _next(reply, reader)) is not None:
                    delta = None
                    for delta in reader.read(events):
                        yield delta
                    if delta is not None:
                        reply.alive()
            for delta in reader.finish():
                yield delta
            outcome = reader.outcome()
        except TransportError as failure:
            outcome = self._transport.redacted(failure).outcome(reader.usage())
        except Exception as error:  # noqa: BLE001 - a model raises nothing; what is unforeseen is worth another try
            failure = of_exception(error, "the adapter failed")
            outcome = self._transport.redacted(failure).outcome(reader.usage())
        yield outcome

    def body(self, request: Request) -> bytes:
        """The request as it is sent."""
        messages = self._cache(request).encode(request.messages)
        return body(request, self.ref.model_id, messages, self._endpoint.max_tokens_field)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    def _cache(self, request: Request) -> MessageCache:
        """A conversation is known by its first payload, which the cache keeps alive with all others."""
        key = id(request.messages[0]) if request.messages else 0
        cache = self._caches.pop(key, None) or MessageCache()
        self._caches[key] = cache
        if len(self._caches) > CONVERSATIONS:
            del self._caches[next(iter(self._caches))]
        return cache


async def _next(reply: Reply, reader: ChunkReader) -> list[Event] | None:
    """The next events. Once the answer is whole only token counts are missing, and no failure matters any more."""
    if not reader.terminal:
        return await reply.events()
    try:
        return await reply.events(within=USAGE_WAIT)
    except TransportError:
        return None
