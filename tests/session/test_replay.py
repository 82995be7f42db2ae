"""Any Trace is a model: a recorded session plays again, while its tools really run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penguin_harness import RequestEnd, TraceError, UnknownMessage, user_text
from penguin_harness.llm.script import Script, ScriptItem, call, say, think
from penguin_harness.omnimessage import AssistantContent, OmniMessage
from tests.support import allow, new_agent, outputs, texts, watched

SIGNED = b'{"signature":"s","n":1.0}'
TURNS: list[list[ScriptItem]] = [
    [
        think("hm", fidelity=SIGNED),
        say("I write it twice."),
        call("write_file", id="X", path="a.txt", content="one\n"),
        call("exec_command", id="Y", command="cat a.txt"),
    ],
    [call("exec_command", id="X", command="echo again")],
    [say("Done, with é and 👩‍💻.")],
    [say("You are welcome.")],
]


def said(messages: list[OmniMessage]) -> list[Any]:
    """What the model said, whole."""
    payloads = (message.payload for message in messages if not isinstance(message, UnknownMessage))
    return [p for p in payloads if isinstance(p, AssistantContent) and p.role == "assistant"]


async def recording(folder: Path) -> tuple[Path, list[Any]]:
    """The Trace of a session of two runs, and what its model said."""
    async with watched(folder, Script(TURNS)) as session:
        await session.run("write it")
        await session.run("thanks")
        return session.session.trace_path, said(session.stream)


def replay(path: Path) -> dict[str, Any]:
    return {"provider": "replay", "model_id": str(path)}


async def test_a_recording_plays_the_same_words_and_its_tools_really_run(tmp_path: Path) -> None:
    path, original = await recording(tmp_path / "one")
    async with watched(tmp_path / "two", None, **replay(path)) as session:
        await session.run("write it")
        await session.run("thanks")
        assert said(session.stream) == original
        assert (tmp_path / "two" / "work" / "a.txt").read_text(encoding="utf-8") == "one\n"
        again = session.session.trace_path
    async with watched(tmp_path / "three", None, **replay(again)) as session:
        await session.run("write it")
        assert outputs(session.stream)["X#2"] == ("again\n", "completed")


@pytest.mark.parametrize(
    ("asked", "told"),
    [(["something else"], "something else"), (["write it", "thanks", "more"], "no turn 5")],
    ids=["another-question", "beyond-the-end"],
)
async def test_a_conversation_that_leaves_the_recording_is_told_where(
    tmp_path: Path, asked: list[str], told: str
) -> None:
    path, _ = await recording(tmp_path / "one")
    async with watched(tmp_path / "two", None, **replay(path)) as session:
        for text in asked:
            await session.run(text)
        end = session.stream[-1].payload
    assert isinstance(end, RequestEnd)
    assert (end.status, end.error_code) == ("fatal", "rejected")
    assert told in (end.error_message or "")


async def test_a_recording_goes_on_after_a_resume(tmp_path: Path) -> None:
    path, _ = await recording(tmp_path / "one")
    async with watched(tmp_path / "two", None, **replay(path)) as session:
        await session.run("write it")
        session_id = session.session.session_id
    agent = await new_agent(tmp_path / "two")
    async with await agent.resume_session(session_id) as resumed:
        seen = [message async for message in resumed.run([user_text("thanks")], approve=allow)]
    assert texts(seen) == ["You are welcome."]


async def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"absent\.jsonl"):
        async with watched(tmp_path, None, **replay(tmp_path / "absent.jsonl")):
            pass
    (tmp_path / "empty.jsonl").touch()
    async with watched(tmp_path, None, **replay(tmp_path / "empty.jsonl")) as session:
        end = (await session.run("hi"))[-1].payload
        assert isinstance(end, RequestEnd)
        assert end.error_code == "rejected"
