"""Turns: what the model says, which calls run, what it is told, and that all of it lies in the Trace."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import InputError, SessionError, ToolCall, ToolCallOutput, user_image, user_text
from penguin_harness.contracts import CallDelta, ModelItem, Outcome, Request, TextDelta
from penguin_harness.llm.script import Script, call, fail, say, think
from penguin_harness.omnimessage import (
    ApprovalDecision,
    ImageUrl,
    OmniMessage,
    RequestEnd,
    Text,
    TokenCounts,
    TokenUsage,
    assistant_text,
    decode,
    is_partial,
    request_begin,
    tool_call_output,
)
from tests.support import kinds, outputs, texts, until, watched


async def test_a_text_answer_streams_and_lies_in_the_trace(tmp_path: Path) -> None:
    model = Script([[think("hm"), say("Hello there, this is streamed.")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run("hi")
        assert texts(seen) == ["Hello there, this is streamed."]
        assert kinds(seen) == ["tool_list_ready", "request_begin", "thinking", "text", "token_usage", "request_end"]
        assert sum(map(is_partial, seen)) > 4
    assert model.closed


async def test_a_tool_really_runs_and_its_output_is_the_next_input(tmp_path: Path) -> None:
    model = Script([[call("write_file", path="made.txt", content="by the agent\n")], [say("Done.")]])
    async with watched(tmp_path, model) as session:
        await session.run()
        assert (tmp_path / "work" / "made.txt").read_text(encoding="utf-8") == "by the agent\n"
    *_, tool_call, output = model.requests[1].messages
    assert isinstance(tool_call, ToolCall)
    assert isinstance(output, ToolCallOutput)
    assert output.tool_call_id == tool_call.tool_call_id


async def test_parallel_calls_run_together_and_are_told_in_call_order(tmp_path: Path) -> None:
    """B012, and the order guarantee: whatever order they finish in, the next request holds the call order."""
    second_done = asyncio.Event()

    async def first() -> str:
        """Wait for the second."""
        await second_done.wait()
        return "first"

    async def second() -> str:
        """Let the first go on."""
        second_done.set()
        return "second"

    def broken() -> str:
        """Raise."""
        raise ConnectionError("no route")

    model = Script([[call("first", id="a"), call("second", id="b"), call("broken", id="c")], [say("ok")]])
    async with watched(tmp_path, model, [first, second, broken]) as session:
        seen = await session.run()
    finished = list(outputs(seen))
    assert finished.index("b") < finished.index("a")
    told = [payload for payload in model.requests[1].messages if isinstance(payload, ToolCallOutput)]
    assert [(one.tool_call_id, one.output, one.stop_reason) for one in told] == [
        ("a", "first", "completed"),
        ("b", "second", "completed"),
        ("c", "ConnectionError: no route", "fatal"),
    ]


async def test_an_allowed_call_runs_while_the_model_still_streams(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def begin() -> str:
        """Say that it runs."""
        started.set()
        return "begun"

    model = Script([[call("begin", id="a"), say("text behind it"), started, say(" and more")], [say("ok")]])
    async with watched(tmp_path, model, [begin]) as session:
        seen = await session.run()
    order = kinds(seen)
    assert order.index("approval_decision") < order.index("request_end")


@pytest.mark.parametrize("style", ["plain", "async"])
async def test_approvals_are_asked_one_at_a_time_in_call_order(tmp_path: Path, style: str) -> None:
    """B107: each decision reaches its own call."""
    asked: list[str] = []
    open_questions = 0

    def decide(tool_call: ToolCall) -> Any:
        nonlocal open_questions
        open_questions += 1
        assert open_questions == 1
        asked.append(tool_call.tool_call_id)
        open_questions -= 1
        return "deny" if tool_call.tool_call_id == "b" else "allow"

    async def decide_later(tool_call: ToolCall) -> Any:
        await asyncio.sleep(0)
        return decide(tool_call)

    def touch(name: str) -> str:
        """Make a file."""
        (tmp_path / name).touch()
        return name

    model = Script([[call("touch", id=name, name=name) for name in "abc"], [say("ok")]])
    async with watched(tmp_path, model, [touch]) as session:
        seen = await session.run(approve=decide if style == "plain" else decide_later)
    assert asked == ["a", "b", "c"]
    assert outputs(seen)["b"] == ("Tool call denied by user.", "aborted")
    assert [(tmp_path / name).exists() for name in "abc"] == [True, False, True]


def raising(_: ToolCall) -> Any:
    raise ValueError("no idea")


def answering(word: Any) -> Any:
    def approve(_: ToolCall) -> Any:
        return word

    return approve


@pytest.mark.parametrize(
    ("approve", "told"),
    [
        (None, "Tool call denied: this run has no approval callback."),
        (raising, "Tool call denied: the approval callback failed with ValueError: no idea"),
        (answering(None), "Tool call denied by user."),
        (answering("forbidden"), "Tool call denied by user."),
        (answering(True), "Tool call denied by user."),
    ],
    ids=["none", "raises", "garbage", "not-a-persons-word", "true"],
)
async def test_anything_but_allow_denies(tmp_path: Path, approve: Any, told: str) -> None:
    model = Script([[call("exec_command", id="a", command=f"touch {tmp_path}/made")], [say("Fine.")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run(approve=approve)
    assert not (tmp_path / "made").exists()
    assert outputs(seen) == {"a": (told, "aborted")}
    assert [m.payload.decision for m in seen if isinstance(m.payload, ApprovalDecision)] == ["deny"]


async def test_a_question_holds_up_neither_the_stream_nor_running_tools(tmp_path: Path) -> None:
    """B106: a plain callback that blocks does so in its thread."""
    answer, tool_ran = threading.Event(), threading.Event()

    def slow(tool_call: ToolCall) -> Any:
        if tool_call.tool_call_id == "b":
            assert answer.wait(10)
        return "allow"

    def work() -> str:
        """Work."""
        tool_ran.set()
        return "worked"

    model = Script([[call("work", id="a"), call("work", id="b"), say("still streaming")], [say("ok")]])
    async with watched(tmp_path, model, [work]) as session:
        run = session.start(approve=slow)
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd) and not answer.is_set():
                await until(tool_ran.is_set)
                answer.set()
    assert set(outputs(session.stream)) == {"a", "b"}


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("nope", "{}", "exec_command, input_command, read_file, edit_file, write_file"),
        ("read_file", '{"path": "a', "JSON"),
        ("read_file", "[1]", "object"),
        ("read_file", '{"pth": "a"}', "path"),
    ],
    ids=["B072-unknown-tool", "B068-broken-json", "B068-not-an-object", "wrong-field"],
)
async def test_a_call_that_cannot_run_is_answered_and_nobody_is_asked(
    tmp_path: Path, name: str, arguments: str, told: str
) -> None:
    asked: list[ToolCall] = []
    model = Script([[CallDelta(0, arguments, "a", name)], [say("I see.")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run(approve=asked.append)
    output, stop_reason = outputs(seen)["a"]
    assert (told in output, stop_reason, asked) == (True, "fatal", [])
    assert not any(isinstance(message.payload, ApprovalDecision) for message in seen)
    assert texts(seen) == ["I see."]


async def test_a_call_without_arguments_gets_an_empty_object(tmp_path: Path) -> None:
    """B067: and the stored string stays as it came."""

    def ping() -> str:
        """Answer."""
        return "pong"

    model = Script([[CallDelta(0, "", "a", "ping")], [say("ok")]])
    async with watched(tmp_path, model, [ping]) as session:
        seen = await session.run()
    assert outputs(seen) == {"a": ("pong", "completed")}
    assert [payload.arguments for payload in model.requests[1].messages if isinstance(payload, ToolCall)] == [""]


async def test_equal_ids_from_the_provider_lose_nothing(tmp_path: Path) -> None:
    """B013, B014, B017: four rounds with one id: four calls, four outputs, each at its place."""

    def count(n: int) -> int:
        """Give it back."""
        return n

    model = Script([*([call("count", id="X", n=n)] for n in range(4)), [say("ok")]])
    async with watched(tmp_path, model, [count]) as session:
        await session.run()
    told = [payload for payload in model.requests[-1].messages if isinstance(payload, ToolCallOutput)]
    assert [(one.tool_call_id, one.output) for one in told] == [("X", "0"), ("X#2", "1"), ("X#3", "2"), ("X#4", "3")]


async def test_usage_adds_up_and_is_estimated_where_nothing_is_reported(tmp_path: Path) -> None:
    """B049, B050."""
    usage = TokenCounts.of(cache_read=5, cache_write=10, output=100)
    reported = Outcome("completed", usage=usage)
    model = Script([[say("one"), reported], [say("two"), reported], [say("three" * 100)]])
    async with watched(tmp_path, model) as session:
        await session.run()
        await session.run()
        assert session.session.usage.output == 200
        seen = await session.run()
    [estimated] = [message.payload for message in seen if isinstance(message.payload, TokenUsage)]
    assert estimated.estimated
    assert estimated.request.output == 125
    assert estimated.session.output == 325


async def test_the_turn_limit_ends_the_run_and_what_is_unsent_goes_with_the_next(tmp_path: Path) -> None:
    calls = [[call("read_file", path=".")] for _ in range(3)]
    model = Script([*calls, [say("done")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run(max_turns=2)
        assert texts(seen, "user") == ["The run stopped at its limit of 2 turns; the task may be unfinished."]
        assert kinds(seen)[-1] == "text"
        seen = await session.run(None)
        assert texts(seen) == ["done"]
    assert [len([p for p in request.messages if isinstance(p, ToolCallOutput)]) for request in model.requests] == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("code", ["auth", "rejected", "unsupported"])
async def test_a_request_that_is_refused_ends_the_run_and_not_the_session(tmp_path: Path, code: Any) -> None:
    """Errors are messages: the failed end is the final record, and the next run says what had been produced."""
    model = Script([[TextDelta("Half an ans"), fail("fatal", code, "refused")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run("first")
        assert seen[-1].payload == RequestEnd("fatal", code, "refused", attempt=1)
        await session.run("second")
    first, told, second = model.requests[1].messages
    assert (first, second) == (Text("user", "first"), Text("user", "second"))
    assert isinstance(told, Text)
    assert told.text.count("Half an ans") == 1


async def test_an_attempt_that_failed_lets_its_tools_end_and_asks_no_more(tmp_path: Path) -> None:
    """B003, B079: one output for each whole call, also when the request broke off; none for the one that was cut."""
    ran: list[str] = []

    def work(name: str) -> str:
        """Work."""
        ran.append(name)
        return name

    release = asyncio.Event()

    async def decide(tool_call: ToolCall) -> Any:
        if tool_call.tool_call_id == "b":
            await release.wait()
        return "allow"

    steps = [call("work", id="a", name="a"), call("work", id="b", name="b"), CallDelta(2, '{"na', "c", "work")]
    gate = asyncio.Event()
    model = Script([[*steps, gate, fail("retryable", "network", "reset")], [say("ok")]])
    async with watched(tmp_path, model, [work]) as session:
        run = session.start(approve=decide)
        async for message in run:
            session.see(message)
            if isinstance(message.payload, ToolCallOutput):
                gate.set()
    assert ran == ["a"]
    found = outputs(session.stream)
    assert found["a"] == ("a", "completed")
    assert found["b"][1] == "aborted"
    assert "c" not in found


async def test_a_call_cut_by_the_output_limit_does_not_run(tmp_path: Path) -> None:
    """B074, B076, B077: the text shows the cut, the model is told, and three in a row end the run."""
    cut = [
        say("I write it."),
        CallDelta(0, '{"path":"a","content":"abc', "a", "write_file"),
        Outcome("completed", "output_limit"),
    ]
    model = Script([cut, cut, cut, [say("never asked")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run()
    assert len(model.requests) == 3
    assert not (tmp_path / "work" / "a").exists()
    assert {stop for _, stop in outputs(seen).values()} == {"fatal"}
    assert all("smaller pieces" in output for output, _ in outputs(seen).values())
    assert texts(seen, "user") == ["The run stopped: 3 answers in a row were cut by the output limit."]


async def test_images_and_several_inputs_are_kept_apart(tmp_path: Path) -> None:
    model = Script([[say("I see.")]])
    async with watched(tmp_path, model) as session:
        session.inputs += 3
        given = [user_text("look"), user_image("data:image/png;base64,AA"), user_text("at this")]
        await session.read(session.session.run(given))
    assert model.requests[0].messages == (
        Text("user", "look"),
        ImageUrl("user", "data:image/png;base64,AA"),
        Text("user", "at this"),
    )


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (user_text("\n\t "), r"input 1 is a blank text: '\\n\\t '"),
        (user_text("\u200b"), "blank"),
        (user_image(" "), "without a URL"),
        (assistant_text("hi"), "input 1 is a text of the assistant"),
        (tool_call_output("x", "c"), "input 1 is a tool_call_output of the user"),
        (request_begin(), "input 1 is a request_begin"),
    ],
    ids=["B027-blank", "B027-invisible", "no-url", "assistant", "output", "event"],
)
async def test_what_no_run_takes_is_refused_before_anything_is_written(
    tmp_path: Path, message: OmniMessage, told: str
) -> None:
    model = Script([[say("ok")]])
    async with watched(tmp_path, model) as session:
        with pytest.raises(InputError, match=told):
            session.session.run([message])
        assert not session.session.trace_path.exists()
        await session.run("hi")


async def test_an_empty_run_needs_something_unsent(tmp_path: Path) -> None:
    model = Script([[fail("fatal", "auth", "no")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        with pytest.raises(InputError, match="nothing to go on with"):
            session.session.run([])
        await session.run("hi")
        assert texts(await session.run(None)) == ["ok"]
        with pytest.raises(InputError, match="nothing to go on with"):
            session.session.run([])


async def test_one_run_at_a_time(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    model = Script([[say("a"), go_on], [say("b")]])
    async with watched(tmp_path, model) as session:
        run = session.start("first")
        with pytest.raises(SessionError, match="has a run under way"):
            session.session.run([user_text("second")])
        go_on.set()
        await session.read(run)
        await session.run("second")
    assert texts(session.stream) == ["a", "b"]
    with pytest.raises(SessionError, match="is closed"):
        session.session.run([user_text("third")])


async def test_the_lines_are_the_bytes_of_the_trace(tmp_path: Path) -> None:
    model = Script([[say("hello"), call("read_file", path=".")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        lines = [line async for line in session.start("hi").lines()]
        recorded = session.session.trace_path.read_bytes().splitlines()
        assert [line for line in lines if b'"partial_' not in line] == recorded[2:]
        for line in lines:
            session.see(decode(line))


async def test_a_slow_reader_slows_the_producers_down(tmp_path: Path) -> None:
    produced = 0

    class Fast(Script):
        async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
            nonlocal produced
            for _ in range(5000):
                produced += 1
                yield TextDelta("x")
            yield Outcome("completed")

    async with watched(tmp_path, Fast([])) as session:
        run = session.start("hi")
        await until(lambda: produced > 100)
        for _ in range(50):
            await asyncio.sleep(0)
        assert produced < 400
        assert len(texts(await session.read(run))[0]) == 5000


async def test_time_does_not_go_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Script([[say("a")], [say("b")]])
    async with watched(tmp_path, model) as session:
        await session.run("one")
        real = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600_000_000_000)
        seen = await session.run("two")
    assert all(later.timestamp >= session.stream[0].timestamp for later in seen)
