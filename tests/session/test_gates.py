"""Hooks, the command policy and news, each in its place in a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from penguin_harness import ApprovalDecision
from penguin_harness.contracts import EmitEvent, Ended, HookVerdict, Permission
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say
from penguin_harness.omnimessage import Decision, Hook, OmniMessage, Text, ToolCall, UserContent
from tests.support import allow, kinds, outputs, texts, watched

CALLS: list[list[ScriptItem]] = [
    [call("touch", name="a"), call("touch", name="b")],
    [say("Done.")],
    [say("Done again.")],
    [say("And again.")],
]


class Hung:
    """Hooks that say what a test wants, each answer an event."""

    def __init__(
        self,
        *,
        added: Sequence[str] = (),
        verdicts: dict[str, HookVerdict] | None = None,
        goals: Sequence[str] = (),
        waits: asyncio.Event | None = None,
    ) -> None:
        self.added, self.verdicts, self.goals, self.waits = added, verdicts or {}, list(goals), waits
        self.ended: list[Ended] = []

    async def user_prompt(self, prompt: Sequence[UserContent], emit: EmitEvent) -> Sequence[Text]:
        emit(Hook("user_prompt", "adder"))
        return [Text("user", text, sender="harness") for text in self.added]

    async def pre_tool_use(self, call: ToolCall, permission: Permission, emit: EmitEvent) -> HookVerdict | None:
        verdict = next((one for name, one in self.verdicts.items() if name in call.arguments), None)
        if verdict is not None:
            emit(Hook("pre_tool_use", verdict.name, verdict.decision, verdict.reason))
        return verdict

    async def stop(self, ended: Ended, emit: EmitEvent) -> Text | None:
        self.ended.append(ended)
        if self.waits is not None:
            await self.waits.wait()
        if not self.goals:
            return None
        emit(Hook("stop", "goal", "continue"))
        return Text("user", self.goals.pop(0), sender="harness")


def touch(name: str) -> str:
    """Touch a thing."""
    return f"touched {name}"


def never(_: ToolCall) -> str:
    return "Never."


def decisions(messages: list[OmniMessage]) -> list[str]:
    return [m.payload.decision for m in messages if isinstance(m.payload, ApprovalDecision)]


async def test_a_forbidden_call_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(call: ToolCall) -> Decision:
        asked.append(call.arguments)
        return "allow"

    def policy(call: ToolCall) -> str | None:
        return "Nothing named a." if '"a"' in call.arguments else None

    async with watched(tmp_path, Script(CALLS), [touch], policy=policy) as session:
        seen = await session.run(approve=ask)
    assert decisions(seen) == ["forbidden", "allow"]
    assert sorted(outputs(seen).values()) == [
        ("Tool call denied by policy. Nothing named a.", "aborted"),
        ("touched b", "completed"),
    ]
    assert len(asked) == 1


async def test_a_hooks_refusal_names_the_hook_and_its_consent_spares_the_question(tmp_path: Path) -> None:
    hooks = Hung(
        verdicts={'"a"': HookVerdict("deny", "guard", "not on Mondays."), '"b"': HookVerdict("allow", "guard")}
    )

    def nobody(_: ToolCall) -> Decision:
        pytest.fail("nobody is asked")

    async with watched(tmp_path, Script(CALLS), [touch], hooks=hooks) as session:
        seen = await session.run(approve=nobody)
    assert decisions(seen) == ["deny", "allow"]
    assert ("Tool call denied by the guard hook: not on Mondays.", "aborted") in outputs(seen).values()
    assert kinds(seen).count("hook") == 3


async def test_the_policy_outranks_a_hooks_consent(tmp_path: Path) -> None:
    hooks = Hung(verdicts={"touch": HookVerdict("allow", "yes"), "name": HookVerdict("allow", "yes")})
    async with watched(tmp_path, Script(CALLS), [touch], hooks=hooks, policy=never) as session:
        seen = await session.run(approve=allow)
    assert decisions(seen) == ["forbidden", "forbidden"]


async def test_what_a_hook_adds_stands_behind_the_prompt(tmp_path: Path) -> None:
    model = Script([[say("Hi.")]])
    async with watched(tmp_path, model, hooks=Hung(added=["It is Monday."])) as session:
        seen = await session.run("hello")
    assert [payload.text for payload in model.requests[0].messages if isinstance(payload, Text)] == [
        "hello",
        "It is Monday.",
    ]
    assert kinds(seen)[:2] == ["hook", "text"]


async def test_a_stop_hook_gives_the_run_another_task_until_it_is_content(tmp_path: Path) -> None:
    hooks = Hung(goals=["Once more.", "And once more."])
    async with watched(tmp_path, Script([[say("One.")], [say("Two.")], [say("Three.")]]), hooks=hooks) as session:
        seen = await session.run()
    assert texts(seen) == ["One.", "Two.", "Three."]
    assert texts(seen, "user") == ["Once more.", "And once more."]
    assert [(ended.answer, ended.turns) for ended in hooks.ended] == [("One.", 1), ("Two.", 2), ("Three.", 3)]


async def test_no_stop_hook_is_asked_after_a_failure(tmp_path: Path) -> None:
    hooks = Hung(goals=["Once more."])
    async with watched(tmp_path, Script([[fail("fatal", "auth", "no")]]), hooks=hooks) as session:
        await session.run()
    assert hooks.ended == []


async def test_an_abort_ends_a_stop_hook_that_thinks(tmp_path: Path) -> None:
    hooks = Hung(goals=["Never said."], waits=asyncio.Event())
    async with watched(tmp_path, Script([[say("One.")]]), hooks=hooks) as session:
        run = session.start()
        async for message in run:
            session.see(message)
            if message.payload.type == "request_end":
                run.abort()
        assert kinds(session.stream)[-1] == "abort"
        assert texts(session.stream, "user") == []
