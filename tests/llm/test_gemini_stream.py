"""Gemini over HTTP: against raw bytes, and whole sessions against an endpoint that checks every request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from penguin_harness import RequestEnd, TokenUsage, ToolResult, tool, user_text
from penguin_harness.contracts import BlockEnd, CallDelta, Model, ModelItem, ModelRef, Outcome, Request, TextDelta
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import (
    ImageUrl,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    ToolSchema,
)
from tests.double.client import Double
from tests.double.gemini.build import (
    MODEL,
    blocked,
    call,
    counts,
    error,
    fails,
    heartbeats,
    limit,
    malformed,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.script import EACH_BYTE, Delivery
from tests.double.steps import cut
from tests.llm import gemini as wire
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
    model = model_at(client_type="gemini", api_key=KEY)
    for _ in range(3):
        server.answers(wire.chunk(wire.text("Hi.")), wire.END, wire.counts(promptTokenCount=10))
        assert await ask(model) == [TextDelta("Hi."), Outcome("completed", usage=TokenCounts.of(cache_write=10))]
    assert {request.connection for request in server.requests} == {1}
    head = server.requests[0].head
    assert head.startswith("POST /v1/models/m:streamGenerateContent?alt=sse HTTP/1.1\r\n")
    assert f"x-goog-api-key: {KEY}\r\n" in head
    assert server.requests[0].json == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


async def test_a_call_can_start_before_the_stream_ends(server: RawServer, model_at: ModelFactory) -> None:
    go_on = asyncio.Event()
    server.answers(wire.chunk(wire.call("f"), reason="STOP"), go_on)
    stream = model_at(client_type="gemini").stream(REQUEST)
    assert [await anext(stream), await anext(stream)] == [CallDelta(0, "{}", None, "f"), BlockEnd()]
    go_on.set()
    assert [item async for item in stream] == [Outcome("completed")]


async def test_b051_a_polite_end_without_a_signal_is_malformed(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.chunk(wire.text("half")))
    end = await end_of(model_at(client_type="gemini"))
    assert (end.error_code, end.error_message) == ("malformed", "the answer ended without a terminal signal")


async def test_an_endpoint_that_does_not_stream_is_read_too(server: RawServer, model_at: ModelFactory) -> None:
    body = wire.chunk(wire.text("all"), reason="STOP").removeprefix(b"data: ").strip()
    server.answers(b"\n" + body[:20], body[20:], headers={"content-type": "application/json"})
    assert await ask(model_at(client_type="gemini")) == [TextDelta("all"), Outcome("completed")]


async def test_b061_silence_ends_as_a_timeout(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(wire.chunk(wire.text("a")), end="hang")
    end = await end_of(model_at(client_type="gemini", idle_timeout=0.05))
    assert end == Outcome("retryable", "timeout", "nothing arrived for 0.05 s")


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            "400 Bad Request",
            {"code": 400, "message": "No such key.", "details": [{"reason": "API_KEY_INVALID"}]},
            "auth",
        ),
        ("403 Forbidden", {"code": 403, "message": "Not yours.", "status": "PERMISSION_DENIED"}, "auth"),
        ("404 Not Found", {"code": 404, "message": "No model.", "status": "NOT_FOUND"}, "rejected"),
        ("503 Unavailable", {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}, "network"),
    ],
)
async def test_b084_refusals_in_the_vendors_words(
    server: RawServer, model_at: ModelFactory, status: str, body: dict[str, object], expected: str
) -> None:
    server.answers(json.dumps({"error": body}).encode(), status=status)
    end = await end_of(model_at(client_type="gemini"))
    assert (end.error_code, end.error_message) == (expected, f"HTTP {status[:3]}: {body['message']}")


async def test_b171_the_key_is_in_no_message(server: RawServer, model_at: ModelFactory) -> None:
    server.answers(event({"error": {"code": 400, "message": f"bad key {KEY}"}}))
    end = await end_of(model_at(client_type="gemini", api_key=KEY))
    assert end.error_message == "bad key [redacted]"


@tool(permission="r")
def look(path: str) -> ToolResult:
    """Look at a picture."""
    return ToolResult(f"This is {path}.", (PNG,))


@tool(name="2nd_look", permission="r")
def look_again(path: str) -> ToolResult:
    """Look at a picture again."""
    return ToolResult("", (PNG,)) if path else ToolResult("Nothing there.", stop_reason="fatal")


TOOLS = (look, look_again)
TASK = (
    turn(
        thinking("I think 日本語 first.", parts=3),
        text("Let me look — 👩‍💻."),
        call("look", {"path": "a"}, id="x"),
        call("_2nd_look", {"path": "b"}, id="x2"),
    ),
    turn(
        text("Once more."),
        call("look", {"path": "é 🐧"}, id=None),
        call("_2nd_look", {"path": ""}, id=None),
        delivery=Delivery(sizes=EACH_BYTE),
    ),
    turn(heartbeats(), thinking("So."), text("It shows nothing.", parts=2)),
    reply("You are welcome.", tokens=counts(100, 7, cached=60, reasoning=3)),
)


@asynccontextmanager
async def against(double: Double, folder: Path, *turns: Any, **endpoint: Any) -> AsyncGenerator[Watched]:
    """A session whose model is the double."""
    double.load(script(*turns, endpoint=GeminiEndpoint(key=KEY, **endpoint)))
    async with watched(folder, None, TOOLS, **options_for(double)) as session:
        yield session


def options_for(double: Double) -> dict[str, Any]:
    reach = {"base_url": double.base_url("gemini"), "api_key": KEY, "client_type": "gemini"}
    return {"provider": "custom", "model_id": MODEL, **reach}


def sent_contents(double: Double, number: int) -> list[dict[str, Any]]:
    return json.loads(double.requests()[number].body)["contents"]


async def test_b038_b041_and_b182_a_task_runs_and_every_request_is_accepted(tmp_path: Path, double: Double) -> None:
    """Thinking, parallel calls with and without ids, a tool whose name the vendor refuses, images, an answer."""
    async with against(double, tmp_path, *TASK) as session:
        seen = await session.run("look", thinking_level="high")
        more = await session.run("thanks")
    assert (double.refusals(), double.left()) == ([], 0)
    assert sorted(outputs(seen).values()) == [
        ("Nothing there.", "fatal"),
        ("This is a.", "completed"),
        ("This is é 🐧.", "completed"),
        ("[1 image(s)]", "completed"),
    ]
    assert texts([*seen, *more]) == ["Let me look — 👩‍💻.", "Once more.", "It shows nothing.", "You are welcome."]
    usage = [message.payload for message in more if isinstance(message.payload, TokenUsage)]
    assert usage[0].request == TokenCounts.of(cache_read=60, cache_write=40, output=7)
    answered = sent_contents(double, 1)[2]["parts"]
    assert [part["functionResponse"]["id"] for part in answered] == ["x", "x2"]
    assert [len(part["functionResponse"]["parts"]) for part in answered] == [1, 1]
    assert answered[1]["functionResponse"]["name"] == "_2nd_look"


async def test_b041_a_resumed_session_sends_the_signatures_again(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, *TASK) as session:
        await session.run("look")
        session.forget_stream()
        await session.session.close()
        agent = await new_agent(tmp_path)
        reach = options_for(double)
        del reach["provider"], reach["model_id"]
        async with await agent.resume_session(session.session.session_id, tools=TOOLS, **reach) as resumed:
            seen = [message async for message in resumed.run([user_text("thanks")])]
    assert texts(seen) == ["You are welcome."]
    assert (double.refusals(), double.left()) == ([], 0)
    third, fourth = sent_contents(double, 2), sent_contents(double, 3)
    assert fourth[: len(third)] == third


async def test_older_models_take_images_behind_the_batch(tmp_path: Path, double: Double) -> None:
    """A model that wants a budget demands no signatures and takes no images inside of responses."""
    endpoint = GeminiEndpoint(thinking_levels=(), media_in_responses=False, enforce_signatures=False)
    double.load(
        script(turn(call("look", {"path": "a"}, id=None)), reply("Yes."), model="gemini-2.5-flash", endpoint=endpoint)
    )
    model = create_model(
        ModelRef("custom", "models/gemini-2.5-flash"),
        client_type="gemini",
        base_url=double.base_url("gemini"),
        environ={},
    )
    request = Request("", [Text("user", "go"), ImageUrl("user", PNG)], (SCHEMA,), "high")
    first = [item async for item in model.stream(request)]
    called = next(item for item in first if isinstance(item, CallDelta))
    made = ToolCall("assistant", "look", called.arguments, "c1", fidelity=called.fidelity)
    later = replace(request, messages=[*request.messages, made, ToolCallOutput("user", "one", "c1", (PNG,))])
    last = [item async for item in model.stream(later)]
    await model.aclose()
    assert (last[0], double.refusals()) == (TextDelta("Yes."), [])


SCHEMA = ToolSchema("look", "Look at a picture.")


async def test_b043_history_of_another_vendor_is_accepted(double: Double) -> None:
    """A call that nobody signed, in the turn that is open now."""
    double.load(script(reply("Fine.")))
    model = create_model(
        ModelRef("custom", MODEL), client_type="gemini", base_url=double.base_url("gemini"), environ={}
    )
    foreign = Raw(b'{"signature":"abc"}')
    messages = [
        Text("user", "go"),
        Thinking("assistant", "hm", fidelity=foreign),
        ToolCall("assistant", "look", "{}", "toolu_1"),
        ToolCall("assistant", "look", "{", "toolu_2"),
        ToolCallOutput("user", "one", "toolu_1"),
        ToolCallOutput("user", "unreadable", "toolu_2", stop_reason="fatal"),
    ]
    items = [item async for item in model.stream(Request("", messages, (SCHEMA,)))]
    await model.aclose()
    assert (items[0], double.refusals()) == (TextDelta("Fine."), [])


@pytest.mark.parametrize(
    "first",
    [
        turn(text("half"), cut()),
        turn(malformed()),
        turn(thinking("hm")),
        turn(text("half"), error()),
        fails(503),
        fails(429, "Slow down.", retry=0.001),
    ],
    ids=["cut", "malformed call", "thoughts alone", "error in the stream", "503", "429"],
)
async def test_b003_and_b080_a_failed_attempt_is_asked_again(tmp_path: Path, double: Double, first: Any) -> None:
    async with against(double, tmp_path, first, reply("Whole.")) as session:
        seen = await session.run("go")
    assert texts(seen)[-1] == "Whole."
    ends = [message.payload.status for message in seen if isinstance(message.payload, RequestEnd)]
    assert (ends, double.refusals()) == (["retryable", "completed"], [])


async def test_a_blocked_prompt_is_final(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, turn(blocked())) as session:
        seen = await session.run("go")
    end = seen[-1].payload
    assert isinstance(end, RequestEnd)
    assert (end.status, end.error_message) == ("fatal", "the vendor blocked the prompt (PROHIBITED_CONTENT)")


async def test_b077_a_refusal_behind_a_text_says_why(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, turn(refusal("I would rather not."))) as session:
        seen = await session.run("go")
    assert texts(seen) == ["I would rather not."]
    end = next(message.payload for message in seen if isinstance(message.payload, RequestEnd))
    assert (end.status, end.error_message) == ("completed", "the vendor stopped the answer (SAFETY)")


async def test_b074_a_call_at_the_output_limit_is_not_run(tmp_path: Path, double: Double) -> None:
    cut_off = turn(text("I will."), call("look", {"path": "a"}), limit())
    async with against(double, tmp_path, cut_off, reply("Shorter.")) as session:
        seen = await session.run("go")
    assert texts(seen) == ["I will.", "Shorter."]
    assert outputs(seen)["call_1"][1] == "fatal"
    assert double.refusals() == []
