"""Sessions that together hold every kind of record, recorded by the engine, and one written by hand for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness import Agent, PartialText, PartialToolCallOutput, RequestEnd, Run, Session, user_image, user_text
from penguin_harness import omnimessage as om
from penguin_harness.contracts import CallDelta, Outcome, TextDelta
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import CompletePayload, OmniMessage
from penguin_harness.trace import TraceWriter, context_file, find_session
from tests.double.chat.conversation import PNG
from tests.engine.test_context import META
from tests.support import allow, new_agent

Play: TypeAlias = Callable[[Session], Awaitable[None]]
USAGE = om.TokenCounts.of(cache_write=10, output=2)
SIGNATURE = b'{"reasoning_field":"reasoning_content","n":1.0}'
RESET = fail("retryable", "network", "reset")
SUMMARY = say("[summary]Two things were said.[/summary]")


class Recording(Struct, frozen=True):
    """A session's files, and what the model was sent, request by request."""

    name: str
    session_id: str
    files: tuple[bytes, ...]
    requests: tuple[tuple[CompletePayload, ...], ...] | None


async def read(run: Run, behind: Callable[[OmniMessage], bool] | None = None, act: Any = None) -> None:
    """A run to its end; `act` happens behind the first such message."""
    async with asyncio.timeout(20):
        async for message in run:
            run.retry_now()
            if behind is not None and act is not None and behind(message):
                act()
                act = None


async def one(session: Session) -> None:
    await read(session.run([user_text("go")], approve=allow))


async def two(session: Session) -> None:
    await one(session)
    await read(session.run([user_text("and then?")], approve=allow))


async def denied(session: Session) -> None:
    await read(session.run([user_text("go")]))


async def limited(session: Session) -> None:
    await read(session.run([user_text("go")], approve=allow, max_turns=1))
    await read(session.run(approve=allow))


async def with_images(session: Session) -> None:
    await read(session.run([user_text("what is"), user_image(PNG), user_text("this?")]))
    await read(session.run([user_text("and now?")]))


async def steered(session: Session) -> None:
    run = session.run([user_text("go")], approve=allow)
    await read(run, _ends_request, lambda: run.steer([user_text("rather left"), user_image(PNG)]))


async def aborted_text(session: Session) -> None:
    run = session.run([user_text("go")])
    await read(run, lambda m: isinstance(m.payload, PartialText) and m.payload.text != "", run.abort)
    await read(session.run([user_text("go on")]))


async def aborted_tool(session: Session) -> None:
    run = session.run([user_text("go")], approve=allow)
    await read(run, lambda m: isinstance(m.payload, PartialToolCallOutput) and m.payload.output != "", run.abort)
    await read(session.run([user_text("go on")]))


async def compacted(session: Session) -> None:
    await two(session)
    await read(session.compact())
    await read(session.run([user_text("go on")]))


async def discarded(session: Session) -> None:
    await one(session)
    await read(session.compact("discard"))
    await read(session.run([user_text("go on")]))


async def compaction_only(session: Session) -> None:
    await two(session)
    await read(session.compact())


async def switched(session: Session) -> None:
    await one(session)
    await read(await session.switch_model(model=Script([[say("I am new.")]])))
    await read(session.run([user_text("go on")]))


def _ends_request(message: OmniMessage) -> bool:
    return isinstance(message.payload, RequestEnd)


def calls() -> list[ScriptItem]:
    return [call("exec_command", id="x", command="printf one"), call("exec_command", id="y", command="exit 3")]


def out_of_order() -> list[ScriptItem]:
    return [
        call("exec_command", id="x", command="until [ -e y ]; do :; done"),
        call("write_file", path="y", content=""),
    ]


