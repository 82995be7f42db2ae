"""A history goes on after a resume, a fork, a switch, and when it came from elsewhere."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from penguin_harness import Agent, PartialThinking, RequestEnd, Session, create_agent, user_text
from penguin_harness.omnimessage import OmniMessage
from penguin_harness.omnimessage.check import check, check_session
from penguin_harness.trace import find_session, read_lines
from tests.double.client import Double
from tests.double.steps import gate
from tests.providers.dialects import ANTHROPIC, CHAT, DIALECTS, GEMINI, RESPONSES, Dialect, against
from tests.support import LIMIT, allow, assert_conforms, texts


def note(n: int) -> str:
    """Note a number."""
    return f"noted {n}"


async def finished(session: Session, text: str | None, **options: Any) -> list[OmniMessage]:
    """One run to its end."""
    inputs = [] if text is None else [user_text(text)]
    return [message async for message in session.run(inputs, approve=allow, **options)]


def task(build: Any) -> list[Any]:
    """Thinking, a call and its answer, twice."""
    return [
        build.turn(build.thinking("First."), build.text("I note."), build.call("note", {"n": 1}, id="a")),
        build.turn(build.thinking("Second."), build.call("note", {"n": 2}, id="b")),
        build.reply("Both are noted."),
    ]


async def agent_with(folder: Path) -> Agent:
    (folder / "work").mkdir(parents=True)
    return await create_agent(root=folder / "root")


async def test_a_resumed_fork_sends_what_the_live_session_sends(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    """Law 2, byte for byte, thinking and signatures included (B032)."""
    build = dialect.build
    agent = await agent_with(tmp_path)
    reach = dialect.reach(double)
    double.load(dialect.script(*task(build), build.reply("Live.")))
    async with await agent.create_session(workspace=tmp_path / "work", tools=[note], **reach) as session:
        await finished(session, "note both", thinking_level="high")
        async with await agent.fork_session(session.session_id, tools=[note], **where(reach)) as fork:
            forked = fork.session_id
        await finished(session, "and now?", thinking_level="high")
    live = double.requests()[-1].body
    double.load(dialect.script(build.reply("Forked.")))
    async with await agent.resume_session(forked, tools=[note], **where(reach)) as session:
        await finished(session, "and now?", thinking_level="high")
    assert double.requests()[-1].body == live
    for path in find_session(agent.paths.traces, forked).paths:
        assert_conforms(check(list(read_lines(path)), "trace", finished=True))


def where(reach: dict[str, Any]) -> dict[str, Any]:
    """How a resumed session's model is reached: which one it is, its Trace says."""
    return {name: reach[name] for name in ("base_url", "api_key", "client_type")}


PAIRS = list(itertools.permutations(DIALECTS, 2))


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda one: one.client_type)
async def test_b032_b035_nothing_signed_by_one_model_reaches_another(
    double: Double, tmp_path: Path, before: Dialect, after: Dialect
) -> None:
    """A switch in mid-session, between two strict endpoints; the conversation goes over in words."""
    agent = await agent_with(tmp_path)
    second = after.build.turn(after.build.thinking("New here."), after.build.call("note", {"n": 3}, id="c"))
    double.load(before.script(*task(before.build), model="model-a"))
    double.load(after.script(second, after.build.reply("Three now."), model="model-b"))
    reach = before.reach(double, model="model-a")
    async with await agent.create_session(workspace=tmp_path / "work", tools=[note], **reach) as session:
        await finished(session, "note both", thinking_level="high")
        signed = _signed(session.trace_path)
        run = await session.switch_model(**after.reach(double, model="model-b"))
        head = [message async for message in run]
        seen = await finished(session, "note a third", thinking_level="high")
        name = session.session_id
    assert texts(seen)[-1] == "Three now."
    assert signed
    sent = b"".join(request.body for request in double.requests("model-b"))
    assert not [secret for secret in signed if secret in sent]
    assert "2 parts of the model's thinking" in texts(head, "user")[0]
    files = [list(read_lines(path)) for path in find_session(agent.paths.traces, name).paths]
    assert_conforms(check_session(files, finished=True))


def _signed(path: Path) -> list[bytes]:
    """The signatures and encrypted texts that a Trace holds."""
    found: list[bytes] = []

    def walk(value: object) -> None:
        match value:
            case str() if len(value) > 30:
                found.append(value.encode())
            case dict():
                walk(list(cast(dict[str, object], value).values()))
            case list():
                for item in cast(list[object], value):
                    walk(item)
            case _:
                pass

    for line in read_lines(path):
        walk(msgspec.json.decode(line)["payload"].get("fidelity"))
    return found or [b"reasoning_content"]


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda one: one.client_type)
async def test_b016_b033_b043_a_history_of_another_protocol_is_accepted(
    double: Double, tmp_path: Path, before: Dialect, after: Dialect
) -> None:
    """The same model id behind another protocol: its calls go on, its signatures do not, and the person is told."""
    agent = await agent_with(tmp_path)
    double.load(before.script(*task(before.build)))
    async with await agent.create_session(workspace=tmp_path / "work", tools=[note], **before.reach(double)) as session:
        await finished(session, "note both", thinking_level="high")
        signed = _signed(session.trace_path)
        name = session.session_id
    build = after.build
    double.load(
        after.script(build.turn(build.call("note", {"n": 3}, id="a")), build.reply("Three."), build.reply("Four."))
    )
    async with await agent.resume_session(name, tools=[note], **where(after.reach(double))) as session:
        seen = await finished(session, "note a third", thinking_level="high")
        await finished(session, "more", thinking_level="high")
    assert texts(seen) == ["Three."]
    notices = [text for text in texts(seen, "user") if "signed" in text]
    assert len(notices) == 1
    sent = b"".join(request.body for request in double.requests()[3:])
    assert not [secret for secret in signed if secret in sent]


