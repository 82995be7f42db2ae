"""Functions as hooks that fail, block or are interrupted: a record, and nothing in the way of a run."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from penguin_harness.contracts import HookVerdict
from penguin_harness.hooks import Answer, ProposedCall, UserHook, in_process
from tests.hooks.support import Asked
from tests.support import until

DENY = Answer(decision="deny", reason="not today")
ALLOW = Answer(decision="allow")


def gate(answer: Any, *, name: str = "gate", **settings: Any) -> UserHook:
    return in_process("pre_tool_use", lambda _: answer, name=name, **settings)


WRONG: dict[str, Any] = {
    "another type": 7,
    "a text about a call": "no",
    "a decision of another point": Answer(decision="continue", text="go"),
    "no decision at all": Answer(decision="maybe"),  # pyright: ignore[reportArgumentType]
    "a reason that is no text": Answer(decision="deny", reason=3),  # pyright: ignore[reportArgumentType]
    "a nested record": Answer(decision="deny", output={"a": [1]}),  # pyright: ignore[reportArgumentType]
    "what no JSON holds": Answer(decision="deny", output={"a": object()}),  # pyright: ignore[reportArgumentType]
    "no number": Answer(decision="deny", output={"a": float("nan")}),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_an_answer_that_cannot_be_used_is_a_failure(wrong: Any) -> None:
    asked = Asked(gate(wrong))
    assert await asked.call() is None
    assert asked.output("failure") == "malformed"
    assert asked.event.decision is None


async def test_continue_without_words_is_a_failure() -> None:
    asked = Asked(in_process("stop", lambda _: Answer(decision="continue"), name="on"))
    assert await asked.stop() is None
    assert asked.event.reason == ("The hook failed: its answer cannot be used: continue needs a text that says how.")


async def test_an_answer_too_long_to_be_one_is_a_failure() -> None:
    asked = Asked(in_process("user_prompt", lambda _: "x" * 70_000, name="long"))
    assert await asked.prompt("hello") == []
    assert asked.output("failure") == "too_long"


def raises(_: object) -> Answer:
    raise RuntimeError("no idea")


def stops_iterating(_: object) -> Answer:
    raise StopIteration


async def cancels_itself(_: object) -> Answer:
    raise asyncio.CancelledError


@pytest.mark.parametrize("function", [raises, stops_iterating, cancels_itself])
@pytest.mark.parametrize("on_failure", ["deny", "ignore"])
async def test_b151_a_function_that_raises_follows_its_policy(function: Any, on_failure: Any) -> None:
    asked = Asked(in_process("pre_tool_use", function, name="gate", on_failure=on_failure))
    verdict = await asked.call()
    assert (verdict and verdict.decision) == ("deny" if on_failure == "deny" else None)
    assert asked.event.decision == ("deny" if on_failure == "deny" else None)
    assert asked.output("failure") == "raised"


async def test_b151_a_call_that_cannot_be_read_is_not_let_through() -> None:
    def look(proposed: ProposedCall) -> Answer | None:
        return DENY if "a" in proposed.arguments else None

    asked = Asked(in_process("pre_tool_use", look, name="look", on_failure="deny"))
    verdict = await asked.call(arguments="[" * 5000)
    assert verdict is not None
    assert verdict.decision == "deny"


async def test_b152_a_function_that_takes_too_long_is_left_behind() -> None:
    release = threading.Event()

    def block(_: object) -> Answer:
        release.wait(20)
        return DENY

    asked = Asked(gate(ALLOW, name="next"), in_process("pre_tool_use", block, name="block", timeout_s=0.1))
    began = time.monotonic()
    try:
        assert await asked.call() == HookVerdict("allow", "next")
    finally:
        release.set()
    assert time.monotonic() - began < 2
    assert [(event.name, event.reason) for event in asked.events] == [
        ("block", "The hook failed: it took longer than its 0.1 s."),
        ("next", None),
    ]


async def test_a_coroutine_that_refuses_to_end_holds_nothing_up() -> None:
    release = asyncio.Event()
    ended = asyncio.Event()

    async def stubborn(_: object) -> Answer:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return DENY

    asked = Asked(in_process("pre_tool_use", stubborn, name="stubborn", timeout_s=0.05, on_failure="deny"))
    async with asyncio.timeout(5):
        verdict = await asked.call()
    assert verdict is not None
    assert asked.output("failure") == "timeout"
    release.set()
    await until(ended.is_set)
    assert len(asked.events) == 1


async def test_b106_a_plain_function_leaves_the_loop_free() -> None:
    release = threading.Event()

    def block(_: object) -> Answer:
        assert release.wait(10), "the loop did not go on"
        return ALLOW

    async def beat() -> None:
        release.set()

    asked = Asked(in_process("pre_tool_use", block, name="block"))
    verdict, _ = await asyncio.gather(asked.call(), beat())
    assert verdict == HookVerdict("allow", "block")


async def test_b090_an_interruption_cancels_the_hook() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def slow(_: object) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    asked = Asked(in_process("stop", slow, name="slow"))
    task = asyncio.create_task(asked.stop())
    await until(started.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert asked.events == []


async def test_an_answer_that_crosses_the_interruption_is_recorded_and_not_followed() -> None:
    started = asyncio.Event()

    async def insists(_: object) -> Answer:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return Answer(decision="continue", text="Go on.")
        return Answer()

    asked = Asked(in_process("stop", insists, name="insists"))
    task = asyncio.create_task(asked.stop())
    await until(started.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asked.event.decision == "continue"
