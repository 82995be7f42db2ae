"""What a person saw of a half-written segment survives a `kill -9`, is recorded once, and told to the model once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penguin_harness import Agent, PartialText, Session, Text, Thinking, ToolCall, ToolCallOutput, TraceError, user_text
from penguin_harness.contracts import Half, TextDelta
from penguin_harness.engine.carry import UNCERTAIN
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_lines, read_messages
from tests.double.chat.build import Endpoint, Turn, part, reply, script, text, thinking, turn
from tests.double.chat.build import call as calls
from tests.double.client import Double
from tests.double.steps import gate
from tests.support import assert_conforms, assert_law_1, kinds, new_agent, outputs, until, watched

ROOT = Path(__file__).parents[2]
KEY = "sk-test-123456"
UNTIL_IT_DIES = "echo half an output; while kill -0 $PPID 2>/dev/null; do sleep 0.02; done"

HALVES: dict[str, tuple[Turn, Half]] = {
    "text": (
        turn(thinking("Hm."), text("half an answ"), gate("g")),
        Text("assistant", "half an answ", stop_reason="aborted"),
    ),
    "thinking": (
        turn(thinking("half a thou"), gate("g")),
        Thinking("assistant", "half a thou", "aborted"),
    ),
    "arguments": (
        turn(part(0, '{"command": "half a comm', id="a", name="exec_command"), gate("g")),
        ToolCall("assistant", "exec_command", '{"command": "half a comm', "a", "aborted"),
    ),
    "output": (
        turn(text("I look."), calls("exec_command", {"command": UNTIL_IT_DIES}, id="a")),
        ToolCallOutput("user", "half an output\n", "a", stop_reason="aborted"),
    ),
    "output-in-the-stream": (
        turn(calls("exec_command", {"command": UNTIL_IT_DIES}, id="a"), text("half an answ"), gate("g")),
        ToolCallOutput("user", "half an output\n", "a", stop_reason="aborted"),
    ),
}


class Dead(NamedTuple):
    """What a killed process left behind."""

    folder: Path
    agent: Agent
    session_id: str
    trace: Path
    tail: Path
    options: dict[str, Any]

    async def resume(self) -> Session:
        return await self.agent.resume_session(self.session_id, **self.options)


@contextmanager
def running(folder: Path, double: Double) -> Generator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.session.child", str(folder), double.url, KEY]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def killed(folder: Path, double: Double, kind: str, **demands: Any) -> Dead:
    """A session whose process was killed when the half segment had been on the screen long enough."""
    half_turn, half = HALVES[kind]
    endpoint = Endpoint(key=KEY, reasoning_fields=("reasoning_content",), **demands)
    double.load(script(half_turn, reply("ok"), endpoint=endpoint))
    (folder / "work").mkdir()
    mark = b"half an output" if isinstance(half, ToolCallOutput) else b"half a"
    with running(folder, double) as process:
        await until(lambda: process.poll() is None and any(mark in data for data in journals(folder).values()))
    [tail] = journals(folder)
    agent = await new_agent(folder)
    [files] = agent.sessions()
    return Dead(folder, agent, files.session_id, files.newest, tail, {"base_url": double.url, "api_key": KEY})


def journals(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.tail")}


@pytest.mark.parametrize("kind", HALVES)
async def test_what_was_shown_is_recorded_once_as_interrupted_and_told_once(
    tmp_path: Path, double: Double, kind: str
) -> None:
    """B010."""
    dead = await killed(tmp_path, double, kind)
    before, half = dead.trace.read_bytes(), HALVES[kind][1]
    async with await dead.resume() as session:
        assert half in session.recovery.halves
        assert [one.name for one in session.recovery.uncertain] == ["exec_command"] * isinstance(half, ToolCallOutput)
        assert (dead.trace.read_bytes(), dead.tail.exists()) == (before, True), "a resume writes nothing"
        seen = [message async for message in session.run([user_text("and now?")])]
        assert_law_1(session)
    assert journals(tmp_path) == {}
    assert dead.trace.read_bytes().startswith(before)
    assert_conforms(check(read_lines(dead.trace), "trace", finished=True))
    if isinstance(half, ToolCallOutput):
        assert outputs(seen) == {"a": (f"{half.output}{UNCERTAIN}", "aborted")}
    else:
        assert [m.payload for m in read_messages(dead.trace)].count(half) == 1
        assert kinds(seen)[:2] == [half.type, "request_end"]
    told = double.requests()[1].body
    shown = b"half an output" if isinstance(half, ToolCallOutput) else b"half a"
    assert told.count(shown) == 1 + (b"echo half an output" in told)
    assert double.refusals() == []


async def test_a_resume_without_a_run_leaves_it_for_the_next(tmp_path: Path, double: Double) -> None:
    dead = await killed(tmp_path, double, "text")
    for _ in range(2):
        async with await dead.resume() as session:
            assert session.recovery.halves == (HALVES["text"][1],)


async def test_an_older_journal_is_ignored(tmp_path: Path, double: Double) -> None:
    """It was left over, or put back with a backup: nothing is recorded twice."""
    dead = await killed(tmp_path, double, "output-in-the-stream")
    journal = dead.tail.read_bytes()
    async with await dead.resume() as session:
        assert len(session.recovery.halves) == 2
        async for _ in session.run([user_text("and now?")]):
            pass
    recorded = dead.trace.read_bytes()
    dead.tail.write_bytes(journal)
    double.extend(reply("yes"))
    async with await dead.resume() as session:
        assert (session.recovery.halves, session.recovery.uncertain) == ((), ())
        seen = [message async for message in session.run([user_text("again?")])]
    assert kinds(seen) == ["request_begin", "text", "token_usage", "request_end"]
    assert dead.trace.read_bytes().startswith(recorded)
    assert journals(tmp_path) == {}


@pytest.mark.parametrize("kind", HALVES)
async def test_a_journal_that_is_newer_than_the_trace_is_ignored(tmp_path: Path, double: Double, kind: str) -> None:
    """The Trace lost its end: what the journal goes on from is not there."""
    dead = await killed(tmp_path, double, kind, expect_replay=False)
    lines = dead.trace.read_bytes().splitlines(keepends=True)
    dead.trace.write_bytes(b"".join(lines[: [b'"request_begin"' in line for line in lines].index(True)]))
    async with await dead.resume() as session:
        assert session.recovery.halves == ()
        seen = [message async for message in session.run()]
    assert kinds(seen) == ["request_begin", "text", "token_usage", "request_end"]
    assert journals(tmp_path) == {}


async def test_a_garbled_journal_is_ignored(tmp_path: Path, double: Double) -> None:
    dead = await killed(tmp_path, double, "text")
    dead.tail.write_bytes(b"\xff" * 100 + dead.tail.read_bytes()[:-1].replace(b"{", b"["))
    async with await dead.resume() as session:
        assert session.recovery.halves == ()
        async for _ in session.run([user_text("and now?")]):
            pass
    assert_conforms(check(read_lines(dead.trace), "trace", finished=True))


async def test_no_file_is_left_by_a_run_that_ends_or_is_interrupted(tmp_path: Path, double: Double) -> None:
    """Also while the session stays open, and there is one while something is half-written."""
    double.load(script(turn(text("one"), gate("g"), text(" two")), turn(text("half"), gate("h"))))
    options: dict[str, Any] = {"provider": "custom", "model_id": "test-model", "base_url": double.url, "api_key": KEY}
    async with watched(tmp_path, None, **options) as session:
        run = session.start("go")
        await until(lambda: len(journals(tmp_path)) == 1)
        double.release("g")
        await session.read(run)
        assert journals(tmp_path) == {}
        run = session.start("more")
        await until(lambda: len(journals(tmp_path)) == 1)
        run.abort()
        await session.read(run)
        assert journals(tmp_path) == {}
    assert session.session.tail_error is None


async def test_a_journal_that_cannot_be_written_fails_no_run(tmp_path: Path) -> None:
    async with watched(
        tmp_path, Script([[call("exec_command", command="sleep 0.25; echo x")], [say("ok")]])
    ) as session:
        inside = session.session
        inside.trace_path.with_name(f"{inside.session_id}.tail").mkdir(parents=True)
        seen = await session.run("go")
    assert list(outputs(seen).values()) == [("x\n", "completed")]


async def test_what_could_not_be_recorded_is_recorded_by_the_next_run(tmp_path: Path) -> None:
    """The Trace could not be written where the answer ended, and the process lives on."""
    shown = asyncio.Event()
    model = Script([[TextDelta("shown and not recorded"), shown], [say("ok")]])
    async with watched(tmp_path, model) as session:
        trace, aside = session.session.trace_path, tmp_path / "aside"
        run = session.start("go")
        while not (isinstance((message := await anext(run)).payload, PartialText) and message.payload.text):
            pass
        session.session._writer.close()  # pyright: ignore[reportPrivateUsage]
        trace.rename(aside)
        trace.mkdir()
        shown.set()
        with pytest.raises(TraceError):
            await session.read(run)
        trace.rmdir()
        aside.rename(trace)
        session.forget_stream()
        session.inputs += 1
        seen = [message.payload async for message in session.session.run([user_text("and now?")])]
    assert seen[0] == Text("assistant", "shown and not recorded", stop_reason="aborted")
    assert journals(tmp_path) == {}
