"""The reconnect ladder: per request, visible, told to the model, and never a tool twice."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import Abort, RequestEnd, Text, ToolCallOutput, user_text
from penguin_harness.contracts import CallDelta, Outcome, TextDelta
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say
from penguin_harness.omnimessage import OmniMessage
from penguin_harness.trace import read_lines
from tests.engine.test_context import assert_legal
from tests.support import allow, kinds, new_agent, outputs, texts, watched

RESET = fail("retryable", "network", "reset")


def ends(messages: list[OmniMessage]) -> list[RequestEnd]:
    return [message.payload for message in messages if isinstance(message.payload, RequestEnd)]


async def test_a_failure_is_visible_with_its_attempt_and_wait(tmp_path: Path) -> None:
    """B085."""
    model = Script([[RESET], [RESET], [say("ok")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run()
    assert [(end.attempt, end.retry_in_ms, end.status) for end in ends(seen)] == [
        (1, 2000, "retryable"),
        (2, 4000, "retryable"),
        (3, None, "completed"),
    ]


async def test_the_ladder_ends_and_the_last_record_says_so(tmp_path: Path) -> None:
    model = Script([[RESET]] * 6 + [[say("ok")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run()
        assert len(model.requests) == 6
        assert ends(seen)[-1] == RequestEnd("retryable", "network", "reset", attempt=6)
        assert seen[-1].payload == ends(seen)[-1]
        assert texts(await session.run("again")) == ["ok"]


async def test_the_wait_is_really_waited(tmp_path: Path) -> None:
    model = Script([[fail("retryable", "network", "slow down", retry_after_ms=80)], [say("ok")]])
    async with watched(tmp_path, model) as session:
        started = time.monotonic()
        async for message in session.start():
            session.see(message)
        assert time.monotonic() - started >= 0.08
    assert texts(session.stream) == ["ok"]


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(RESET, "network"), (ValueError("a bug in the adapter"), "network"), (CallDelta(7, "{}"), "malformed")],
    ids=["drop", "exception", "malformed"],
)
async def test_whatever_breaks_an_attempt_is_tried_again(tmp_path: Path, outcome: Any, code: str) -> None:
    model = Script([[TextDelta("Half an ans"), outcome], [say("The whole answer.")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run()
    assert ends(seen)[0].error_code == code
    assert texts(seen) == ["Half an ans", "The whole answer."]
    first, told = model.requests[1].messages
    assert first == Text("user", "go")
    assert isinstance(told, Text)
    assert told.text.startswith("[turn_retried]")
    assert told.text.count("Half an ans") == 1


async def test_an_empty_answer_is_not_tried_again_with_the_identical_request(tmp_path: Path) -> None:
    model = Script([[Outcome("retryable", "malformed", "empty response")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        await session.run()
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert "empty response" in str(second.messages[-1])


async def test_finished_tools_never_run_again(tmp_path: Path) -> None:
    """B078: their outputs are told, also after a resume from a Trace that ends in the middle of it."""
    ran: list[str] = []

    def effect(name: str) -> str:
        """Leave a mark."""
        ran.append(name)
        return f"marked {name}"

    gate = asyncio.Event()
    turns: list[list[ScriptItem]] = [
        [call("effect", id="a", name="one"), gate, RESET],
        [call("effect", id="b", name="two")],
        [RESET],
        [say("done")],
    ]
    model = Script(turns)
    async with watched(tmp_path, model, [effect]) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, ToolCallOutput):
                gate.set()
            run.retry_now()
    assert ran == ["one", "two"]
    assert "marked one" in str(model.requests[1].messages[-1])
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert_legal(after.messages)
    lines = list(read_lines(session.session.trace_path))
    middle = next(number for number, line in enumerate(lines) if b'"retry_in_ms"' in line)
    session.session.trace_path.write_bytes(b"".join(line + b"\n" for line in lines[: middle + 2]))
    resumed_model = Script([[say("ok")]])
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session.session_id, model=resumed_model, tools=[effect]) as resumed:
        async for _ in resumed.run([user_text("go on")], approve=allow):
            pass
    assert ran == ["one", "two"]
    assert_legal(resumed_model.requests[0].messages)
    assert "marked one" in str(resumed_model.requests[0].messages)


@pytest.mark.parametrize("delay", [0.0, 0.05])
async def test_an_abort_in_the_wait_says_what_it_interrupted(tmp_path: Path, delay: float) -> None:
    """B090: at once, also when the wait was only just announced, and the session goes on."""
    model = Script([[RESET], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        started = 0.0
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd):
                asyncio.get_running_loop().call_later(delay, run.abort)
                started = time.monotonic()
        assert time.monotonic() - started < 1.0
        assert session.stream[-1].payload == Abort("backoff_interrupted")
        assert texts(await session.run("again")) == ["ok"]


async def test_impatience_without_a_wait_changes_nothing(tmp_path: Path) -> None:
    model = Script([[say("a"), call("read_file", path=".")], [say("b")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            assert not run.retry_now()
        assert not run.retry_now()
    assert "abort" not in kinds(session.stream)
    assert outputs(session.stream)
