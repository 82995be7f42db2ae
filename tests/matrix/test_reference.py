"""What the reference implementation lost or reordered: the same situations against this engine.

The reference's own records of them are the folders named in the tests, below `shared/traces/upstream`.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import (
    CompactionEnd,
    InputError,
    PartialText,
    RequestEnd,
    SessionError,
    Text,
    ToolCall,
    ToolCallOutput,
    user_text,
)
from penguin_harness.engine.carry import UNCERTAIN
from penguin_harness.llm.script import Script, call, fail, say
from penguin_harness.omnimessage import ApprovalDecision, assistant_text, encode
from penguin_harness.trace import context_file, read_messages
from tests.double.chat import build
from tests.double.chat.build import Endpoint, part, reply, script, turn
from tests.double.client import Double
from tests.double.steps import line
from tests.engine.test_context import UPSTREAM
from tests.matrix.crash import messages, model_in
from tests.matrix.twin import copy_files, resume
from tests.matrix.twin import say as tell
from tests.support import kinds, new_agent, outputs, texts, until, watched

KEY = "sk-test-123456"


def double_options(double: Double, *turns: Any) -> dict[str, Any]:
    double.load(script(*turns, endpoint=Endpoint(key=KEY)))
    return {"provider": "custom", "model_id": build.MODEL, "base_url": double.url, "api_key": KEY}


async def test_interleaved_tool_deltas(tmp_path: Path, double: Double) -> None:
    """The reference gave every fragment to the call that began last and ran the first one with `{}`.

    Here fragments are assembled by their index: both calls run, each with its own arguments.
    """
    interleaved = turn(
        part(0, "", id="call_a", name="exec_command"),
        part(1, "", id="call_b", name="exec_command"),
        part(0, '{"command": "pri'),
        part(1, '{"command": "printf '),
        part(0, 'ntf one"}'),
        part(1, 'two"}'),
    )
    async with watched(tmp_path, None, **double_options(double, interleaved, reply("Both."))) as session:
        seen = await session.run("interleave")
    assert outputs(seen) == {"call_a": ("one", "completed"), "call_b": ("two", "completed")}
    arguments = [m.payload.arguments for m in seen if isinstance(m.payload, ToolCall)]
    assert arguments == ['{"command": "printf one"}', '{"command": "printf two"}']
    assert texts(seen) == ["Both."]


async def test_split_surrogate_deltas(tmp_path: Path, double: Double) -> None:
    """The reference streamed and stored two halves that are no Unicode, as escapes.

    Here the halves are joined before they enter a message, and no fragment holds half a character.
    """
    halves = [
        line(f'{{"choices":[{{"index":0,"delta":{{"content":"{half}"}}}}]}}') for half in (r"a\ud83d", r"\ude00b")
    ]
    async with watched(tmp_path, None, **double_options(double, turn(*halves))) as session:
        seen = await session.run("emoji in two halves")
        assert texts(seen) == ["a😀b"]
        assert [m.payload.text for m in seen if isinstance(m.payload, PartialText) and m.payload.text] == ["a", "😀b"]
        assert b"\\ud83d" not in session.session.trace_path.read_bytes()


async def test_abort_mid_text_resume(tmp_path: Path) -> None:
    """The reference told the model of the interrupted answer in the same process, and forgot it in a resumed one.

    Here the live session and the resumed one send the same: the input, once, and what had been shown of the answer.
    """
    live = Script([[say("one two "), asyncio.Event()], [say("three")]])
    resumed = Script([[say("three")]])
    async with watched(tmp_path, live) as session:
        run = session.start("Count")
        async for message in run:
            session.see(message)
            if isinstance(message.payload, Text):
                run.abort()
        copy = copy_files(tmp_path, tmp_path / "copy")
        await session.run("Go on")
    async with await resume(copy, session.session.session_id, resumed) as twin:
        await tell(twin, "Go on")
    assert resumed.requests[0] == live.requests[1]
    first, told, last = live.requests[1].messages
    assert (first, last) == (Text("user", "Count"), Text("user", "Go on"))
    assert isinstance(told, Text)
    assert told.text.count("one two") == 1


async def test_run_with_assistant_input(tmp_path: Path) -> None:
    """The reference recorded it, failed, and every later run of that session failed too.

    Here it is refused before anything is written, and the session is as it was.
    """
    model = Script([[say("ok")]])
    async with watched(tmp_path, model) as session:
        with pytest.raises(InputError, match="input 2 is a text of the assistant"):
            session.session.run([user_text("hi"), assistant_text("I am the assistant")])
        assert not session.session.trace_path.exists()
        assert texts(await session.run("then a real one")) == ["ok"]


async def test_run_with_empty_input(tmp_path: Path) -> None:
    """The reference sent nothing, called that a failure of the connection and tried five times more.

    Here it raises at once where nothing is unsent, and goes on where something is.
    """
    model = Script([[fail("fatal", "auth", "no")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        with pytest.raises(InputError, match="nothing to go on with"):
            session.session.run([])
        await session.run("a real one")
        assert texts(await session.run(None)) == ["ok"]
    assert model.requests[1].messages[0] == Text("user", "a real one")


async def test_two_runs_at_once(tmp_path: Path) -> None:
    """The reference let both run: their records interleave, and the next request has B, B's answer, A, A's answer.

    Here the second raises at once and leaves no trace; after the first it may run.
    """
    release = asyncio.Event()
    model = Script([[say("first "), release, say("end1")], [say("second")]])
    async with watched(tmp_path, model) as session:
        async for message in session.start("A"):
            session.see(message)
            if not release.is_set():
                with pytest.raises(SessionError, match="has a run under way"):
                    session.session.run([user_text("B")])
                release.set()
        await session.run("B")
    told = [payload.text for payload in session.session.history if isinstance(payload, Text)]
    assert told == ["A", "first ", "end1", "B", "second"]


async def test_approve_returns_garbage(tmp_path: Path) -> None:
    """The reference recorded a decision without its `decision`. Here it is a denial, and says so."""

    def shrug(_: ToolCall) -> None:
        """Answer with nothing."""

    model = Script([[call("exec_command", id="a", command="printf x")], [say("ok")]])
    async with watched(tmp_path, model) as session:
        seen = await session.run(approve=shrug)
    assert [m.payload for m in seen if isinstance(m.payload, ApprovalDecision)] == [ApprovalDecision("deny", "a")]


async def test_abort_during_approval(tmp_path: Path) -> None:
    """The reference left a complete call without decision and output. Here it is answered, and the run ends."""
    asked = asyncio.Event()

    async def ask(_: ToolCall) -> Any:
        asked.set()
        await asyncio.Event().wait()

    model = Script([[call("exec_command", id="a", command="printf x"), asyncio.Event()], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start(approve=ask)
        async for message in run:
            session.see(message)
            if isinstance(message.payload, ToolCall):
                await until(asked.is_set)
                run.abort()
        assert outputs(session.stream)["a"][1] == "aborted"
        assert kinds(session.stream)[-1] == "abort"
        await session.run("again")


async def test_late_usage_chunk_missing(tmp_path: Path, double: Double) -> None:
    """The reference called such an answer malformed until its ladder ended. Here it counts, its cost is estimated."""
    whole = build.bare(build.text("All there."), build.finish("stop"), build.done())
    async with watched(tmp_path, None, **double_options(double, whole)) as session:
        seen = await session.run("hi")
    assert texts(seen) == ["All there."]
    assert [m.payload.status for m in seen if isinstance(m.payload, RequestEnd)] == ["completed"]


async def test_finish_length(tmp_path: Path, double: Double) -> None:
    """The reference said `failed` in the text and nothing in the request's end. Here both say what it was."""
    cut = build.turn(build.text("Half an ans"), build.finish("length"))
    async with watched(tmp_path, None, **double_options(double, cut)) as session:
        seen = await session.run("hi")
    assert [m.payload.stop_reason for m in seen if isinstance(m.payload, Text)] == ["fatal"]
    assert [m.payload.error_code for m in seen if isinstance(m.payload, RequestEnd)] == ["output_limit"]


