"""A model over HTTP: what all wire protocols share, around the pure conversions that each protocol is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from msgspec.structs import replace

from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.failure import TransportError, of_exception
from penguin_harness.llm.http import Reply, Transport
from penguin_harness.llm.opacity import unsigned
from penguin_harness.llm.sse import Event
from penguin_harness.llm.wire import AnswerReader, WireProtocol
from penguin_harness.omnimessage import CompletePayload

USAGE_WAIT = 5.0
"""Seconds that the token counts may still take once the provider has said that the answer is whole."""

CONVERSATIONS = 8
"""How many conversations keep their encoded messages: a session, its subagents, a title."""


class Adapter:
    """A model behind a wire protocol. Keeps connections and encoded bytes, never a conversation."""

    def __init__(self, endpoint: Endpoint, protocol: WireProtocol) -> None:
        self._endpoint = endpoint
        self._protocol = protocol
        self._transport = Transport(
            protocol.url(endpoint),
            headers=protocol.headers(endpoint),
            secret=endpoint.api_key,
            idle_timeout=endpoint.idle_timeout,
            content_timeout=endpoint.content_timeout,
        )
        self._conversations: dict[int, Conversation] = {}
        self._learnt: list[str] = []
        self._stale: list[tuple[CompletePayload, int]] = []
        """Conversations, by their first payload, and how many messages of each go out without signatures."""

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        return self._endpoint.ref

    @property
    def context_window(self) -> int:
        """Tokens that fit in one request and its answer."""
        return self._endpoint.context_window

    @property
    def learnt(self) -> tuple[str, ...]:
        """What refusals have taught so far, in words."""
        return tuple(self._learnt)

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """Deltas as they arrive, then one Outcome. Closing the generator closes the connection at once."""
        request = self._without_stale_signatures(request)
        reader = self._protocol.reader()
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
            outcome = self._failed(failure, request, reader)
        except Exception as error:  # noqa: BLE001 - a model raises nothing; what is unforeseen is worth another try
            outcome = self._failed(of_exception(error, "the adapter failed"), request, reader)
        yield outcome

    def body(self, request: Request) -> bytes:
        """The request as it is sent."""
        encoded = self._conversation(request).encode(request)
        return self._protocol.body(request, encoded, self._endpoint)

    def left_out(self, messages: Sequence[CompletePayload]) -> int:
        """How many of these messages cannot go out as they were recorded: another model or protocol signed them."""
        return sum(not self._protocol.keeps(payload) for payload in messages)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    def _failed(self, failure: TransportError, request: Request, reader: AnswerReader) -> Outcome:
        """The failure as an outcome: one to retry, when it taught how to ask differently."""
        failure = self._transport.redacted(failure)
        if failure.status != "fatal":
            return failure.outcome(reader.usage())
        from penguin_harness.llm.learning import learn  # its patterns take time to compile, and few need them

        lesson = learn(self._endpoint, failure, request, self._learnt)
        if lesson is None:
            return failure.outcome(reader.usage())
        self._endpoint = lesson.endpoint
        self._learnt.append(lesson.note)
        self._conversations.clear()
        if lesson.unsigned:
            self._stale.append((request.messages[0], len(request.messages)))
        message = f"{lesson.note}, since the endpoint refused the request: {failure.message}"
        return TransportError("retryable", failure.code, message, retry_after_ms=0).outcome(reader.usage())

    def _without_stale_signatures(self, request: Request) -> Request:
        for first, count in reversed(self._stale):
            if request.messages and request.messages[0] is first:
                stale, rest = request.messages[:count], request.messages[count:]
                return replace(request, messages=(*map(unsigned, stale), *rest))
        return request

    def _conversation(self, request: Request) -> Conversation:
        """A conversation is known by its first payload, which the cache keeps alive with all others."""
        key = id(request.messages[0]) if request.messages else 0
        known = self._conversations.pop(key, None) or Conversation(self._protocol, self._endpoint)
        self._conversations[key] = known
        if len(self._conversations) > CONVERSATIONS:
            del self._conversations[next(iter(self._conversations))]
        return known


async def _next(reply: Reply, reader: AnswerReader) -> list[Event] | None:
    """The next events. Once the answer is whole only token counts are missing, and no failure matters any more."""
    if not reader.terminal:
        return await reply.events()
    try:
        return await reply.events(within=USAGE_WAIT)
    except TransportError:
        return None
