"""Whole sessions over real HTTP against the strict provider double."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness import ImageUrl, PartialToolCall, RequestEnd, Text, Thinking, ToolCall, user_image, user_text
from penguin_harness.omnimessage import OmniMessage
from tests.double.chat.build import (
    EACH_BYTE,
    MODEL,
    Delivery,
    Endpoint,
    call,
    done,
    error,
    fails,
    finish,
    part,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.client import Double
from tests.double.steps import comment, cut, event, gate, raw, stall
from tests.support import Watched, allow, assert_law_1, kinds, new_agent, outputs, texts, watched

KEY = "sk-test-123456"


@asynccontextmanager
async def against(double: Double, folder: Path, *turns: Any, **endpoint: Any) -> AsyncGenerator[Watched]:
    """A session whose model is the double."""
    folder.mkdir(parents=True, exist_ok=True)
    double.load(script(*turns, endpoint=Endpoint(key=KEY, reasoning_fields=("reasoning_content",), **endpoint)))
    options: dict[str, Any] = {"provider": "custom", "model_id": "test-model", "base_url": double.url, "api_key": KEY}
    async with watched(folder, None, **options) as session:
        yield session


def bodies(double: Double) -> list[bytes]:
    """What the double was sent, byte for byte."""
    return [request.body for request in double.requests()]


def completes(messages: list[OmniMessage]) -> list[Any]:
    payloads = (message.payload for message in messages)
    return [payload for payload in payloads if isinstance(payload, Text | Thinking | ToolCall)]


TASK = (
    turn(
        thinking("I think 日本語 first."),
        text("Let me look — 👩‍💻."),
        call("exec_command", {"command": "echo 'héllo 🐧'"}, id="a", parts=4),
        call("exec_command", {"command": "printf two"}, id="b", parts=2),
    ),
    turn(text("It says hello.")),
)


async def test_a_task_runs_and_every_request_is_accepted(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, *TASK) as session:
        seen = await session.run("look")
    assert outputs(seen) == {"a": ("héllo 🐧\n", "completed"), "b": ("two", "completed")}
    assert (double.refusals(), double.left()) == ([], 0)
    second = json.loads(bodies(double)[1])
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert second["messages"][2]["reasoning_content"] == "I think 日本語 first."


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8), newline=st.sampled_from(["\n", "\r\n", "\r"]))
async def test_any_chunking_gives_the_same_messages(
    tmp_path: Path, double: Double, sizes: list[int], newline: Any
) -> None:
    """B062, B063, B066: framing does not depend on network reads, nor on how lines end."""
    delivery = Delivery(sizes=tuple(sizes), newline=newline)
    cut_up = tuple(turn(*one.steps, delivery=delivery) for one in TASK)
    folder = tmp_path / str(abs(hash((tuple(sizes), newline))))
    async with against(double, folder, *cut_up) as session:
        seen = await session.run("look")
    assert completes(seen) == [
        Thinking("assistant", "I think 日本語 first.", fidelity=completes(seen)[0].fidelity),
        Text("assistant", "Let me look — 👩‍💻."),
        ToolCall("assistant", "exec_command", completes(seen)[2].arguments, "a"),
        ToolCall("assistant", "exec_command", '{"command": "printf two"}', "b"),
        Text("assistant", "It says hello."),
    ]
    for tool_call in (one for one in completes(seen) if isinstance(one, ToolCall)):
        pieces = [
            payload.arguments
            for payload in (message.payload for message in seen)
            if isinstance(payload, PartialToolCall) and payload.tool_call_id == tool_call.tool_call_id
        ]
        assert "".join(pieces) == tool_call.arguments


async def test_one_byte_at_a_time(tmp_path: Path, double: Double) -> None:
    single = tuple(turn(*one.steps, delivery=Delivery(sizes=EACH_BYTE)) for one in TASK)
    async with against(double, tmp_path, *single) as session:
        assert texts(await session.run("look")) == ["Let me look — 👩‍💻.", "It says hello."]


NOISE = (comment("keep-alive"), event({"type": "ping"}), event({"choices": None}), event({}))


async def test_heartbeats_of_any_shape_are_no_content(tmp_path: Path, double: Double) -> None:
    """B060."""
    pieces = [piece for letter in "whole" for piece in (text(letter), *NOISE)]
    async with against(double, tmp_path, turn(*pieces)) as session:
        assert texts(await session.run("look")) == ["whole"]


FAULTS: list[Any] = [
    pytest.param(turn(text("half"), cut("reset")), "network", id="reset"),
    pytest.param(turn(text("half"), cut("end")), "malformed", id="B051-clean-end"),
    pytest.param(turn(text("half"), cut("close")), "network", id="cut-in-the-body"),
    pytest.param(turn(text("half"), raw(b'data: {"choices": [{"del\n\n'), done()), "malformed", id="B059-broken-json"),
    pytest.param(turn(text("half"), error("Overloaded", code="overloaded_error")), "network", id="B056-error-in-200"),
    pytest.param(fails(500, "upstream failed"), "network", id="500"),
    pytest.param(fails(429, "slow down", headers={"Retry-After": "3"}), "network", id="429"),
    pytest.param(turn(finish("stop")), "malformed", id="empty"),
]


@pytest.mark.parametrize(("fault", "code"), FAULTS)
async def test_a_fault_is_told_and_tried_again(tmp_path: Path, double: Double, fault: Any, code: str) -> None:
    """B003, B080: the failed attempt is closed and marked, the next one is a new segment; nothing is told twice."""
    async with against(double, tmp_path, fault, reply("ok")) as session:
        seen = await session.run("first")
        failed, completed = [m.payload for m in seen if isinstance(m.payload, RequestEnd)]
        assert (failed.status, failed.error_code, failed.attempt) == ("retryable", code, 1)
        assert failed.error_message
        assert failed.retry_in_ms == (3000 if "slow" in failed.error_message else 2000)
        assert (completed.status, completed.attempt) == ("completed", 2)
        assert texts(seen)[-1] == "ok"
    assert double.refusals() == []


async def test_a_definitive_refusal_is_not_tried_again(tmp_path: Path, double: Double) -> None:
    """B044: never the identical request once more."""
    async with against(double, tmp_path, fails(400, "no such parameter"), reply("ok")) as session:
        end = (await session.run("first"))[-1].payload
        assert isinstance(end, RequestEnd)
        assert (end.status, end.error_code, end.retry_in_ms) == ("fatal", "rejected", None)
        assert "no such parameter" in (end.error_message or "")
        assert texts(await session.run("second")) == ["ok"]
    assert double.refusals() == []


async def test_a_call_that_was_cut_by_an_error_never_runs(tmp_path: Path, double: Double) -> None:
    """B057."""
    half = part(0, '{"command": "touch made', id="a", name="exec_command")
    async with against(double, tmp_path, turn(half, error("Overloaded")), reply("ok")) as session:
        seen = await session.run("first")
        assert outputs(seen) == {}
    assert not (tmp_path / "work" / "made").exists()
    assert double.refusals() == []


async def test_a_refused_key_is_told_without_the_key(tmp_path: Path, double: Double) -> None:
    """B171: although the provider echoes it."""
    double.load(script(reply("never"), endpoint=Endpoint(key="another")))
    options: dict[str, Any] = {"provider": "custom", "model_id": "test-model", "base_url": double.url, "api_key": KEY}
    async with watched(tmp_path, None, **options) as session:
        seen = await session.run("hi")
        end = seen[-1].payload
        assert isinstance(end, RequestEnd)
        assert (end.status, end.error_code) == ("fatal", "auth")
        assert KEY.encode() not in session.session.trace_path.read_bytes()
    assert [refusal.status for refusal in double.refusals()] == [401]


async def test_an_unreachable_host_names_itself_and_the_way_out(tmp_path: Path) -> None:
    options: dict[str, Any] = {"provider": "custom", "model_id": "m", "base_url": "http://127.0.0.1:9/v1"}
    async with watched(tmp_path, None, api_key=KEY, **options) as session:
        end = (await session.run("hi"))[-1].payload
    assert isinstance(end, RequestEnd)
    assert end.error_code == "network"
    assert "127.0.0.1:9" in (end.error_message or "")
    assert "base_url" in (end.error_message or "")


async def test_an_interruption_closes_the_connection(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, turn(text("half"), stall()), reply("ok")) as session:
        run = session.start("first")
        async for message in run:
            session.see(message)
            if getattr(message.payload, "text", ""):
                run.abort()
        [gone] = await double.finished(1)
        assert gone.outcome == "gone"
        assert texts(await session.run("second")) == ["ok"]
    assert double.refusals() == []


async def test_text_streams_as_it_comes(tmp_path: Path, double: Double) -> None:
    async with against(double, tmp_path, turn(text("first "), gate("g"), text("second"))) as session:
        seen = 0
        async for message in session.start("hi"):
            session.see(message)
            if getattr(message.payload, "text", "") == "first ":
                await double.at_gate("g")
                double.release("g")
                seen += 1
        assert seen == 1
        assert texts(session.stream) == ["first second"]


async def test_a_resumed_session_sends_the_same_bytes(tmp_path: Path, double: Double) -> None:
    """Law 2, byte for byte."""

    async def conversation(*, stop: bool) -> list[bytes]:
        double.reset()
        takes_reasoning = Endpoint(reasoning_fields=("reasoning_content",))
        double.load(script(*TASK, reply("two"), reply("three"), endpoint=takes_reasoning))
        agent = await new_agent(tmp_path)
        options: dict[str, Any] = {"provider": "custom", "model_id": MODEL, "base_url": double.url, "api_key": KEY}
        session = await agent.create_session(workspace=tmp_path, **options)
        for word in ("one", "two", "three"):
            async for _ in session.run([user_text(word)], approve=allow):
                assert_law_1(session)
            if stop:
                await session.close()
                session = await agent.resume_session(session.session_id, base_url=double.url, api_key=KEY)
        await session.close()
        assert double.refusals() == []
        return bodies(double)

    live = await conversation(stop=False)
    assert len(live) == 4
    assert await conversation(stop=True) == live


async def test_an_image_reaches_the_model(tmp_path: Path, double: Double) -> None:
    pixel = "data:image/png;base64,iVBORw0KGgo="
    async with against(double, tmp_path, reply("A pixel.")) as session:
        session.inputs += 2
        seen = await session.read(session.session.run([user_text("What is it?"), user_image(pixel)]))
        assert texts(seen) == ["A pixel."]
        assert any(isinstance(payload, ImageUrl) for payload in session.session.history)
    assert pixel.encode() in bodies(double)[0]
    assert double.refusals() == []


async def test_bad_calls_in_the_history_are_still_accepted(tmp_path: Path, double: Double) -> None:
    """B068, B069, B072: broken arguments, an unknown tool with a strange name, blank arguments, in one turn."""
    bad = turn(
        part(0, '{"command": "a', id="a", name="exec_command"),
        part(1, "{}", id="b", name="list sites!"),
        part(2, "", id="c", name="read_file"),
    )
    async with against(double, tmp_path, bad, reply("I see.")) as session:
        seen = await session.run("go")
        assert {stop for _, stop in outputs(seen).values()} == {"fatal"}
        assert texts(seen) == ["I see."]
        assert "approval_decision" not in kinds(seen)
    assert double.refusals() == []


async def test_a_context_that_the_provider_finds_too_long_is_summarized_and_the_work_goes_on(
    tmp_path: Path, double: Double
) -> None:
    """B083, B130: one compaction, one new try; the question that was not answered stands behind the summary."""
    too_long = fails(400, "This model's maximum context length is 8192 tokens, your messages have 9000.")
    summary = turn(text("[summary]We counted to one.[/summary]"), context="new")
    async with against(double, tmp_path, reply("one"), too_long, summary, turn(text("two"), context="new")) as session:
        await session.run("count")
        session.forget_stream()
        seen = await session.run("go on counting")
        assert texts(seen)[-1] == "two"
        assert kinds(seen).count("compaction_end") == 1
        assert session.session.trace_path.name.endswith("_002.jsonl")
    last = json.loads(bodies(double)[-1])["messages"]
    assert [message["content"] for message in last[1:]] == [
        "[context_summary]\nWe counted to one.\n[/context_summary]",
        "go on counting",
    ]
    assert double.refusals() == []
