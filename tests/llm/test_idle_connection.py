"""A connection that the server closed while it was idle: a fresh one is tried once, and nothing is told twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from penguin_harness.contracts import ModelRef, Outcome, Request, TextDelta
from penguin_harness.llm.gateway import create_model
from penguin_harness.omnimessage import Text

ANSWER = (
    b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'
    b"data: [DONE]\n\n"
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)


@asynccontextmanager
async def serving(answers_on: Callable[[int, int], bool]) -> AsyncGenerator[tuple[str, list[tuple[int, int]]]]:
    """A server that answers a request or closes the connection, by the number of the connection and its request."""
    seen: list[tuple[int, int]] = []
    connections = 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        number, request = connections, 0
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                request += 1
                seen.append((number, request))
                if not answers_on(number, request):
                    return
                writer.write(HEAD + ANSWER)
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", seen


async def asked(model: Any) -> list[Any]:
    return [item async for item in model.stream(Request("", (Text("user", "hello"),)))]


async def test_a_kept_connection_that_the_server_closed_is_replaced_once() -> None:
    async with serving(lambda connection, request: request == 1) as (url, seen):
        model = create_model(ModelRef("custom", "m"), base_url=url, api_key="k" * 10)
        for _ in range(3):
            first, outcome = await asked(model)
            assert (first, outcome.status) == (TextDelta("hi"), "completed")
        await model.aclose()
    assert seen == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]


async def test_a_fresh_connection_that_is_closed_is_a_failure() -> None:
    async with serving(lambda connection, request: False) as (url, seen):
        model = create_model(ModelRef("custom", "m"), base_url=url, api_key="k" * 10)
        [outcome] = await asked(model)
        await model.aclose()
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.error_code, len(seen)) == ("retryable", "network", 1)
