"""The adapter against a server: connections, clocks, refusals, secrets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from penguin_harness.contracts import Model, ModelItem, ModelRef, Outcome, Request, TextDelta
from penguin_harness.llm import create_model
from penguin_harness.llm.http import Transport, proxy_for
from penguin_harness.omnimessage import Text, TokenCounts
from tests.llm.conftest import ModelFactory
from tests.llm.server import DONE, RawServer, answer, delta, event, usage

REQUEST = Request("", [Text("user", "hi")])
KEY = "sk-test-123456"


async def ask(model: Model) -> list[ModelItem]:
    return [item async for item in model.stream(REQUEST)]


async def end_of(model: Model) -> Outcome:
    last = (await ask(model))[-1]
    assert isinstance(last, Outcome)
    return last


async def test_an_answer_streams_and_its_connection_is_used_again(server: RawServer, model_at: ModelFactory) -> None:
    model = model_at(api_key=KEY)
    for _ in range(3):
        server.answers(*answer("Hi."))
        assert await ask(model) == [
            TextDelta("Hi."),
            Outcome("completed", usage=TokenCounts.of(cache_write=10, output=2)),
        ]
    assert {request.connection for request in server.requests} == {1}
    head = server.requests[0].head
    assert head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}\r\n" in head
    assert "Content-Type: application/json\r\n" in head
    assert server.requests[0].json["messages"] == [{"role": "user", "content": "hi"}]


async def test_deltas_are_yielded_as_they_arrive(server: RawServer, model_at: ModelFactory) -> None:
    go_on = asyncio.Event()
    server.answers(delta(content="a"), go_on, delta(content="b"), delta("stop"), DONE)
    stream = model_at().stream(REQUEST)
    assert await anext(stream) == TextDelta("a")
    go_on.set()
    assert [item async for item in stream] == [TextDelta("b"), Outcome("completed")]


async def test_b066_events_cut_anywhere_across_reads(server: RawServer, model_at: ModelFactory) -> None:
    body = b"".join(answer("漢字🐧"))
    server.answers(*(body[place : place + 1] for place in range(len(body))))
    assert (await ask(model_at()))[0] == TextDelta("漢字🐧")


async def test_reading_stops_behind_the_sentinel(server: RawServer, model_at: ModelFactory) -> None:
    """The server never ends this answer: its connection is closed, the outcome does not wait for more."""
    server.answers(delta(content="a"), delta("stop"), usage(1, 1), end="hang")
    assert (await end_of(model_at())).status == "completed"
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_a_wait_with_a_limit_ends_the_answer_quietly(server: RawServer) -> None:
    """Token counts that never come behind a finish reason."""
    server.answers(delta("stop"), end="hang")
    transport = Transport(server.url, headers={})
    async with transport.post(b"{}") as reply:
        assert [len(await reply.events() or ()), await reply.events(within=0.01), await reply.events()] == [1, [], None]
    await asyncio.wait_for(server.hung_up.wait(), 5)
    await transport.aclose()


async def test_b051_a_polite_end_without_a_signal_is_malformed(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(delta(content="half"))
    end = await end_of(model_at())
    assert (end.status, end.error_code) == ("retryable", "malformed")
    assert end.error_message == "the answer ended without a terminal signal"


async def test_b084_a_broken_connection_is_named_by_its_cause(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(delta(content="half"), usage(3, 1), end="cut")
    end = await end_of(model_at())
    assert (end.status, end.error_code) == ("retryable", "network")
    assert (end.error_message or "").startswith(f"the connection to 127.0.0.1:{server.port} broke: ")
    assert end.usage == TokenCounts.of(cache_write=3, output=1)


async def test_a_connection_that_breaks_behind_the_finish_reason_changes_nothing(
    server: RawServer, model_at: ModelFactory
) -> None:
    server.answers(delta("stop", content="whole"), end="cut")
    assert await ask(model_at()) == [TextDelta("whole"), Outcome("completed")]


async def test_an_endpoint_that_does_not_stream_is_read_too(server: RawServer, model_at: ModelFactory) -> None:
    body = b'{"choices":[{"message":{"content":"all"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}'
    server.answers(b"\n" + body[:20], body[20:], headers={"content-type": "application/json"})
    assert await ask(model_at()) == [TextDelta("all"), Outcome("completed", usage=TokenCounts.of(cache_write=1))]


async def test_b061_silence_ends_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(delta(content="a"), end="hang")
    end = await end_of(model_at(idle_timeout=0.05))
    assert end == Outcome("retryable", "timeout", "nothing arrived for 0.05 s")
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_b061_silence_before_the_head_ends_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = model_at(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}", idle_timeout=0.05)
        assert (await end_of(model)).error_code == "timeout"


async def test_b061_heartbeats_alone_end_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(delta(content="a"), end="ping")
    end = await end_of(model_at(idle_timeout=5, content_timeout=0.05))
    assert (end.status, end.error_code) == ("retryable", "timeout")
    assert (end.error_message or "").startswith("only heartbeats arrived for ")
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_a_slow_consumer_is_no_silence(server: RawServer, model_at: ModelFactory) -> None:
    """Only waiting for the server counts, and content starts the limit again."""
    server.answers(*(delta(content="a") for _ in range(20)), delta("stop"), DONE)
    items: list[ModelItem] = []
    async for item in model_at(content_timeout=0.02).stream(REQUEST):
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.005)
        items.append(item)
    assert items[-1] == Outcome("completed")


async def test_closing_the_stream_closes_the_connection_at_once(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(delta(content="a"), end="hang")
    stream = model_at().stream(REQUEST)
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(server.hung_up.wait(), 5)


@pytest.mark.parametrize("first", [True, False], ids=["before the first delta", "between deltas"])
async def test_b061_cancelling_ends_the_wait_and_the_connection(
    server: RawServer, model_at: ModelFactory, first: bool
) -> None:
    server.answers(*(() if first else (delta(content="a"),)), end="hang")
    arrived = asyncio.Event()

    async def consume(stream: AsyncGenerator[ModelItem, None]) -> None:
        async for _ in stream:
            arrived.set()

    task = asyncio.create_task(consume(model_at().stream(REQUEST)))
    if not first:
        await asyncio.wait_for(arrived.wait(), 5)
    while not server.requests:
        await asyncio.wait({task}, timeout=0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_b081_a_refusal_carries_the_servers_wait(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(
        b'{"error":{"message":"Slow down"}}',
        status="429 Too Many Requests",
        headers={"retry-after": "3", "x-request-id": "req_1"},
    )
    message = "HTTP 429 (request id req_1): Slow down"
    assert await ask(model_at()) == [Outcome("retryable", "network", message, retry_after_ms=3000)]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("401 Unauthorized", ("fatal", "auth")),
        ("400 Bad Request", ("fatal", "rejected")),
        ("599 Upstream", ("retryable", "network")),
    ],
)
async def test_b084_refusals(server: RawServer, model_at: ModelFactory, status: str, expected: tuple[str, str]) -> None:
    server.answers(status=status)
    end = await end_of(model_at())
    assert (end.status, end.error_code) == expected
    assert end.error_message == f"HTTP {status[:3]}: {status[4:]}"


async def test_an_error_body_that_breaks_off_is_told_as_far_as_it_came(
    server: RawServer, model_at: ModelFactory
) -> None:
    server.answers(b"the gateway", status="502 Bad Gateway", end="cut")
    assert (await end_of(model_at())).error_message == "HTTP 502: the gateway"


async def test_a_redirect_is_refused(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(status="307 Temporary Redirect", headers={"location": "https://elsewhere.example/v1"})
    end = await end_of(model_at(api_key=KEY))
    assert (end.status, end.error_code) == ("fatal", "rejected")
    assert "redirects to https://elsewhere.example/v1" in (end.error_message or "")
    assert len(server.requests) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
async def test_an_endpoint_that_is_not_there(host: str, model_at: ModelFactory, server: RawServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    end = await end_of(model_at(base_url=f"http://{host}:{port}/v1"))
    assert (end.status, end.error_code) == ("retryable", "network")
    assert (end.error_message or "").startswith(f"cannot connect to {host}:{port}, check the base_url: ")


async def test_a_server_that_speaks_no_http(model_at: ModelFactory) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        end = await end_of(model_at(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    assert (end.status, end.error_code) == ("retryable", "network")


async def test_b171_the_key_is_in_no_message(server: RawServer, model_at: ModelFactory) -> None:
    model = model_at(api_key=KEY)
    echo = f'{{"error":{{"message":"no such key: Bearer {KEY}"}}}}'.encode()
    server.answers(echo, status="401 Unauthorized")
    server.answers(status="302 Found", headers={"location": f"http://evil.example/?key={KEY}"})
    server.answers(event({"error": {"message": f"bad {KEY}", "code": 401}}))
    server.answers(f"data: {KEY}\n\n".encode())
    ends = [await end_of(model) for _ in range(4)]
    assert [KEY in repr(end) for end in ends] == [False] * 4
    assert ends[0].error_message == "HTTP 401: no such key: Bearer [redacted]"
    assert all("[redacted]" in (end.error_message or "") for end in ends)
    server.answers(b"x" * 985 + KEY.encode(), status="500 Oops")
    assert "sk-" not in repr(await end_of(model))


async def test_a_placeholder_for_a_key_is_no_secret(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(b'{"message":"EMPTY prompt"}', status="400 Bad Request")
    assert (await end_of(model_at(api_key="EMPTY"))).error_message == "HTTP 400: EMPTY prompt"


async def test_a_programming_error_becomes_an_outcome(model_at: ModelFactory) -> None:
    request = Request("", [Text("user", "\ud800")])
    items = [item async for item in model_at().stream(request)]
    assert len(items) == 1
    end = items[0]
    assert isinstance(end, Outcome)
    assert (end.status, end.error_code) == ("retryable", "network")
    assert (end.error_message or "").startswith("the adapter failed: UnicodeEncodeError")


async def test_many_conversations_share_a_model(server: RawServer, model_at: ModelFactory) -> None:
    model = model_at()
    conversations = [[Text("user", f"conversation {number}")] for number in range(12)]
    for conversation in [*conversations, *reversed(conversations)]:
        server.answers(*answer("ok"))
        assert len([item async for item in model.stream(Request("", conversation))]) == 2
        assert server.requests[-1].json["messages"] == [{"role": "user", "content": conversation[0].text}]


async def test_requests_run_side_by_side(server: RawServer, model_at: ModelFactory) -> None:
    model = model_at()
    for _ in range(5):
        server.answers(*answer("ok"))
    answers = await asyncio.gather(*(ask(model) for _ in range(5)))
    assert [items[0] for items in answers] == [TextDelta("ok")] * 5


async def test_a_closed_model_that_was_never_asked() -> None:
    model = create_model(ModelRef("ollama", "x"), environ={})
    await model.aclose()
    assert (model.ref, model.context_window) == (ModelRef("ollama", "x"), 32768)


def test_proxies_come_from_the_environment_but_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "direct.example")
    assert proxy_for("https://api.example/v1") == "http://proxy.example:3128"
    assert proxy_for("https://direct.example/v1") is None
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert proxy_for(f"http://{host}:11434/v1") is None
