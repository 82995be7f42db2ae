"""One scripted task over all protocols: the Traces differ in model, ids, times and fidelity, and in nothing else."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from penguin_harness import create_agent, user_text
from penguin_harness.trace import read_lines
from tests.double.client import Double
from tests.providers.dialects import DIALECTS, Dialect
from tests.support import allow

TURNS = 10


def note(n: int) -> str:
    """Note a number."""
    return f"noted {n}"


def task(build: Any) -> list[Any]:
    """Thinking, text, parallel calls, a failure on the way, an answer that is cut, an end."""
    tokens = build.counts(1000, 50, cached=400)
    one = build.call("note", '{"n":1}', id="a", parts=2)
    two = build.call("note", '{"n":2}', id="b", parts=2)
    return [
        build.turn(build.thinking("I shall note."), build.text("Noting."), one, two, tokens=tokens),
        build.fails(500),
        build.turn(build.call("nope", '{"x":"ü"}', id="c"), tokens=tokens),
        build.turn(build.text("And this is"), *build.limit(tokens)),
        build.reply("Done.", tokens=tokens),
    ]


async def recorded(dialect: Dialect, double: Double, folder: Path) -> list[dict[str, Any]]:
    """The Trace of the task, as far as it should be the same everywhere."""
    folder.mkdir()
    double.load(dialect.script(*task(dialect.build)))
    agent = await create_agent(root=folder / "root")
    async with await agent.create_session(workspace=folder, tools=[note], **dialect.reach(double)) as session:
        for text in ("note both", "and on"):
            run = session.run([user_text(text)], approve=allow, thinking_level="high")
            async for _ in run:
                run.retry_now()
        lines = list(read_lines(session.trace_path))
    return normalised([msgspec.json.decode(line) for line in lines], folder)


def normalised(records: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Without times, ids, paths and fidelity; tools' messages, which come as they finish, in call order."""
    ids: dict[str, str] = {}
    for record in records:
        payload = record["payload"]
        del record["timestamp"]
        payload.pop("fidelity", None)
        if record["type"] == "session_meta":
            prompt = payload["system_prompt"].replace(str(folder), "")
            payload |= {"session_id": "", "system_prompt": re.sub(r"(/memory/)[\w-]+", r"\1", prompt)}
            payload |= {"workspace": "", "agent_state": ""}
        if call_id := payload.get("tool_call_id"):
            payload["tool_call_id"] = ids.setdefault(call_id, f"call {len(ids) + 1}")
        if "error_message" in payload:
            payload["error_message"] = payload["error_message"][:8]
    return sorted_outputs(records)


def sorted_outputs(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Decisions and outputs come when they come: here they stand behind the request that they belong to, in order."""
    settled: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for record in records:
        if record["payload"].get("type") in ("approval_decision", "tool_call_output"):
            waiting.append(record)
            continue
        if record["payload"].get("type") in ("request_begin", "text") and record["payload"].get("role") != "assistant":
            settled += sorted(waiting, key=lambda one: (one["payload"]["tool_call_id"], one["payload"]["type"]))
            waiting = []
        settled.append(record)
    return settled + waiting


async def test_four_protocols_leave_one_trace(double: Double, tmp_path: Path) -> None:
    first, *others = [await recorded(dialect, double, tmp_path / dialect.client_type) for dialect in DIALECTS]
    assert [record["payload"].get("type") for record in first].count("request_begin") == 5
    for other in others:
        assert other == first


async def test_b182_each_request_begins_with_the_bytes_of_the_one_before(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    """Tools, system prompt and messages, up to the new messages: what a prompt cache needs."""
    build = dialect.build
    turns = [
        build.turn(build.thinking(f"Step {n}."), build.text(f"Look {n}."), build.call("note", {"n": n}, id=f"c{n}"))
        for n in range(TURNS)
    ]
    double.load(dialect.script(*turns, build.reply("Done."), build.reply("More.")))
    agent = await create_agent(root=tmp_path / "root")
    async with await agent.create_session(workspace=tmp_path, tools=[note], **dialect.reach(double)) as session:
        for text in ("count", "go on"):
            async for _ in session.run([user_text(text)], approve=allow, thinking_level="high"):
                pass
    bodies = [up_to_new(request.body, dialect) for request in double.requests()]
    assert len(bodies) == TURNS + 2
    for before, after in pairwise(bodies):
        assert after.startswith(before)


def up_to_new(body: bytes, dialect: Dialect) -> bytes:
    """The body up to the end of its last message: what varies from request to request stands behind."""
    members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    messages = bytes(members[dialect.conversation])
    place = body.index(messages)
    return body[:place] + messages[:-1]
