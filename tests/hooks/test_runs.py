"""Hooks in a run: what they decide happens, what they fail at is visible, and an abort ends them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from penguin_harness.hooks import Answer, HookSet, UserHook, in_process
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import Hook, OmniMessage, Text
from tests.hooks.support import loaded, shell_hook, write_hook
from tests.support import kinds, outputs, texts, watched
from tests.tools.support import own_zombies, processes_with, until

CALLS = [[call("touch", name="made")], [say("Done.")]]


def toucher(folder: Path) -> Any:
    def touch(name: str) -> str:
        """Touch a file."""
        (folder / name).touch()
        return f"touched {name}"

    return touch


def hook_events(messages: list[OmniMessage]) -> list[Hook]:
    return [message.payload for message in messages if isinstance(message.payload, Hook)]


def gate_that_raises(_: object) -> Answer:
    raise ValueError("the gate is broken")


def failing_gate(folder: Path, how: str, on_failure: Any) -> list[UserHook]:
    if how == "raises":
        return [in_process("pre_tool_use", gate_that_raises, name="guard", on_failure=on_failure)]
    policy = f'on_failure = "{on_failure}"'
    if how == "does not exist":
        write_hook(folder, "guard", f'points = ["pre_tool_use"]\ncommand = ["./gone"]\n{policy}')
    else:
        script = {"sleeps": "sleep 300", "exits 1": "exit 1", "prints garbage": "echo nonsense"}[how]
        shell_hook(folder, script, more=f"timeout_s = 0.3\n{policy}")
    return loaded(folder)


@pytest.mark.parametrize("how", ["sleeps", "exits 1", "prints garbage", "raises", "does not exist"])
async def test_b151_in_closed_mode_a_broken_gate_lets_nothing_through(how: str, tmp_path: Path) -> None:
    hooks = HookSet(failing_gate(tmp_path, how, "deny"))
    async with watched(tmp_path, Script(CALLS), [toucher(tmp_path)], hooks=hooks) as session:
        seen = await session.run()
    assert not (tmp_path / "made").exists()
    [event] = hook_events(seen)
    assert event.decision == "deny"
    assert (event.reason or "").startswith("The hook failed: ")
    [(output, stop_reason)] = outputs(seen).values()
    assert output.startswith("Tool call denied by the guard hook: The hook failed: ")
    assert stop_reason == "aborted"


@pytest.mark.parametrize("how", ["sleeps", "exits 1", "prints garbage", "raises", "does not exist"])
async def test_b151_in_open_mode_the_failure_is_visible(how: str, tmp_path: Path) -> None:
    hooks = HookSet(failing_gate(tmp_path, how, "ignore"))
    async with watched(tmp_path, Script(CALLS), [toucher(tmp_path)], hooks=hooks) as session:
        seen = await session.run()
    assert (tmp_path / "made").exists()
    [event] = hook_events(seen)
    assert event.decision is None
    assert (event.output or {})["failure"]


@pytest.mark.parametrize("blank", ["", " "])
async def test_b152_blank_output_is_no_block_of_the_request(blank: str, tmp_path: Path) -> None:
    shell_hook(tmp_path, f'printf \'{{"text": "{blank}"}}\'', name="program", point="user_prompt")
    model = Script([[say("Hi.")]])
    hooks = HookSet([in_process("user_prompt", lambda _: blank, name="function"), *loaded(tmp_path)])
    async with watched(tmp_path, model, hooks=hooks) as session:
        await session.run("hello")
    assert [payload.text for payload in model.requests[0].messages if isinstance(payload, Text)] == ["hello"]


@pytest.mark.parametrize("point", ["user_prompt", "pre_tool_use", "stop"])
async def test_b090_an_abort_in_a_hook_ends_the_run_and_the_program(point: str, tmp_path: Path) -> None:
    shell_hook(tmp_path, "setsid sleep 300 & sleep 300", point=point)
    hooks = HookSet(loaded(tmp_path, TEST_MARK=str(tmp_path)))
    async with watched(tmp_path, Script(CALLS), [toucher(tmp_path)], hooks=hooks) as session:
        run = session.start()
        reading = asyncio.create_task(session.read(run))
        await until(lambda: len(processes_with(str(tmp_path))) == 3)
        began = time.monotonic()
        run.abort()
        seen = await reading
        assert time.monotonic() - began < 2
        assert kinds(seen)[-1] == "abort"
        assert hook_events(seen) == []
        assert processes_with(str(tmp_path)) == []
        assert own_zombies() == []


async def test_programs_take_part_at_all_three_points(tmp_path: Path) -> None:
    shell_hook(tmp_path, 'echo \'{"text": "It is Monday."}\'', name="day", point="user_prompt")
    shell_hook(tmp_path, 'echo \'{"decision": "allow"}\'', name="yes", more='tools = ["touch"]')
    again = 'grep -q \'"round":0\' && echo \'{"decision": "continue", "text": "Look again."}\'; true'
    shell_hook(tmp_path, again, name="again", point="stop")
    model = Script([*CALLS, [say("I looked.")]])
    async with watched(tmp_path, model, [toucher(tmp_path)], hooks=HookSet(loaded(tmp_path))) as session:
        seen = await session.run("go", approve=None)
    assert (tmp_path / "made").exists()
    assert texts(seen) == ["Done.", "I looked."]
    assert texts(seen, "user") == ["It is Monday.", "Look again."]
    assert [(event.name, event.decision) for event in hook_events(seen)] == [
        ("day", None),
        ("yes", "allow"),
        ("again", "continue"),
    ]
