"""Law 3: every prefix of every Trace, cut at any byte, folds to a context that a provider accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

import pytest

from penguin_harness import omnimessage as om
from penguin_harness.contracts import CallDelta, Outcome, TextDelta
from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.context import Context, fold
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import DecodeError, OmniMessage, RequestEnd, decode, encode
from penguin_harness.trace import TraceWriter
from tests.engine.test_context import META, assert_legal
from tests.support import Watched, watched

Play = Callable[[Watched], Awaitable[None]]
USAGE = om.TokenCounts.of(cache_write=10, output=2)


async def pair(session: Watched) -> None:
    await session.run("first")
    await session.run("second")


async def denied(session: Watched) -> None:
    await session.run("go", approve=None)


async def limited(session: Watched) -> None:
    await session.run("go", max_turns=1)
    await session.run(None)


async def interrupted(session: Watched) -> None:
    run = session.start("go")
    async for message in run:
        session.see(message)
        if isinstance(message.payload, om.PartialText | om.PartialToolCallOutput):
            run.abort()
    await session.run("go on")


def forever() -> asyncio.Event:
    return asyncio.Event()


TWO_CALLS = [call("exec_command", id="x", command="printf one"), call("exec_command", id="y", command="exit 3")]
CUT_CALL = CallDelta(0, '{"command":"x', "x", "exec_command")
SESSIONS: dict[str, tuple[list[list[ScriptItem]], Play]] = {
    "plain": ([[say("one")], [say("two")]], pair),
    "thinking": ([[think("hm", fidelity=b'{"s":1.0}'), say("é 👩‍💻 \u2028")], [say("two")]], pair),
    "parallel": ([[*TWO_CALLS], [say("done")], [say("two")]], pair),
    "denied": ([[*TWO_CALLS], [say("I see.")]], denied),
    "unreadable": ([[CallDelta(0, '{"a', "x", "exec_command"), call("nope", id="y")], [say("ok")], [say("ok")]], pair),
    "failed": ([[TextDelta("half"), fail("retryable", "network", "reset")], [say("ok")]], pair),
    "cut": (
        [
            [CallDelta(0, '{"command":"x', "x", "exec_command"), Outcome("completed", "output_limit")],
            [say("ok")],
            [say("ok")],
        ],
        pair,
    ),
    "limited": ([[*TWO_CALLS], [say("done")]], limited),
    "aborted-text": ([[TextDelta("half an ans"), forever()], [say("ok")]], interrupted),
    "aborted-tool": ([[call("exec_command", id="x", command="echo here; sleep 60")], [say("ok")]], interrupted),
}


async def recorded(folder: Path, name: str) -> bytes:
    """The Trace of a session of that kind."""
    turns, play = SESSIONS[name]
    async with watched(folder, Script(turns)) as session:
        await play(session)
    return session.session.trace_path.read_bytes()


def compacted(folder: Path) -> bytes:
    """A Trace with what the engine does not write yet: retries, images, a compaction, a subagent, MCP."""
    retry = om.request_end("retryable", error_code="malformed", error_message="cut", attempt=1, retry_in_ms=2000)
    sequence: list[OmniMessage] = [
        om.session_meta(META),
        om.user_text("go"),
        om.user_image("data:image/png;base64,AA"),
        om.mcp_connect_begin(["files"]),
        om.mcp_connect_end("completed", [om.McpResult("files", "stdio", "completed", 3, tools=1)]),
        om.tool_list_ready([]),
        om.request_begin(),
        om.tool_call("t", "{}", "a"),
        om.approval_decision("allow", "a"),
        om.tool_call_output("ran", "a", images=["data:image/png;base64,AA"]),
        om.assistant_text("half", stop_reason="retryable"),
        retry,
        om.request_begin(),
        om.tool_call("t", "{}", "a#2"),
        om.tool_call("t", "{}", "b"),
        om.token_usage(USAGE, USAGE),
        om.request_end(attempt=2),
        om.approval_decision("allow", "a#2"),
        om.subagent("session-2026-12-01-09-00-00-0000000b"),
        om.approval_decision("forbidden", "b"),
        om.tool_call_output("Tool call denied by policy.", "b", stop_reason="aborted"),
        om.tool_call_output("done", "a#2"),
        om.compaction_begin("context", "summarize", context=12, turns=1),
        om.user_text("Summarize.", sender="harness"),
        om.request_begin(),
        om.assistant_text("[summary]All.[/summary]"),
        om.token_usage(USAGE + USAGE, USAGE),
        om.request_end(),
        om.compaction_end("context", "summarize", "completed", attempt=1),
    ]
    writer = TraceWriter(folder / "t.jsonl")
    for message in sequence:
        writer.append(encode(message))
    writer.close()
    return (folder / "t.jsonl").read_bytes()


@cache
def decoded(line: bytes) -> OmniMessage | None:
    try:
        return decode(line)
    except DecodeError:
        return None


def folded(prefix: bytes) -> Context:
    state = Context()
    for message in map(decoded, prefix.split(b"\n")):
        if message is not None:
            fold(state, message)
    return state


def closed(state: Context) -> Context:
    """The state after the records that the next run would begin with."""
    for payload in closing_messages(state):
        match payload:
            case RequestEnd() | om.CompactionEnd():
                fold(state, om.event_message(payload))
            case _:
                fold(state, om.model_message(payload))
    return state


def assert_law_3(data: bytes) -> None:
    for cut in range(len(data) + 1):
        prefix = data[:cut]
        state = folded(prefix)
        told = state.request_messages()
        assert_legal(told)
        if prefix.endswith((b"\n", b"}")):
            after = closed(state)
            assert closing_messages(after) == []
            assert after.request_messages() == told, "closing records what the fold stood in with"


@pytest.mark.parametrize("name", SESSIONS)
async def test_every_byte_prefix_of_a_session_is_legal(tmp_path: Path, name: str) -> None:
    assert_law_3(await recorded(tmp_path, name))


def test_every_byte_prefix_of_a_trace_with_everything_is_legal(tmp_path: Path) -> None:
    assert_law_3(compacted(tmp_path))
