"""The Responses API over HTTP: against raw bytes, and whole sessions against an endpoint that checks every request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from penguin_harness import RequestEnd, TokenUsage, ToolResult, tool, user_text
from penguin_harness.contracts import BlockEnd, CallDelta, Model, ModelItem, ModelRef, Outcome, Request, TextDelta
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import Text, Thinking, TokenCounts, ToolCall, ToolCallOutput, ToolSchema
from tests.double.client import Double
from tests.double.responses.build import (
    MODEL,
    Endpoint,
    call,
    counts,
    error,
    failed,
    fails,
    filtered,
    heartbeats,
    hidden_thinking,
    limit,
    open_thinking,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.script import EACH_BYTE, Delivery, Turn
from tests.double.steps import cut
from tests.llm import responses as wire
from tests.llm.conftest import ModelFactory
from tests.llm.server import RawServer, event
from tests.support import Watched, new_agent, outputs, texts, watched

KEY = "sk-test-123456"
PNG = "data:image/png;base64,iVBORw0KGgo="
REQUEST = Request("", [Text("user", "hi")])


async def ask(model: Model) -> list[ModelItem]:
    return [item async for item in model.stream(REQUEST)]


async def end_of(model: Model) -> Outcome:
    last = (await ask(model))[-1]
    assert isinstance(last, Outcome)
    return last


async def test_an_answer_streams_and_its_connection_is_used_again(server: RawServer, model_at: ModelFactory) -> None:
    model = model_at(client_type="openai_responses", api_key=KEY)
    for _ in range(3):
        server.answers(wire.text("Hi."), wire.end(usage={"input_tokens": 10, "output_tokens": 2}))
        assert await ask(model) == [
            TextDelta("Hi."),
            Outcome("completed", usage=TokenCounts.of(cache_write=10, output=2)),
        ]
    assert {request.connection for request in server.requests} == {1}
    head = server.requests[0].head
    assert head.startswith("POST /v1/responses HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}\r\n" in head
    assert server.requests[0].json == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
    }


async def test_a_call_can_start_before_the_stream_ends(server: RawServer, model_at: ModelFactory) -> None:
    go_on = asyncio.Event()
    first = wire.call("f", "{}")
    server.answers(wire.done(0, **first), wire.added(1, **wire.message()), go_on, wire.text("x", 1), wire.end())
    stream = model_at(client_type="openai_responses").stream(REQUEST)
    begun = [await anext(stream) for _ in range(3)]
    assert begun == [CallDelta(0, "", "c1", "f"), CallDelta(0, "{}"), BlockEnd()]
    go_on.set()
    assert [item async for item in stream] == [TextDelta("x", 1), Outcome("completed")]


async def test_reading_stops_behind_the_last_event(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.text("a"), wire.end(), end="hang")
    assert (await end_of(model_at(client_type="openai_responses"))).status == "completed"
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_b051_a_polite_end_without_a_signal_is_malformed(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.text("half"), wire.done(0, **wire.message(wire.part("half"))))
    end = await end_of(model_at(client_type="openai_responses"))
    assert (end.error_code, end.error_message) == ("malformed", "the answer ended without a terminal signal")


async def test_an_endpoint_that_does_not_stream_is_read_too(server: RawServer, model_at: ModelFactory) -> None:
    body = json.dumps({"status": "completed", "output": [wire.message(wire.part("all"))]}, indent=1).encode()
    server.answers(b"\n" + body[:20], body[20:], headers={"content-type": "application/json"})
    assert await ask(model_at(client_type="openai_responses")) == [
        TextDelta("all"),
        BlockEnd(),
        Outcome("completed"),
    ]


async def test_b061_silence_ends_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.text("a"), end="hang")
    end = await end_of(model_at(client_type="openai_responses", idle_timeout=0.05))
    assert end == Outcome("retryable", "timeout", "nothing arrived for 0.05 s")


async def test_b061_heartbeats_alone_end_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.text("a"), event({"type": "keepalive"}), end="ping")
    end = await end_of(model_at(client_type="openai_responses", idle_timeout=5, content_timeout=0.05))
    assert (end.status, end.error_code) == ("retryable", "timeout")


async def test_b171_the_key_is_in_no_message(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.end("failed", error={"code": "invalid_prompt", "message": f"bad key {KEY}"}))
    end = await end_of(model_at(client_type="openai_responses", api_key=KEY))
    assert end.error_message == "bad key [redacted] (invalid_prompt)"


@tool(permission="r")
def look(path: str) -> ToolResult:
    """Look at a picture."""
    return ToolResult(f"This is {path}.", (PNG,)) if path else ToolResult("", stop_reason="fatal")


TASK = (
    turn(
        thinking("I think 日本語 first.", parts=3),
        thinking("Then I look."),
        text("Let me look — 👩‍💻."),
        hidden_thinking(),
        call("look", {"path": "a"}, id="x"),
        call("look", {"path": "b"}, id="y", parts=3),
    ),
    turn(
        hidden_thinking(),
        call("look", {"path": "é 🐧"}, id="x"),
        call("look", {"path": ""}, id="z"),
        text("\n"),
        delivery=Delivery(sizes=EACH_BYTE),
    ),
    turn(heartbeats(), thinking("So."), text("It shows nothing.", parts=2), refusal(" I cannot say more.")),
    reply("You are welcome.", tokens=counts(100, 7, cached=60, reasoning=3)),
)


@asynccontextmanager
async def against(double: Double, folder: Path, *turns: Any, **endpoint: Any) -> AsyncGenerator[Watched]:
    """A session whose model is the double."""
    double.load(script(*turns, endpoint=Endpoint(key=KEY, **endpoint)))
    async with watched(folder, None, (look,), provider="custom", model_id=MODEL, **reach(double)) as session:
        yield session


def reach(double: Double) -> dict[str, Any]:
    return {"base_url": double.base_url("openai_responses"), "api_key": KEY, "client_type": "openai_responses"}


def sent_items(double: Double, number: int) -> list[dict[str, Any]]:
    return json.loads(double.requests()[number].body)["input"]


async def test_b016_b038_b039_and_b182_a_task_runs_and_every_request_is_accepted(
    tmp_path: Path, double: Double
) -> None:
    """Thinking that shows and that does not, parallel calls, an id that recurs, images, a refusal, an answer."""
    async with against(double, tmp_path, *TASK) as session:
        seen = await session.run("look", thinking_level="high")
        more = await session.run("thanks")
    assert (double.refusals(), double.left()) == ([], 0)
    assert sorted(output for output, _ in outputs(seen).values()) == [
        "This is a.",
        "This is b.",
        "This is é 🐧.",
        "[no output]",
    ]
    assert texts([*seen, *more]) == [
        "Let me look — 👩‍💻.",
        "\n",
        "It shows nothing. I cannot say more.",
        "You are welcome.",
    ]
    thoughts = [message.payload.thinking for message in seen if isinstance(message.payload, Thinking)]
    assert thoughts == ["I think 日本語 first.\n\nThen I look.", "", "", "So."]
    usage = [message.payload for message in more if isinstance(message.payload, TokenUsage)]
    assert usage[0].request == TokenCounts.of(cache_read=60, cache_write=40, output=7)
    kinds = [item["type"] for item in sent_items(double, 1)]
    assert (
        kinds == ["message", "reasoning", "message", "reasoning"] + ["function_call"] * 2 + ["function_call_output"] * 2
    )
    assert [part["type"] for part in sent_items(double, 1)[-1]["output"]] == ["input_text", "input_image"]
    assert sent_items(double, 1)[2]["phase"] == "commentary"


async def test_b041_a_resumed_session_sends_the_reasoning_again(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, *TASK) as session:
        await session.run("look")
        session.forget_stream()
        await session.session.close()
        agent = await new_agent(tmp_path)
        async with await agent.resume_session(session.session.session_id, tools=(look,), **reach(double)) as resumed:
            seen = [message async for message in resumed.run([user_text("thanks")])]
    assert texts(seen) == ["You are welcome."]
    assert (double.refusals(), double.left()) == ([], 0)
    third, fourth = sent_items(double, 2), sent_items(double, 3)
    assert fourth[: len(third)] == third


async def test_b034_readable_reasoning_goes_back(tmp_path: Path, double: Double) -> None:
    turns = (turn(open_thinking("Hm. 日本", parts=3), call("look", {"path": "a"})), reply("Done."))
    async with against(double, tmp_path, *turns, open_reasoning=True) as session:
        seen = await session.run("go")
    assert (texts(seen), double.refusals()) == (["Done."], [])
    assert sent_items(double, 1)[1]["content"] == [{"type": "reasoning_text", "text": "Hm. 日本"}]


async def test_b043_history_of_another_vendor_is_accepted(double: Double) -> None:
    double.load(script(reply("Fine.")))
    model = create_model(ModelRef("custom", MODEL), **reach(double), environ={})
    messages = [
        Text("user", "go"),
        Thinking("assistant", "hm", fidelity=Raw(b'{"signature":"abc"}')),
        ToolCall("assistant", "look at", "{}", "toolu_1", fidelity=Raw(b'{"block":{"caller":1}}')),
        ToolCall("assistant", "look", "{", "search:0#2"),
        ToolCallOutput("user", "one", "toolu_1", (PNG,)),
        ToolCallOutput("user", " ", "search:0#2", stop_reason="fatal"),
    ]
    items = [item async for item in model.stream(Request("", messages, (ToolSchema("look", "Look."),), "max", 3))]
    await model.aclose()
    assert (items[0], double.refusals()) == (TextDelta("Fine."), [])


@pytest.mark.parametrize(
    "first",
    [
        turn(text("half"), cut()),
        turn(thinking("hm")),
        turn(text("half"), error()),
        turn(call("look", '{"path":'), failed()),
        fails(503),
        fails(429, "Slow down.", code="rate_limit_exceeded", headers={"Retry-After": "0"}),
    ],
    ids=["cut", "thoughts alone", "error in the stream", "failed", "503", "429"],
)
async def test_b003_b056_and_b080_a_failed_attempt_is_asked_again(tmp_path: Path, double: Double, first: Turn) -> None:
    async with against(double, tmp_path, first, reply("Whole.")) as session:
        seen = await session.run("go")
    assert texts(seen)[-1] == "Whole."
    ends = [message.payload.status for message in seen if isinstance(message.payload, RequestEnd)]
    assert (ends, double.refusals()) == (["retryable", "completed"], [])


async def test_a_filtered_answer_says_why(tmp_path: Path, double: Double) -> None:
    turns = (turn(text("I would"), filtered()), turn(filtered()))
    async with against(double, tmp_path, *turns, expect_replay=False) as session:
        seen = await session.run("go")
        last = (await session.run("and?"))[-1].payload
    end = next(message.payload for message in seen if isinstance(message.payload, RequestEnd))
    assert (end.status, end.error_message) == ("completed", "the vendor stopped the answer (content_filter)")
    assert texts(seen) == ["I would"]
    assert isinstance(last, RequestEnd)
    assert (last.status, last.error_message) == ("fatal", "the vendor blocked the answer (content_filter)")


async def test_b074_a_call_at_the_output_limit_is_not_run(tmp_path: Path, double: Double) -> None:
    cut_off = turn(thinking("Hm."), text("I will."), call("look", {"path": "a"}), limit())
    async with against(double, tmp_path, cut_off, reply("Shorter.")) as session:
        seen = await session.run("go")
    assert texts(seen) == ["I will.", "Shorter."]
    assert outputs(seen)["call_1"][1] == "fatal"
    assert double.refusals() == []
