"""Leaving a run, however: what is open is closed, nothing is left behind, and the session goes on."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import (
    Abort,
    PartialText,
    RequestEnd,
    Run,
    Session,
    ToolCall,
    ToolCallOutput,
    TraceError,
    user_text,
)
from penguin_harness.contracts import CallDelta, TextDelta
from penguin_harness.llm.script import Script, call, fail, say, think
from penguin_harness.omnimessage import is_partial
from penguin_harness.trace import read_messages
from tests.engine.test_context import assert_legal
from tests.support import Watched, kinds, live_context, new_agent, outputs, quiet, texts, until, watched

RESET = fail("retryable", "network", "reset")


def never() -> asyncio.Event:
    return asyncio.Event()


async def endless() -> str:
    """Never end by itself."""
    await asyncio.Event().wait()
    return "?"


async def quick() -> str:
    """End at once."""
    return "done"


def busy_model() -> Script:
    """Thinking, text, two parallel calls of which one never ends, and a call that is cut."""
    first = [think("hm hm hm"), say("I start."), call("quick", id="a"), call("endless", id="b")]
    return Script([[*first, CallDelta(2, '{"cu', "c", "quick"), never()], [say("Going on.")], [say("And on.")]])


async def abort_after(session: Watched, count: int) -> bool:
    """Abort behind the count-th message; False when the stream stopped before."""
    run = session.start("go")
    seen = 0
    async with asyncio.timeout(20):
        async for message in run:
            session.see(message)
            seen += 1
            if seen == count:
                run.abort()
                run.abort()
    return seen >= count


@pytest.mark.parametrize("count", range(1, 24))
async def test_abort_behind_any_message_closes_everything_and_the_session_goes_on(tmp_path: Path, count: int) -> None:
    """B006, B025, B093: segments first, then the request, the outputs, and one abort; the next request is legal."""
    before = asyncio.all_tasks()
    model = busy_model()
    async with watched(tmp_path, model, [quick, endless]) as session:
        started = time.monotonic()
        assert await abort_after(session, count)
        assert time.monotonic() - started < 1.0
        assert kinds(session.stream)[-1] == "abort"
        assert kinds(session.stream).count("abort") == 1
        assert isinstance(session.stream[-1].payload, Abort)
        assert texts(await session.run("again")) in (["Going on."], ["I start."], ["And on."])
    assert asyncio.all_tasks() == before
    for request in model.requests:
        assert_legal(request.messages)
    first, second = model.requests[0].messages, model.requests[1].messages if len(model.requests) > 1 else None
    assert second is None or second[: len(first)] == first


async def test_what_was_shown_is_told_once_and_the_words_of_the_user_stay(tmp_path: Path) -> None:
    """B092."""
    model = Script([[TextDelta("Part one. Part tw"), never()], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start("go")
        async for message in run:
            session.see(message)
            if isinstance(message.payload, PartialText) and message.payload.text:
                run.abort()
        await session.run("continue")
    told = "".join(getattr(payload, "text", "") for payload in model.requests[1].messages)
    assert told.count("Part one. Part tw") == 1
    assert [texts_of for texts_of in ("go", "continue") if texts_of in told] == ["go", "continue"]


async def read_to_the_first_text(run: Run) -> None:
    async for message in run:
        if isinstance(message.payload, PartialText) and message.payload.text:
            return


async def read_and_raise(run: Run) -> None:
    async for message in run:
        if is_partial(message):
            raise LookupError


async def read_on(run: Run) -> None:
    async for _ in run:
        pass


async def by_break(run: Run) -> None:
    await read_to_the_first_text(run)


async def by_raising(run: Run) -> None:
    with pytest.raises(LookupError):
        await read_and_raise(run)


async def by_cancelling(run: Run) -> None:
    reader = asyncio.create_task(read_on(run))
    await asyncio.wait([reader], timeout=0.1)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


async def by_timeout(run: Run) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await read_on(run)


async def by_closing(run: Run) -> None:
    async with run:
        async for _ in run:
            break


async def by_next(run: Run) -> None:
    for _ in range(6):
        await anext(run)


WAYS = [by_break, by_raising, by_cancelling, by_timeout, by_closing, by_next]


@pytest.mark.parametrize("leave", WAYS, ids=lambda way: way.__name__)
async def test_leaving_the_iteration_is_a_user_abort(tmp_path: Path, leave: Callable[[Run], Awaitable[None]]) -> None:
    """B104: no warning, a valid Trace, and the next run works at once."""
    model = busy_model()
    async with watched(tmp_path, model, [quick, endless]) as session:
        await leave(session.start("go"))
        gc.collect()
        assert texts(await session.run("again"))
        assert kinds(read_messages(session.session.trace_path)).count("abort") == 1
        session.forget_stream()
    assert len(asyncio.all_tasks()) == 1


async def test_a_run_that_nobody_reads_is_interrupted_when_it_is_dropped(tmp_path: Path) -> None:
    async with watched(tmp_path, Script([[say("ok")], [say("ok")]])) as session:
        session.start("go")
        gc.collect()
        await session.run("again")
        assert "abort" in kinds(read_messages(session.session.trace_path))
        session.forget_stream()


async def test_abort_before_the_first_step_still_records_the_input(tmp_path: Path) -> None:
    """B094: the words of the user are on disk."""
    model = Script([[say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start("remember this")
        run.abort()
        assert [type(message.payload) for message in await session.read(run)] == [Abort]
        assert texts(await session.run("and this")) == ["ok"]
    assert [getattr(payload, "text", None) for payload in model.requests[0].messages] == ["remember this", "and this"]


async def test_abort_while_a_question_is_open_does_not_wait_for_the_answer(tmp_path: Path) -> None:
    """B090: an approval that never comes, in a plain callback that blocks its thread."""
    asked, release = threading.Event(), threading.Event()

    def ask(_: ToolCall) -> Any:
        asked.set()
        release.wait(20)
        return "allow"

    model = Script([[call("exec_command", id="a", command=f"touch {tmp_path}/made")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start(approve=ask)
        started = 0.0
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd):
                await until(asked.is_set)
                started = time.monotonic()
                run.abort()
        assert time.monotonic() - started < 1.0
        release.set()
        await session.run("again")
    assert outputs(session.stream)["a"] == ("Tool call not run: the user interrupted the run.", "aborted")
    assert not (tmp_path / "made").exists()


def alive_in_group(group: int) -> list[str]:
    """The processes of a group that still run; a dead one that nobody waited for yet is no longer at work."""
    found: list[str] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group, *_ = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(f"{stat} {state}")
    return found


async def test_an_interrupted_command_is_dead_before_the_abort_is_recorded(tmp_path: Path) -> None:
    """B086, B087: the whole process group; after the abort record no effect happens."""
    command = f"echo $$ > {tmp_path}/pid; (sleep 60; touch {tmp_path}/late) & sleep 60"
    model = Script([[call("exec_command", id="a", command=command)], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd):
                await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip() != "")
                run.abort()
        assert alive_in_group(int((tmp_path / "pid").read_text())) == []
        await session.run("again")
    assert outputs(session.stream)["a"][1] == "aborted"


@pytest.mark.parametrize("ending", [None, RESET], ids=["committed", "failed"])
async def test_an_abort_while_only_tools_run_ends_the_run(tmp_path: Path, ending: Any) -> None:
    """The interruption is the run's, although its tool hears of it too: nothing is asked any more."""
    started = asyncio.Event()

    async def work() -> str:
        """Never end by itself."""
        started.set()
        return await endless()

    first: list[Any] = [call("work", id="a"), *([started, ending] if ending else [])]
    model = Script([first, [say("ok")]])
    async with watched(tmp_path, model, [work]) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd):
                await until(started.is_set)
                run.abort()
        assert session.stream[-1].payload == Abort("user_abort")
        assert outputs(session.stream)["a"][1] == "aborted"
        assert len(model.requests) == 1
        await session.run("again")


