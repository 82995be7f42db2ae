"""Another model for the same session, another session with the same past, and a name for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import ConfigError, Session, SessionError, Text, ToolCall, ToolCallOutput, user_text
from penguin_harness.contracts import ModelRef
from penguin_harness.engine.head import transcript
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import CompletePayload, SessionMetaMessage
from penguin_harness.omnimessage.check import Checker, check_session
from penguin_harness.opening import FOREIGN
from penguin_harness.trace import find_session, read_lines
from tests.engine.test_context import assert_legal
from tests.support import allow, assert_conforms, assert_law_1, new_agent

SIGNED = b'{"signature":"only for this model","n":1.0}'
TURNS: list[list[ScriptItem]] = [
    [think("hm", fidelity=SIGNED), call("exec_command", id="X", command="echo first")],
    [say("It says first.", fidelity=SIGNED)],
    [call("exec_command", id="X", command="echo second")],
    [say("It says second.")],
]


async def talked(tmp_path: Path) -> tuple[Session, Script]:
    """A session of two runs, still open."""
    agent = await new_agent(tmp_path)
    model = Script(TURNS)
    session = await agent.create_session(model=model)
    for text in ("one", "two"):
        async for _ in session.run([user_text(text)], approve=allow):
            pass
    return session, model


def files(session: Session) -> list[list[bytes]]:
    traces = session.trace_path.parent.parent
    return [list(read_lines(path)) for path in find_session(traces, session.session_id).paths]


async def test_another_model_gets_the_conversation_in_words(tmp_path: Path) -> None:
    """B032: nothing that one model signed reaches another."""
    session, first = await talked(tmp_path)
    second = Script([[say("I go on.")]], ref=ModelRef("other", "model"), context_window=64_000)
    checker = Checker("stream")
    async for message in await session.switch_model(model=second):
        checker.feed(message)
        assert_law_1(session)
    assert first.closed
    assert (session.meta.provider, session.meta.model_id) == ("other", "model")
    async for message in session.run([user_text("three")]):
        checker.feed(message)
        assert_law_1(session)
    await session.close()
    assert second.closed
    assert_conforms(checker.report(finished=True))
    assert_conforms(check_session(files(session), finished=True))
    [request] = second.requests
    told, three = request.messages
    assert isinstance(told, Text)
    assert told.text.startswith("[context_summary]")
    assert all(part in told.text for part in ("one", "echo first", "It says first.", "second"))
    assert "signature" not in told.text
    assert three == Text("user", "three")
    agent = await new_agent(tmp_path)
    async with await agent.resume_session(session.session_id, model=Script([])) as resumed:
        assert (resumed.meta.provider, resumed.meta.model_context_window) == ("other", 64_000)


async def test_the_stream_of_a_switch_is_the_new_head(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path)
    seen = [message async for message in await session.switch_model(model=Script([], ref=ModelRef("o", "m")))]
    assert isinstance(seen[0], SessionMetaMessage)
    assert [message.payload.type for message in seen] == ["session_meta", "tool_list_ready", "text"]
    await session.close()


async def test_a_session_that_has_not_begun_just_takes_the_other_model(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=Script([])) as session:
        second = Script([[say("hi")]], ref=ModelRef("other", "model"))
        assert [message async for message in await session.switch_model(model=second)] == []
        async for _ in session.run([user_text("hello")]):
            assert_law_1(session)
        assert len(files(session)) == 1
        assert session.meta.provider == "other"


async def test_an_unknown_model_changes_nothing(tmp_path: Path) -> None:
    session, model = await talked(tmp_path)
    with pytest.raises(ConfigError, match="nobody"):
        await session.switch_model(provider="nobody", model_id="x")
    assert (session.meta.provider, model.closed, len(files(session))) == ("script", False, 1)
    await session.close()


@pytest.mark.parametrize(("at", "texts"), [(1, 0), (2, 1), (3, 1), (4, 2), (None, 2)])
async def test_a_fork_has_the_same_bytes_up_to_a_turn_and_goes_its_own_way(
    tmp_path: Path, at: int | None, texts: int
) -> None:
    """Fidelity is kept; the session that was forked may be in use, and stays as it is."""
    session, original = await talked(tmp_path)
    before = session.trace_path.read_bytes()
    model = Script([[say("another way")]])
    agent = await new_agent(tmp_path)
    async with await agent.fork_session(session.session_id, at=at, model=model) as fork:
        assert fork.session_id != session.session_id
        [copied] = files(fork)
        assert copied[1:] == before.splitlines()[1 : len(copied)]
        async for _ in fork.run([user_text("else")], approve=allow):
            assert_law_1(fork)
    assert session.trace_path.read_bytes() == before
    assert_conforms(check_session(files(fork), finished=True))
    sent = model.requests[0].messages
    assert_legal(sent)
    assert sent[-1] == Text("user", "else")
    assert sent[0] == original.requests[0].messages[0]
    assert len([p for p in sent if isinstance(p, Text) and p.role == "assistant"]) == texts
    if at != 1:
        following = original.requests[min(at or 9, 4) - 1].messages
        assert sent[: len(following)] == following
    await session.close()


async def test_a_fork_of_two_contexts_keeps_both_files(tmp_path: Path) -> None:
    session, _ = await talked(tmp_path)
    async for _ in session.compact("discard"):
        pass
    session._model = Script([[say("fresh")]])  # pyright: ignore[reportPrivateUsage]
    async for _ in session.run([user_text("three")]):
        pass
    await session.close()
    agent = await new_agent(tmp_path)
    async with await agent.fork_session(session.session_id, model=Script([])) as fork:
        assert len(files(fork)) == 2
        assert fork.usage == session.usage
    assert_conforms(check_session(files(fork), finished=True))


@pytest.mark.parametrize("at", [0, -1, 5])
async def test_a_turn_that_is_not_there_is_named(tmp_path: Path, at: int) -> None:
    session, _ = await talked(tmp_path)
    agent = await new_agent(tmp_path)
    with pytest.raises(SessionError, match=f"at turn {at} .*it has the turns 1 to 4"):
        await agent.fork_session(session.session_id, at=at, model=Script([]))
    assert len(agent.sessions()) == 1
    await session.close()


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ([say('  "Counting penguins."\n')], "Counting penguins"),
        ([fail("retryable", "network", "x")], None),
        ([say("\u200b")], None),
    ],
)
async def test_a_title_is_a_request_aside(tmp_path: Path, answer: Any, title: str | None) -> None:
    agent = await new_agent(tmp_path)
    model = Script([[say("ok")], answer])
    async with await agent.create_session(model=model) as session:
        assert await session.title() is None
        async for _ in session.run([user_text("Count the penguins")]):
            pass
        before = session.trace_path.read_bytes()
        assert await session.title() == title
        assert session.trace_path.read_bytes() == before
        assert_law_1(session)
    assert model.requests[1].tools == ()


def test_calls_and_outputs_are_told_apart_in_words() -> None:
    told = transcript((ToolCall("assistant", "t", "{}", "c"), ToolCallOutput("user", "out", "c")))
    assert told == "Assistant calls t {}\n\nOutput: out"


async def test_a_session_resumed_with_another_model_goes_on_in_a_context_of_its_own(tmp_path: Path) -> None:
    """What the Trace says of the model is true of every request: the other one gets the conversation in words."""
    agent = await new_agent(tmp_path)
    first = Script([[think("Hm."), say("one")]], ref=ModelRef("vendor", "first"))
    async with await agent.create_session(model=first) as session:
        async for _ in session.run([user_text("count")]):
            pass
        name = session.session_id
    second = Script([[say("two")], [say("three")]], ref=ModelRef("other", "second"))
    async with await agent.resume_session(name, model=second) as session:
        seen = [message async for message in session.run([user_text("go on")])]
        assert [message.payload.type for message in seen[:2]] == ["session_meta", "tool_list_ready"]
        assert (session.meta.provider, session.meta.model_id) == ("other", "second")
        async for _ in session.run([user_text("and on")]):
            pass
        assert_conforms(check_session(files(session), finished=True))
        assert len(files(session)) == 2
    told = second.requests[0].messages[0]
    assert isinstance(told, Text)
    assert "1 part of the model's thinking" in told.text


async def test_a_model_that_another_protocol_signed_for_is_named_once(tmp_path: Path) -> None:
    """A model that leaves out what it cannot send says how much; the person and the model are told, once."""

    class Choosy(Script):
        def left_out(self, messages: Sequence[CompletePayload]) -> int:
            return sum(isinstance(payload, Text) and payload.role == "assistant" for payload in messages)

    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=Script([[say("one")]])) as session:
        async for _ in session.run([user_text("count")]):
            pass
        name = session.session_id
    async with await agent.resume_session(name, model=Choosy([[say("two")], [say("three")]])) as session:
        seen = [message async for message in session.run([user_text("on")])]
        seen += [message async for message in session.run([user_text("and on")])]
        assert_conforms(check_session(files(session), finished=True))
    notices = [m.payload.text for m in seen if isinstance(m.payload, Text) and m.payload.sender == "harness"]
    assert notices == [FOREIGN.format(count=1)]
