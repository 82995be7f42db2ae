"""Steering: delivered to the model exactly once, or handed back to the caller."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penguin_harness import InputError, PartialText, RequestEnd, Run, user_image, user_text
from penguin_harness.llm.script import Script, call, fail, say
from penguin_harness.omnimessage import ImageUrl, Text, UserContent, block
from tests.support import texts, watched

PIXEL = "data:image/png;base64,AA"


def wrapped(text: str) -> Text:
    return Text("user", block("user_steering", text), sender="user")


def given(run: Run) -> list[UserContent]:
    """What was handed back."""
    return [message.payload for message in run.undelivered if isinstance(message.payload, UserContent)]


async def test_words_in_the_middle_of_a_task_reach_the_model_with_the_next_input(tmp_path: Path) -> None:
    """B095: recorded and streamed behind the outputs, images behind the words, once."""
    heard = asyncio.Event()

    async def work() -> str:
        """Work until something is said."""
        await heard.wait()
        return "worked"

    model = Script([[call("work", id="a")], [call("work", id="b")], [say("ok")]])
    async with watched(tmp_path, model, [work]) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, RequestEnd) and not heard.is_set():
                assert run.steer([user_text("rather left"), user_image(PIXEL)])
                heard.set()
        assert run.undelivered == ()
        assert not run.steer([user_text("too late")])
    assert model.requests[1].messages[-2:] == (wrapped("rather left"), ImageUrl("user", PIXEL, sender="user"))
    assert str(model.requests[2].messages).count("rather left") == 1
    assert texts(session.stream, "user") == [wrapped("rather left").text]


async def test_steering_keeps_a_task_going_that_would_have_ended(tmp_path: Path) -> None:
    heard = asyncio.Event()
    model = Script([[say("finished"), heard], [say("one more thing done")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, PartialText) and not heard.is_set():
                assert run.steer([user_text("one more thing")])
                heard.set()
    assert texts(session.stream) == ["finished", "one more thing done"]


async def test_what_an_abort_left_over_is_handed_back(tmp_path: Path) -> None:
    model = Script([[say("working"), asyncio.Event()], [say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if isinstance(message.payload, Text):
                assert run.steer([user_text("wait")])
                run.abort()
                assert not run.steer([user_text("never")])
        assert given(run) == [Text("user", "wait")]
        session.inputs += 1
        await session.read(session.session.run(list(run.undelivered)))
    assert "[user_steering]" not in str(model.requests[-1].messages)
    assert str(model.requests[-1].messages).count("'wait'") == 1


async def test_what_the_turn_limit_or_a_failure_left_over_is_handed_back(tmp_path: Path) -> None:
    for ending, limit in ((call("read_file", path="."), 1), (fail("fatal", "auth", "no"), None)):
        heard = asyncio.Event()
        model = Script([[say("half"), heard, ending]])
        async with watched(tmp_path / str(limit), model) as session:
            run = session.start("go", max_turns=limit)
            async for message in run:
                session.see(message)
                if isinstance(message.payload, PartialText) and not heard.is_set():
                    assert run.steer([user_text("later")])
                    heard.set()
            assert given(run) == [Text("user", "later")]


async def test_only_user_content_steers(tmp_path: Path) -> None:
    model = Script([[say("ok")]])
    async with watched(tmp_path, model) as session:
        run = session.start()
        with pytest.raises(InputError, match="blank"):
            run.steer([user_text("  ")])
        await session.read(run)