async def test_a_tool_that_would_not_stop_is_closed_for_it_and_said_no_more(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def stubborn() -> str:
        """Refuse to be cancelled."""
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    model = Script([[call("stubborn", id="a")], [say("ok")]])
    async with watched(tmp_path, model, [stubborn]) as session:
        run = session.start()
        started = 0.0
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd):
                started = time.monotonic()
                run.abort()
        assert time.monotonic() - started < 1.0
        release.set()
        await session.run("again")
    output, stop_reason = outputs(session.stream)["a"]
    assert (stop_reason, "late" in output) == ("aborted", False)
    assert len([m for m in session.stream if isinstance(m.payload, ToolCallOutput)]) == 1


async def test_an_abort_at_the_end_does_nothing(tmp_path: Path) -> None:
    model = Script([[say("ok")], [say("fine")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        await session.read(run)
        run.abort()
        await run.aclose()
        await session.run("again")
        assert "abort" not in kinds(session.stream)


async def test_nobody_needs_to_read_for_an_abort_to_finish(tmp_path: Path) -> None:
    """The queue is bounded, and an abort lifts the bound."""

    deltas = [TextDelta("x") for _ in range(2000)]
    model = Script([[*deltas, never()], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        await until(lambda: live_context(session.session).requests == 1)
        started = time.monotonic()
        await run.aclose()
        assert time.monotonic() - started < 1.0
        await session.read(run)
        await session.run("again")


async def test_closing_a_session_ends_its_run(tmp_path: Path) -> None:
    model = busy_model()
    async with watched(tmp_path, model, [quick, endless]) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd) or kinds(session.stream).count("tool_call") == 2:
                break
        await session.session.close()
        recorded = list(read_messages(session.session.trace_path))
        assert kinds(recorded)[-1] == "abort"
        session.forget_stream()
    assert model.closed


async def test_a_trace_that_cannot_be_written_stops_the_run_at_once_and_is_told(tmp_path: Path) -> None:
    """B007, B118: nothing that depends on the lost record follows, the tool ran once, and later the session goes on."""
    ran: list[int] = []

    def effect() -> str:
        """Count."""
        ran.append(1)
        return "x"

    model = Script([[call("effect", id="a")], [say("ok")], [say("ok")]])
    async with watched(tmp_path, model, [effect]) as session:
        writer = session.session._writer  # pyright: ignore[reportPrivateUsage]
        append = writer.append

        def full(line: bytes, *, commit: bool = False) -> None:
            if b'"tool_call_output"' in line:
                raise TraceError("cannot write the Trace: No space left on device")
            append(line, commit=commit)

        writer.append = full
        with pytest.raises(TraceError, match="No space left"):
            await session.run()
        await quiet(session.session)
        recorded = kinds(read_messages(session.session.trace_path))
        assert recorded[-1] in {"approval_decision", "request_end"}
        writer.append = append
        seen = await session.run("again")
        assert outputs(seen)["a"][1] == "aborted"
        session.forget_stream()
    assert ran == [1]


async def close_run(run: Run, session: Session) -> None:
    assert session
    await run.aclose()


async def leave_block(run: Run, session: Session) -> None:
    assert session
    async with run:
        pass


async def close_session(run: Run, session: Session) -> None:
    assert run
    await session.close()


@pytest.mark.parametrize("close", [close_run, leave_block, close_session], ids=lambda way: way.__name__)
async def test_what_could_not_be_recorded_is_told_to_whoever_closes(
    tmp_path: Path, close: Callable[[Run, Session], Awaitable[None]]
) -> None:
    """B118: nothing is claimed saved that is not, also when nobody reads any more."""
    agent = await new_agent(tmp_path)
    session = await agent.create_session(model=Script([[say("x"), never()]]))
    run = session.run([user_text("hi")])
    await until(lambda: live_context(session).requests == 1)

    def full(line: bytes, *, commit: bool = False) -> None:
        raise TraceError("cannot write the Trace: No space left on device")

    session._writer.append = full  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(TraceError, match="No space left"):
        await close(run, session)
    await session.close()
    assert not list(tmp_path.rglob("*.lock"))


async def test_b105_runs_are_closed_while_a_reader_is_in_the_middle_of_a_step(tmp_path: Path) -> None:
    """Fifty times: another task closes what a reader is reading; neither of them meets an error."""
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: faults.append(about))
    turns = [[say("word " * 40), never()] for _ in range(50)]
    async with watched(tmp_path, Script(turns)) as session:
        session.forget_stream()
        for _ in range(50):
            run, before = session.start("go"), len(session.stream)
            reading = asyncio.create_task(session.read(run))
            await until(lambda before=before: len(session.stream) > before)
            await asyncio.gather(run.aclose(), run.aclose())
            await asyncio.wait_for(reading, 10)
    gc.collect()
    assert faults == []
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
