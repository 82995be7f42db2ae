"""A call from prepare to its complete output: what a tool returns, raises, streams, and how it is closed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from penguin_harness.contracts import Invocation, OutputPayload, Tools
from penguin_harness.errors import ToolDefinitionError, ToolFailed
from penguin_harness.omnimessage import PartialToolCallOutput, ToolCallOutput
from penguin_harness.tools import Limits, Tool, ToolContext, ToolResult, tool
from tests.tools.support import CALL_ID, Record, call, check_segment, make_context, make_toolbox, run, until

PNG = "data:image/png;base64,iVBORw0KGgo="


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def returns(what: str) -> object:
    """Return something."""
    values: dict[str, object] = {
        "text": "hello",
        "none": None,
        "empty": "",
        "blank": " \n",
        "json": {"a": [1, None], "b": 1.5},
        "surrogate": "a\ud83d b",
        "nested surrogate": {"a": "\ud83d"},
        "halves": "\ud83d\ude00",
        "unencodable": object(),
        "image": ToolResult(images=(PNG,)),
        "all": ToolResult("text", (PNG, PNG), "[note]"),
        "failed": ToolResult("text", note="[note]", stop_reason="fatal"),
    }
    return values[what]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("text", ToolCallOutput("user", "hello", CALL_ID)),
        ("none", ToolCallOutput("user", "[no output]", CALL_ID)),
        ("empty", ToolCallOutput("user", "[no output]", CALL_ID)),
        ("blank", ToolCallOutput("user", " \n[no output]", CALL_ID)),
        ("json", ToolCallOutput("user", '{"a":[1,null],"b":1.5}', CALL_ID)),
        ("surrogate", ToolCallOutput("user", "a\ufffd b", CALL_ID)),
        ("nested surrogate", ToolCallOutput("user", '{"a": "\ufffd"}', CALL_ID)),
        ("halves", ToolCallOutput("user", "\U0001f600", CALL_ID)),
        ("image", ToolCallOutput("user", "[1 image(s)]", CALL_ID, (PNG,))),
        ("all", ToolCallOutput("user", "text\n[note]", CALL_ID, (PNG, PNG))),
        ("failed", ToolCallOutput("user", "text\n[note]", CALL_ID, stop_reason="fatal")),
        (
            "unencodable",
            ToolCallOutput(
                "user", "TypeError: Encoding objects of type object is unsupported", CALL_ID, stop_reason="fatal"
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_a_tool_returns_becomes_an_output_that_is_never_empty(
    tmp_path: Path, what: str, expected: ToolCallOutput
) -> None:
    """B026 and B166."""
    assert await run(make_toolbox(tmp_path, returns), call("returns", what=what)) == expected


async def test_a_plain_function_runs_and_its_segment_is_whole(tmp_path: Path) -> None:
    record = Record()
    invocation = make_toolbox(tmp_path, add).prepare(call("add", a=2))
    assert not isinstance(invocation, str)
    await invocation.run(record.emit)
    assert record.payloads == [
        PartialToolCallOutput("user", "start", "", CALL_ID),
        PartialToolCallOutput("user", "delta", "3", CALL_ID),
        PartialToolCallOutput("user", "stop", "", CALL_ID),
        ToolCallOutput("user", "3", CALL_ID),
    ]
    assert invocation.abandon() == ()


def test_it_keeps_the_contracts_and_the_order_of_the_tools(tmp_path: Path) -> None:
    box: Tools = make_toolbox(tmp_path, returns, add)
    invocation: Invocation | str = box.prepare(call("add", a=1))
    assert not isinstance(invocation, str)
    assert invocation.permission == "rw"
    assert [schema.name for schema in box.schemas] == ["returns", "add"]
    assert b'"parameters":{"type":"object"' in msgspec.json.encode(box.schemas)


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError, match="'add'"):
        make_toolbox(tmp_path, add, tool(name="add")(returns))


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError


async def raises(what: str) -> NoReturn:
    """Fail."""
    match what:
        case "failed":
            raise ToolFailed("No such city.")
        case "chained":
            try:
                raise OSError(111, "Connection refused")
            except OSError as error:
                raise RuntimeError("fetch failed") from error
        case "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(raises("plain"))
        case "exit":
            raise SystemExit(3)
        case "silent":
            raise AssertionError
        case "unprintable":
            raise Unprintable
        case "cancelled":
            raise asyncio.CancelledError
        case _:
            pass
    raise KeyError("x\ud800")


@pytest.mark.parametrize(
    ("what", "output"),
    [
        ("failed", "No such city."),
        ("plain", r"KeyError: 'x\ud800'"),
        ("chained", "RuntimeError: fetch failed (caused by ConnectionRefusedError: [Errno 111] Connection refused)"),
        ("group", r"ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception) (caused by KeyError: 'x\ud800')"),
        ("exit", "SystemExit: 3"),
        ("silent", "AssertionError"),
        ("unprintable", "Unprintable: <unprintable>"),
        ("cancelled", "CancelledError: the tool was cancelled"),
    ],
    ids=lambda value: value.split(":")[0],
)
async def test_what_a_tool_raises_is_a_fatal_output(tmp_path: Path, what: str, output: str) -> None:
    expected = ToolCallOutput("user", output, CALL_ID, stop_reason="fatal")
    assert await run(make_toolbox(tmp_path, raises), call("raises", what=what)) == expected


async def stream(context: ToolContext, end: str = "") -> AsyncIterator[str]:
    """Say a few words."""
    yield "one "
    await context.write("two ")
    yield ""
    yield "\ud83d"
    yield "\ude00"
    if end == "wait":
        await asyncio.Event().wait()
    if end:
        raise ToolFailed(end)


async def test_a_streaming_tool_makes_a_delta_of_each_piece(tmp_path: Path) -> None:
    record = Record()
    invocation = make_toolbox(tmp_path, stream).prepare(call("stream"))
    assert not isinstance(invocation, str)
    await invocation.run(record.emit)
    assert record.output().output == "one two \U0001f600"
    assert [each.output for each in record.payloads[1:-2]] == ["one ", "two ", "\U0001f600"]


async def test_an_error_after_some_output_stands_behind_it(tmp_path: Path) -> None:
    output = await run(make_toolbox(tmp_path, stream), call("stream", end="broken"))
    assert (output.output, output.stop_reason) == ("one two \U0001f600\nbroken", "fatal")


async def test_a_tool_over_its_limit_is_stopped(tmp_path: Path) -> None:
    box = make_toolbox(tmp_path, tool(timeout=0.05)(stream))
    output = await run(box, call("stream", end="wait"))
    assert output.output == "one two \U0001f600\n[timed out after 0.05 s]"
    assert output.stop_reason == "fatal"


async def test_the_limit_of_the_toolbox_holds_for_the_others(tmp_path: Path) -> None:
    box = make_toolbox(tmp_path, stream, limits=Limits(timeout=0.05))
    assert "[timed out after 0.05 s]" in (await run(box, call("stream", end="wait"))).output


async def interrupted(box: Tools, record: Record, name: str, said: str, **arguments: object) -> ToolCallOutput:
    """Cancel the call once it has said something; the run returns as if nothing had happened."""
    invocation = box.prepare(call(name, **arguments))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says(said)
    task.cancel()
    await asyncio.wait_for(task, 5)
    return record.output()


async def test_an_interrupted_tool_is_closed_with_what_it_said(tmp_path: Path) -> None:
    """B088."""
    output = await interrupted(make_toolbox(tmp_path, stream), Record(), "stream", "two", end="wait")
    assert output.output == "one two \U0001f600\n[interrupted by the user]"
    assert output.stop_reason == "aborted"


def stubborn(released: asyncio.Event, timeout: float | None = None) -> Tool:
    """A tool that goes on until it is released, whoever cancels it."""

    @tool(name="stubborn", timeout=timeout)
    async def function(context: ToolContext) -> str:
        """Refuse to stop."""
        while not released.is_set():
            try:
                await context.write("still here ")
                await released.wait()
            except asyncio.CancelledError:
                continue
        await context.write("too late")
        return "too late"

    return function


async def test_a_tool_that_does_not_stop_is_closed_for_it_and_then_dropped(tmp_path: Path) -> None:
    released, record = asyncio.Event(), Record()
    box = make_toolbox(tmp_path, stubborn(released), limits=Limits(grace=0.05))
    output = await interrupted(box, record, "stubborn", "still here")
    assert output.output.endswith("\n[interrupted by the user]\n[the tool did not stop: it may still be at work]")
    released.set()
    await box.aclose()
    assert record.output() == output


async def test_an_interruption_outranks_a_limit_that_was_reached_before(tmp_path: Path) -> None:
    released, record = asyncio.Event(), Record()
    box = make_toolbox(tmp_path, stubborn(released, timeout=0.05), limits=Limits(grace=5))
    invocation = box.prepare(call("stubborn"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says("still here still here")
    task.cancel()
    await asyncio.wait_for(task, 2)
    assert record.output().stop_reason == "aborted"
    released.set()
    await box.aclose()


async def test_a_plain_function_that_is_interrupted_may_still_be_at_work(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def block() -> str:
        """Block."""
        begun.set()
        go_on.wait(10)
        return "too late"

    record = Record()
    invocation = make_toolbox(tmp_path, block).prepare(call("block"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await until(begun.is_set)
    task.cancel()
    await asyncio.wait_for(task, 5)
    go_on.set()
    assert record.output().output == "[interrupted by the user]\n[the tool did not stop: it may still be at work]"


async def test_plain_functions_run_in_parallel_and_the_loop_goes_on(tmp_path: Path) -> None:
    """B106."""

    def sleep() -> None:
        """Sleep."""
        time.sleep(0.3)

    gaps: list[float] = []

    async def heartbeat() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    box = make_toolbox(tmp_path, sleep)
    beating = asyncio.create_task(heartbeat())
    begin = time.monotonic()
    await asyncio.gather(*(run(box, call("sleep")) for _ in range(4)))
    taken = time.monotonic() - begin
    beating.cancel()
    assert taken < 0.9
    assert max(gaps) < 0.2


async def test_a_reader_that_is_gone_does_not_hold_up_an_interruption(tmp_path: Path) -> None:
    """Nobody takes the second payload: `abandon` gives what is owed and the run ends without another word."""
    record, blocked = Record(), asyncio.Event()

    async def emit(payload: OutputPayload) -> None:
        if record.payloads:
            blocked.set()
            await asyncio.Event().wait()
        record.payloads.append(payload)

    invocation = make_toolbox(tmp_path, stream).prepare(call("stream", end="wait"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(emit))
    await asyncio.wait_for(blocked.wait(), 5)
    task.cancel()
    await asyncio.wait({task}, timeout=0.05)
    owed = invocation.abandon()
    await asyncio.wait_for(task, 5)
    output = check_segment([*record.payloads, *owed])
    assert (output.output, output.stop_reason) == ("one \n[interrupted by the user]", "aborted")
    assert invocation.abandon() == ()


def test_a_call_that_never_ran_can_be_abandoned(tmp_path: Path) -> None:
    invocation = make_toolbox(tmp_path, add).prepare(call("add", a=1))
    assert not isinstance(invocation, str)
    assert check_segment(list(invocation.abandon())).stop_reason == "aborted"


async def test_a_delivery_that_is_cancelled_goes_on(tmp_path: Path) -> None:
    record, reached, gate = Record(), asyncio.Event(), asyncio.Event()

    async def emit(payload: OutputPayload) -> None:
        if isinstance(payload, PartialToolCallOutput) and payload.event_type == "stop":
            reached.set()
            await gate.wait()
        record.payloads.append(payload)

    invocation = make_toolbox(tmp_path, add).prepare(call("add", a=1))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(emit))
    await asyncio.wait_for(reached.wait(), 5)
    task.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.wait_for(task, 5)
    assert record.output() == ToolCallOutput("user", "2", CALL_ID)


async def test_what_emit_raises_reaches_its_owner(tmp_path: Path) -> None:
    async def emit(_payload: OutputPayload) -> None:
        raise OSError("disk full")

    invocation = make_toolbox(tmp_path, stream).prepare(call("stream", end="wait"))
    assert not isinstance(invocation, str)
    with pytest.raises(OSError, match="disk full"):
        await invocation.run(emit)


async def test_closing_the_toolbox_ends_running_calls(tmp_path: Path) -> None:
    record = Record()
    box = make_toolbox(tmp_path, stream)
    invocation = box.prepare(call("stream", end="wait"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says("two")
    await box.aclose()
    await asyncio.wait_for(task, 5)
    assert record.output().stop_reason == "fatal"


async def test_a_tool_that_only_writes_does_not_stop_the_loop(tmp_path: Path) -> None:
    @tool(timeout=0.1)
    async def babble(context: ToolContext) -> None:
        """Babble."""
        while True:
            await context.write("bla " * 1000)

    output = await run(make_toolbox(tmp_path, babble, limits=Limits(output=5_000, file=10_000)), call("babble"))
    assert output.output.endswith("[timed out after 0.1 s]")


def test_the_scratchpad_is_made_when_it_is_needed(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    assert not (tmp_path / "scratchpad").exists()
    assert context.scratchpad.is_dir()