async def killed(tmp_path: Path, folder: str) -> tuple[Script, list[Any]]:
    """The reference's Trace as its killed process left it, resumed here: the model, and what the next run says."""
    source = UPSTREAM / folder / "trace_001.at_kill.jsonl"
    if not source.exists():
        pytest.skip("the reference's Traces are not there")
    agent = await new_agent(tmp_path)
    session_id = getattr(messages(source.read_bytes())[0].payload, "session_id", "")
    path = context_file(agent.paths.traces, session_id, 1)
    path.parent.mkdir(parents=True)
    shutil.copyfile(source, path)
    model = Script([[say("ok")]], ref=model_in([source.read_bytes()]))
    async with await resume(tmp_path, session_id, model) as session:
        seen = await tell(session, "go on")
    assert path.read_bytes().startswith(source.read_bytes())
    assert [encode(m) for m in seen if m.payload.type == "request_end"]
    assert list(read_messages(path))[-1] == seen[-1]
    return model, seen


async def test_kill9_mid_tool(tmp_path: Path) -> None:
    """The reference said of both calls the same, whatever had run. Here the finished one keeps its output.

    The one that ran is uncertain, in words that keep the model from doing it again unseen; nothing runs by itself.
    """
    model, _ = await killed(tmp_path, "kill9_mid_tool")
    told = [payload for payload in model.requests[0].messages if isinstance(payload, ToolCallOutput)]
    assert sorted(output.stop_reason for output in told) == ["aborted", "completed"]
    assert [output.output for output in told if output.stop_reason == "aborted"] == [UNCERTAIN]


async def test_kill9_mid_text(tmp_path: Path) -> None:
    """The reference sent the input again as if nothing had been said. Here the model is told what is on record."""
    model, seen = await killed(tmp_path, "kill9_mid_text")
    first = seen[0].payload
    assert isinstance(first, RequestEnd)
    assert (first.status, first.error_code) == ("aborted", "process_exited")
    assert any("[turn_aborted]" in getattr(payload, "text", "") for payload in model.requests[0].messages)


async def test_kill9_mid_compaction(tmp_path: Path) -> None:
    """Both close it. Here it is `aborted` by a process that exited, and the context is the one before, unchanged."""
    model, seen = await killed(tmp_path, "kill9_mid_compaction")
    [end] = [m.payload for m in seen if isinstance(m.payload, CompactionEnd)]
    assert (end.status, end.error_code) == ("aborted", "process_exited")
    assert not any("summary" in getattr(payload, "text", "") for payload in model.requests[0].messages)
