"""A session resumed from its Trace is the session that never stopped."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import Agent, ConfigError, Session, SessionError, TraceError, TraceLocked, user_text
from penguin_harness.engine.carry import NOT_RUN, UNCERTAIN
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import decode
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_lines, read_messages
from tests.engine.test_context import TRACES, assert_legal, readable
from tests.support import allow, assert_conforms, assert_law_1, kinds, new_agent, outputs, texts

SIGNATURE = b'{"signature":"s","n":1.0,"e":1e5}'


def finish_in_reverse() -> list[Any]:
    """Two tools of which the second always ends before the first."""
    gate = asyncio.Event()

    async def first() -> str:
        """End second."""
        await gate.wait()
        gate.clear()
        return "first"

    async def second() -> str:
        """End first."""
        gate.set()
        return "second"

    return [first, second]


CONVERSATION: list[tuple[str, list[list[ScriptItem]]]] = [
    ("one", [[think("hm", fidelity=SIGNATURE), call("first", id="x"), call("second", id="y")], [say("both ran")]]),
    ("two", [[say("half"), fail("retryable", "network", "reset")]]),
    ("three", [[call("second", id="x"), call("first", id="x")], [call("nope", id="z")], [say("done")]]),
    ("four", [[say("the end")]]),
]


async def converse(agent: Agent, workspace: Path, *, stop_after_each: bool) -> list[Any]:
    """The whole conversation; every request that the model got."""
    requests: list[Any] = []
    session: Session | None = None
    for text, turns in CONVERSATION:
        model = Script(turns)
        if session is None:
            session = await agent.create_session(workspace=workspace, model=model, tools=finish_in_reverse())
        elif stop_after_each:
            session = await agent.resume_session(session.session_id, model=model, tools=finish_in_reverse())
        else:
            session._model = model  # pyright: ignore[reportPrivateUsage]
        async for _ in session.run([user_text(text)], approve=allow):
            assert_law_1(session)
        requests += model.requests
        if stop_after_each:
            await session.close()
    assert session is not None
    await session.close()
    assert_conforms(check(read_lines(session.trace_path), "trace", finished=True))
    return requests


async def test_a_resumed_session_sends_what_the_one_that_never_stopped_sends(tmp_path: Path) -> None:
    """Law 2, also when parallel tools finished out of order; each request begins with the one before it."""
    (tmp_path / "work").mkdir()
    agent = await new_agent(tmp_path)
    live = await converse(agent, tmp_path / "work", stop_after_each=False)
    resumed = await converse(agent, tmp_path / "work", stop_after_each=True)
    assert resumed == live
    for before, after in itertools.pairwise(live):
        assert after.messages[: len(before.messages)] == before.messages


async def recorded(tmp_path: Path, turns: list[list[ScriptItem]], **options: Any) -> Session:
    """A session with one run behind it, closed."""
    (tmp_path / "work").mkdir(exist_ok=True)
    agent = await new_agent(tmp_path)
    async with await agent.create_session(workspace=tmp_path / "work", model=Script(turns)) as session:
        async for _ in session.run([user_text("go")], approve=options.get("approve", allow)):
            pass
    return session


def cut_behind(session: Session, mark: bytes) -> None:
    """The file as it was when the process died behind the last record with this mark."""
    lines = list(read_lines(session.trace_path))
    last = max(number for number, line in enumerate(lines) if mark in line)
    session.trace_path.write_bytes(b"".join(line + b"\n" for line in lines[: last + 1]))


TOOL_TURN: list[list[ScriptItem]] = [
    [say("I look."), call("exec_command", id="a", command="true"), call("exec_command", id="b", command="true")],
    [say("Seen.")],
]


@pytest.mark.parametrize(
    ("mark", "closed"),
    [
        (b'"request_begin"', ["request_end"]),
        (b'"type":"tool_call",', ["request_end", "tool_call_output", "tool_call_output"]),
        (b'"request_end","status":"completed"', []),
    ],
    ids=["in-a-request", "behind-a-call", "at-the-end"],
)
async def test_what_a_dead_process_left_open_is_closed_by_the_next_run(
    tmp_path: Path, mark: bytes, closed: list[str]
) -> None:
    """B001: by appending; nothing of the old file changes, and nothing runs by itself."""
    session = await recorded(tmp_path, TOOL_TURN)
    cut_behind(session, mark)
    before = session.trace_path.read_bytes()
    model = Script([[say("ok")]])
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id[-8:], model=model) as resumed:
        assert session.trace_path.read_bytes() == before
        seen = [message async for message in resumed.run([user_text("and now?")])]
        assert_law_1(resumed)
    assert session.trace_path.read_bytes().startswith(before)
    assert kinds(seen)[: len(closed)] == closed
    assert_conforms(check(read_lines(session.trace_path), "trace", finished=True))
    assert_legal(model.requests[0].messages)


@pytest.mark.parametrize(("mark", "told"), [(b'"allow"', UNCERTAIN), (b'"request_end"', NOT_RUN)])
async def test_a_call_is_told_by_what_is_known_of_it(tmp_path: Path, mark: bytes, told: str) -> None:
    """B093, B124: an allowed call without output is uncertain, one that nobody decided did not run."""
    session = await recorded(tmp_path, TOOL_TURN[:1], approve=None if told == NOT_RUN else allow)
    cut_behind(session, b'"request_end","status":"completed"' if told == NOT_RUN else mark)
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id, model=Script([[say("ok")]])) as resumed:
        seen = [message async for message in resumed.run([user_text("and now?")])]
    assert told in {output for output, _ in outputs(seen).values()}


async def test_an_empty_run_asks_what_was_not_decided_and_goes_on(tmp_path: Path) -> None:
    """B008, B146: a pending approval survives a restart, and nothing runs without an answer."""
    session = await recorded(tmp_path, [TOOL_TURN[0]], approve=None)
    cut_behind(session, b'"request_end","status":"completed"')
    asked: list[str] = []

    def ask(tool_call: Any) -> Any:
        asked.append(tool_call.tool_call_id)
        return "allow"

    agent = await new_agent(tmp_path)
    model = Script([[say("Seen.")]])
    async with await agent.resume_session(session.session_id, model=model) as resumed:
        seen = [message async for message in resumed.run([], approve=ask)]
    assert asked == ["a", "b"]
    assert texts(seen) == ["Seen."]
    assert {stop for _, stop in outputs(seen).values()} == {"completed"}
    assert_conforms(check(read_lines(session.trace_path), "trace", finished=True))


async def test_a_torn_tail_is_passed_over_and_written_behind(tmp_path: Path) -> None:
    """B113: all records of the new run are there."""
    session = await recorded(tmp_path, [[say("yes")]])
    with session.trace_path.open("ab") as file:
        file.write(b'{"type":"model_msg","timest')
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id, model=Script([[say("again")]])) as resumed:
        assert len(resumed.skipped) == 1
        async for _ in resumed.run([user_text("more")]):
            assert_law_1(resumed)
    assert texts(read_messages(session.trace_path)) == ["yes", "again"]


async def test_a_session_has_one_writer(tmp_path: Path) -> None:
    """B120: refused at once with the owner named; the file stays as it is."""
    (tmp_path / "work").mkdir()
    agent = await new_agent(tmp_path)
    async with await agent.create_session(workspace=tmp_path / "work", model=Script([[say("ok")]])) as session:
        async for _ in session.run([user_text("hi")]):
            pass
        with pytest.raises(TraceLocked, match=f"{session.session_id} is being written by this process"):
            await agent.resume_session(session.session_id)
    await (await agent.resume_session(session.session_id, model=Script([]))).close()


async def test_an_owner_whose_lock_was_removed_cannot_write_any_more(tmp_path: Path) -> None:
    """A stale owner is told at once, the new one goes on undisturbed, and no record is lost or mixed."""
    agent = await new_agent(tmp_path)
    model = Script([[say("one")], [say("never")]])
    async with await agent.create_session(model=model) as stale:
        async for _ in stale.run([user_text("hi")]):
            pass
        [lock] = list(tmp_path.rglob("*.lock"))
        lock.unlink()
        async with await agent.resume_session(stale.session_id, model=Script([[say("two")]])) as owner:
            with pytest.raises(TraceLocked, match="is not ours any more"):
                async for _ in stale.run([user_text("mine")]):
                    pass
            async for _ in owner.run([user_text("yours")]):
                assert_law_1(owner)
            await stale.close()
            assert lock.exists()
    assert texts(read_messages(owner.trace_path)) == ["one", "two"]
    assert_conforms(check(read_lines(owner.trace_path), "trace", finished=True))


async def test_the_newest_context_of_that_session_is_resumed_and_no_other(tmp_path: Path) -> None:
    """B121, B123: by id, whatever modification times and copies there are; its model is the one of that file."""
    session = await recorded(tmp_path, [[say("first context")]])
    second = session.trace_path.with_name(session.trace_path.name.replace("_001", "_002"))
    lines = list(read_lines(session.trace_path))
    second.write_bytes(b"\n".join([lines[0].replace(b'"script"', b'"other"'), lines[2]]) + b"\n")
    shutil.copy(session.trace_path, session.trace_path.with_name("copy.jsonl"))
    session.trace_path.touch()
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id, model=Script([])) as resumed:
        assert (resumed.trace_path, resumed.history) == (second, ())
        assert resumed.meta.provider == "other"


@pytest.mark.parametrize("content", [b"", b"\n", b"not json\n", b'{"type":"event_msg","timestamp":"x","payload":{}}\n'])
async def test_a_file_without_a_session_meta_cannot_be_resumed_and_says_why(tmp_path: Path, content: bytes) -> None:
    """B117."""
    session = await recorded(tmp_path, [[say("x")]])
    session.trace_path.write_bytes(content)
    agent = await new_agent(tmp_path)
    with pytest.raises(TraceError, match="no readable session_meta"):
        await agent.resume_session(session.session_id)
    assert not list(tmp_path.rglob("*.lock"))


async def test_a_session_that_is_not_there_says_what_there_is(tmp_path: Path) -> None:
    session = await recorded(tmp_path, [[say("x")]])
    agent = await new_agent(tmp_path)
    with pytest.raises(SessionError, match=f"no session matches 'zzz'.*{session.session_id}"):
        await agent.resume_session("zzz")


@pytest.mark.parametrize(
    "path", [path for path in TRACES if path.name.startswith("trace_")], ids=lambda p: p.parent.name
)
async def test_every_upstream_trace_resumes_and_goes_on(tmp_path: Path, path: Path) -> None:
    """The old dialect is data: its contexts are legal, and what is appended behind them conforms."""
    first = readable(path.read_bytes())[0]
    session_id = json.loads(path.read_bytes().split(b"\n")[0])["payload"]["session_id"]
    agent = await new_agent(tmp_path)
    copy = agent.paths.traces / session_id[8:18] / f"{session_id}_001.jsonl"
    copy.parent.mkdir(parents=True)
    shutil.copyfile(path, copy)
    model = Script([[call("read_file", id="new", path=".")], [say("ok")]])
    async with await agent.resume_session(session_id, model=model) as session:
        assert session.meta.session_id == session_id
        assert_legal(session.history)
        seen = [message async for message in session.run([user_text("go on")], approve=allow)]
        assert_law_1(session)
    assert texts(seen) == ["ok"]
    for request in model.requests:
        assert_legal(request.messages)
    assert copy.read_bytes().startswith(path.read_bytes())
    assert first == decode(path.read_bytes().split(b"\n")[0])


async def test_a_workspace_that_is_not_there_is_named(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"the workspace .*/nowhere does not exist"):
        await agent.create_session(workspace=tmp_path / "nowhere", model=Script([]))
    with pytest.raises(ConfigError, match=r"the workspace .*/file is a file"):
        await agent.create_session(workspace=tmp_path / "file", model=Script([]))
    assert not list(tmp_path.rglob("*.lock"))


async def test_a_vanished_workspace_is_told_at_once_and_forgotten_when_it_is_back(tmp_path: Path) -> None:
    session = await recorded(tmp_path, [[say("x")]])
    (tmp_path / "work").rename(tmp_path / "elsewhere")
    model = Script([[call("exec_command", id="a", command="true")], [say("ok")], [say("fine")]])
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id, model=model) as resumed:
        seen = [message async for message in resumed.run([user_text("go on")], approve=allow)]
        [told] = texts(seen, "user")
        assert told.startswith(f"The workspace {tmp_path}/work is not there")
        output, stop_reason = outputs(seen)["a"]
        assert (stop_reason, f"{tmp_path}/work" in output) == ("fatal", True)
        (tmp_path / "elsewhere").rename(tmp_path / "work")
        seen = [message async for message in resumed.run([user_text("again")])]
        assert texts(seen) == ["fine"]
        assert texts(seen, "user") == []


async def test_a_file_in_the_way_of_the_traces_is_named(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    agent.paths.agent.mkdir(parents=True)
    agent.paths.traces.touch()
    with pytest.raises(TraceError, match=r"cannot lock the session at .*/traces/"):
        await agent.create_session(workspace=tmp_path, model=Script([]))