@pytest.mark.parametrize("signing", [RESPONSES, ANTHROPIC, GEMINI], ids=lambda one: one.client_type)
async def test_b044_signatures_that_count_no_more_are_left_out_once_refused(
    double: Double, tmp_path: Path, signing: Dialect
) -> None:
    """As with the key of another account; the request that follows the refusal is another one."""
    agent = await agent_with(tmp_path)
    reach = signing.reach(double)
    double.load(signing.script(*task(signing.build)))
    async with await agent.create_session(workspace=tmp_path / "work", tools=[note], **reach) as session:
        await finished(session, "note both", thinking_level="high")
        path, name = session.trace_path, session.session_id
    content = path.read_bytes()
    for secret in _signed(path):
        content = content.replace(secret, secret[:8][::-1] + secret[8:])
    path.write_bytes(content)
    double.load(signing.script(signing.build.reply("Going on."), signing.build.reply("And on.")))
    async with await agent.resume_session(name, tools=[note], **where(reach)) as session:
        seen = await finished(session, "go on", thinking_level="high")
        seen += await finished(session, "and on", thinking_level="high")
    ends = [message.payload for message in seen if isinstance(message.payload, RequestEnd)]
    assert [end.status for end in ends] == ["retryable", "completed", "completed"]
    assert "without what earlier answers signed" in (ends[0].error_message or "")
    assert texts(seen) == ["Going on.", "And on."]
    bodies = [request.body for request in double.requests()[3:]]
    assert bodies[0] != bodies[1]
    assert double.refusals()


async def test_b031_an_answer_that_is_interrupted_in_its_thinking(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    """What was shown reaches the model as words; no unsigned thinking is sent."""
    build = dialect.build
    halves = [*build.thinking("I wonder, I wonder", parts=4)[:3], *gate("mid")]
    turns = [build.turn(*halves), build.reply("Something else, then.")]
    async with against(dialect, double, tmp_path, *turns, expect_replay=False) as session:
        run = session.start("go", thinking_level="high")
        async with asyncio.timeout(LIMIT):
            async for message in run:
                session.see(message)
                if isinstance(message.payload, PartialThinking) and message.payload.thinking:
                    run.abort()
        seen = await session.run("something else", thinking_level="high")
    assert texts(seen) == ["Something else, then."]
    assert b"[turn_aborted]" in double.requests()[-1].body


OLD: list[dict[str, Any]] = [
    {"type": "text", "role": "user", "text": "note one"},
    {"type": "request_begin"},
    {"type": "thinking", "role": "assistant", "thinking": "I note."},
    {"type": "tool_call", "role": "assistant", "name": "note", "arguments": '{"n":1}', "tool_call_id": "a"},
    {"type": "token_usage", "session": {}, "request": {}},
    {"type": "request_end", "status": "completed"},
    {"type": "approval_decision", "decision": "allow", "tool_call_id": "a"},
    {"type": "tool_call_output", "role": "user", "output": "noted 1", "tool_call_id": "a"},
]


@pytest.mark.parametrize("ending", ["in the middle of the loop", "interrupted"])
async def test_b033_b037_an_old_trace_without_signatures_goes_on(
    dialect: Dialect, double: Double, tmp_path: Path, ending: str
) -> None:
    agent = await agent_with(tmp_path)
    build = dialect.build
    demands: dict[str, Any] = {"require_reasoning": "reasoning_content"} if dialect is CHAT else {}
    double.load(dialect.script(build.reply("Noted."), build.reply("Again."), expect_replay=False, **demands))
    reach = dialect.reach(double)
    async with await agent.create_session(workspace=tmp_path / "work", tools=[note], **reach) as session:
        meta, path, name = session.meta, session.trace_path, session.session_id
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(_old_lines(meta, interrupted=ending == "interrupted")))
    async with await agent.resume_session(name, tools=[note], **where(reach)) as session:
        empty = ending != "interrupted"
        seen = await finished(session, None if empty else "and now?", thinking_level="high")
        seen += await finished(session, "again", thinking_level="high")
    assert texts(seen) == ["Noted.", "Again."]
    assert "note one" in str(double.bodies()[-1])
    double.refusals()  # an endpoint that demands reasoning may have to say so, once


def _old_lines(meta: Any, *, interrupted: bool) -> list[bytes]:
    stamp = "2026-11-01T09:00:00.000Z"
    records: list[Any] = [("session_meta", msgspec.to_builtins(meta))]
    counts = {"cache_read": 0, "cache_write": 10, "output": 5, "total": 15}
    for payload in OLD:
        kind = "event_msg" if "role" not in payload else "model_msg"
        filled = payload | ({"session": counts, "request": counts} if payload["type"] == "token_usage" else {})
        records.append((kind, filled))
    if interrupted:
        records[-1] = ("model_msg", {**OLD[-1], "output": "interrupted", "stop_reason": "aborted"})
        records.append(("event_msg", {"type": "abort", "error_code": "user_abort"}))
    return [
        msgspec.json.encode({"type": kind, "timestamp": stamp, "payload": payload}) + b"\n" for kind, payload in records
    ]