CUT: list[ScriptItem] = [CallDelta(0, '{"command":"x', "x", "exec_command"), Outcome("completed", "output_limit")]
UNREADABLE: list[ScriptItem] = [CallDelta(0, '{"a', "x", "exec_command"), call("no such tool", id="y")]
SESSIONS: dict[str, tuple[list[list[ScriptItem]], Play]] = {
    "plain": ([[say("one")], [say("two")]], two),
    "thinking": ([[think("hm", fidelity=SIGNATURE), say("é 👩‍💻 \u2028")], [say("two")]], two),
    "parallel": ([calls(), [say("done")], [say("two")]], two),
    "out-of-order": ([out_of_order(), [say("done")], [call("read_file", id="x", path=".")], [say("two")]], two),
    "denied": ([calls(), [say("I see.")]], denied),
    "unreadable": ([UNREADABLE, [say("ok")], [say("ok")]], two),
    "retries": ([[say("half"), *calls(), RESET], [TextDelta("qu"), RESET], [RESET], [say("ok")], [say("two")]], two),
    "refused": ([[TextDelta("half"), fail("fatal", "rejected", "no")], [say("two")]], two),
    "output-limit": ([CUT, [say("in pieces")], [say("ok")]], two),
    "turn-limit": ([calls(), [say("done")]], limited),
    "steering": ([calls(), [say("left then")]], steered),
    "aborted-text": ([[TextDelta("half an ans"), asyncio.Event()], [say("ok")]], aborted_text),
    "aborted-tool": ([[call("exec_command", id="x", command="echo here; sleep 60")], [say("ok")]], aborted_tool),
    "images": ([[say("a pixel")], [say("the same")]], with_images),
    "compaction": ([calls(), [say("one")], [say("two")], [SUMMARY], [say("three")]], compacted),
    "compaction-at-the-end": ([[say("one")], [say("two")], [SUMMARY]], compaction_only),
    "discard": ([[say("one")], [say("two")]], discarded),
    "switch": ([calls(), [say("one")]], switched),
}


@contextmanager
def recordings() -> Generator[list[Recording]]:
    """All of them; their workspaces are there as long as they are used."""
    with TemporaryDirectory(prefix="penguin-") as folder:
        yield asyncio.run(record_all(Path(folder)))


async def record_all(folder: Path) -> list[Recording]:
    recorded = [await record(folder / name, name) for name in SESSIONS]
    return [*recorded, *(before_rotation(one) for one in recorded if len(one.files) > 1), by_hand(folder)]


def before_rotation(one: Recording) -> Recording:
    """The session as long as it had one file."""
    return replace(one, name=f"{one.name}, first file", files=one.files[:1])


async def record(folder: Path, name: str) -> Recording:
    turns, play = SESSIONS[name]
    (folder / "work").mkdir(parents=True)
    agent = await new_agent(folder)
    model = Script(turns)
    async with await agent.create_session(workspace=folder / "work", model=model) as session:
        await play(session)
    sent = tuple(tuple(request.messages) for request in model.requests)
    return Recording(name, session.session_id, files_of(agent, session.session_id), sent if name != "switch" else None)


def files_of(agent: Agent, session_id: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in find_session(agent.paths.traces, session_id).paths)


def by_hand(folder: Path) -> Recording:
    """A subagent, a policy's veto, a call without schema, and images of a failed attempt and of a committed call."""
    retry = om.request_end("retryable", error_code="malformed", error_message="cut", attempt=1, retry_in_ms=2000)
    sequence: list[OmniMessage] = [
        om.session_meta(replace(META, workspace=str(folder))),
        om.user_text("go"),
        om.user_image(PNG),
        om.tool_list_ready([om.ToolSchema("t", "Does it.")]),
        om.request_begin(),
        om.tool_call("t", "{}", "a"),
        om.approval_decision("allow", "a"),
        om.tool_call_output("ran", "a", images=[PNG]),
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
        om.tool_call_output("done", "a#2", images=[PNG]),
        om.request_begin(),
        om.assistant_text("[summary]not a compaction[/summary]"),
        om.token_usage(USAGE + USAGE, USAGE),
        om.request_end(),
    ]
    path = context_file(folder, META.session_id, 1)
    writer = TraceWriter(path)
    for message in sequence:
        writer.append(om.encode(message))
    writer.close()
    return Recording("by-hand", META.session_id, (path.read_bytes(),), None)
