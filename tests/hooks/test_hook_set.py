"""Functions as hooks: asked in order, the first decision counts, each answer is an event."""

from __future__ import annotations

from typing import Any

import pytest

from penguin_harness.contracts import Ended, HookVerdict
from penguin_harness.errors import ConfigError
from penguin_harness.hooks import Answer, HookSet, Prompt, ProposedCall, TaskEnded, UserHook, in_process
from penguin_harness.omnimessage import InlineData, Text, TokenCounts
from tests.hooks.support import Asked

DENY = Answer(decision="deny", reason="not today")
ALLOW = Answer(decision="allow")


def gate(answer: Any, *, name: str = "gate", **settings: Any) -> UserHook:
    return in_process("pre_tool_use", lambda _: answer, name=name, **settings)


async def test_the_first_decision_counts_and_the_rest_are_not_asked() -> None:
    asked = Asked(gate(DENY, name="c"), gate(ALLOW, name="b"), gate(None, name="a"), gate(Answer(), name="z", order=-1))
    assert await asked.call() == HookVerdict("allow", "b")
    assert [(event.name, event.decision) for event in asked.events] == [("z", None), ("b", "allow")]


async def test_order_goes_before_the_name() -> None:
    asked = Asked(gate(ALLOW, name="a", order=2), gate(DENY, name="b", order=1))
    assert await asked.call() == HookVerdict("deny", "b", "not today")


async def test_an_answer_is_an_event_and_silence_is_none() -> None:
    asked = Asked(gate(None, name="silent"), gate(Answer(reason="looked", output={"risk": 0.5}), name="talks"))
    assert await asked.call() is None
    assert (asked.event.hook, asked.event.name, asked.event.decision) == ("pre_tool_use", "talks", None)
    assert asked.event.reason == "looked"
    assert asked.event.output is not None
    assert asked.event.output["risk"] == 0.5
    assert asked.event.output["duration_ms"] in range(10_000)


async def test_a_hook_is_asked_about_its_tools_only() -> None:
    asked = Asked(gate(DENY, tools=("exec_command", "mcp__*")))
    assert await asked.call("read_file") is None
    assert await asked.call("mcp__web__fetch") is not None
    assert await asked.call("exec_command") is not None


async def test_a_function_sees_the_call_as_its_tool_will() -> None:
    seen: list[tuple[object, str]] = []

    async def look(proposed: ProposedCall) -> None:
        seen.append((proposed.arguments, proposed.permission))

    asked = Asked(in_process("pre_tool_use", look, name="look"))
    await asked.call(arguments="", permission="r")
    await asked.call(arguments='{"a":"\\ud800"}')
    assert seen == [({}, "r"), ({"a": "�"}, "rw")]
    assert asked.events == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u200b", None, Answer(), Answer(text=" ")])
async def test_b152_a_blank_addition_adds_nothing(blank: Any) -> None:
    asked = Asked(in_process("user_prompt", lambda _: blank, name="blank"))
    assert await asked.prompt("hello") == []


async def test_every_hook_adds_to_a_prompt() -> None:
    def shout(prompt: Prompt) -> str:
        return prompt.text.upper()

    async def count(prompt: Prompt) -> Answer:
        return Answer(text=f"{len(prompt.content)} parts")

    asked = Asked(in_process("user_prompt", shout, name="b"), in_process("user_prompt", count, name="c"))
    added = await asked.prompt("hello", InlineData("user", "aGk=", "text/plain"), "there")
    assert added == [
        Text("user", "HELLO\n\nTHERE", sender="harness"),
        Text("user", "3 parts", sender="harness"),
    ]
    assert [event.hook for event in asked.events] == ["user_prompt"] * 2


async def test_a_stop_hook_goes_on_and_is_told_how_often() -> None:
    def twice(ended: TaskEnded) -> str | None:
        return f"Again, {ended.round}." if ended.round < 2 else None

    asked = Asked(in_process("stop", twice, name="twice"))
    assert [await asked.stop(), await asked.stop(), await asked.stop()] == ["Again, 0.", "Again, 1.", None]
    await asked.prompt("and now")
    assert await asked.stop() == "Again, 0."
    assert [event.decision for event in asked.events] == ["continue"] * 3


async def test_a_stop_hook_that_ends_the_run_outranks_the_next() -> None:
    end = in_process("stop", lambda _: Answer(decision="stop", reason="enough"), name="a")
    asked = Asked(end, in_process("stop", lambda _: "Go on.", name="b"))
    assert await asked.stop() is None
    assert (asked.event.decision, asked.event.reason) == ("stop", "enough")


async def test_broken_unicode_is_mended_on_its_way_out() -> None:
    asked = Asked(
        in_process("user_prompt", lambda _: Answer(text="a\ud800b", reason="\udfff", output={"k": "\ud800"}), name="x")
    )
    assert [text.text for text in await asked.prompt("hello")] == ["a�b"]
    assert (asked.event.reason, asked.output("k")) == ("�", "�")


async def test_what_hooks_say_holds_no_secret() -> None:
    def redact(text: str) -> str:
        return text.replace("hunter22", "[redacted]")

    def leak(_: object) -> Answer:
        astride = f"{'x' * 1996}hunter22{'x' * 1996}"  # of both places where a long text is cut
        return Answer(text="it is hunter22", reason=astride, output={"k": astride})

    def fail(_: object) -> Answer:
        raise ValueError("hunter22")

    asked = Asked(
        in_process("user_prompt", leak, name="leak"),
        in_process("pre_tool_use", fail, name="fail", on_failure="deny"),
        redact=redact,
    )
    assert [text.text for text in await asked.prompt("hello")] == ["it is [redacted]"]
    verdict = await asked.call()
    assert verdict is not None
    assert "[redacted]" in verdict.reason
    shown = repr((asked.events, verdict))
    assert "hunt" not in shown
    assert "er22" not in shown


def test_two_hooks_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two hooks are named 'gate'"):
        HookSet([gate(None), gate(None)])


UNFIT: dict[str, dict[str, Any]] = {
    "is no name": {"name": "a b"},
    "is asked nowhere": {"points": ()},
    "the points are user_prompt": {"points": ("pretooluse",)},
    "above 0": {"timeout_s": 0.0},
    "at most 3600": {"timeout_s": float("inf")},
    "on_failure of the hook x is for the point pre_tool_use": {"on_failure": "deny", "points": ("stop",)},
    "tools of the hook x is for the point pre_tool_use": {"tools": ("a",), "points": ("user_prompt",)},
}


@pytest.mark.parametrize("words", UNFIT)
def test_settings_that_mean_nothing_are_refused(words: str) -> None:
    async def ask(_: object) -> None:
        return None

    settings: dict[str, Any] = {"name": "x", "points": ("pre_tool_use",), "ask": ask, **UNFIT[words]}
    with pytest.raises(ConfigError, match=words):
        UserHook(**settings)


async def test_a_set_without_hooks_has_no_opinion() -> None:
    asked = Asked()
    ended = Ended("Done.", 1, TokenCounts.of())
    assert await asked.hooks.stop(ended, asked.emit) is None
    assert (await asked.prompt("hello"), await asked.call(), asked.events) == ([], None, [])
