"""Programs as hooks: real processes that misbehave in every way, and nothing of them left afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from penguin_harness.contracts import HookVerdict
from penguin_harness.omnimessage import InlineData
from tests.hooks.support import SESSION, Asked, loaded, shell_hook, write_hook
from tests.tools.support import open_files, own_zombies, processes_with, until


async def test_a_call_is_asked_about_in_json(tmp_path: Path) -> None:
    shell_hook(tmp_path, 'cat > asked.json; echo \'{"decision": "deny", "reason": "no"}\'')
    assert await Asked(*loaded(tmp_path)).call(arguments='{"name":"a","deep":[1,{"b":null}]}') == HookVerdict(
        "deny", "guard", "no"
    )
    assert json.loads((tmp_path / "hooks/guard/asked.json").read_text()) == {
        "hook": "pre_tool_use",
        "name": "guard",
        "session_id": SESSION,
        "workspace": str(tmp_path),
        "tool": "touch",
        "arguments": {"name": "a", "deep": [1, {"b": None}]},
        "tool_call_id": "call_1",
        "permission": "rw",
    }


async def test_a_prompt_and_an_end_are_asked_about_in_json(tmp_path: Path) -> None:
    write_hook(
        tmp_path,
        "both",
        'points = ["user_prompt", "stop"]\ncommand = ["./hook.sh"]',
        hook_sh='#!/bin/sh\ncat >> asked.jsonl; echo >> asked.jsonl; echo \'{"text": "more"}\'\n',
    )
    asked = Asked(*loaded(tmp_path))
    added = await asked.prompt("hello", InlineData("user", "aGk=", "text/plain"))
    assert [text.text for text in added] == ["more"]
    assert [await asked.stop("I am done."), await asked.stop(turns=2)] == ["more", "more"]
    prompt, first, second = map(json.loads, (tmp_path / "hooks/both/asked.jsonl").read_text().splitlines())
    assert (prompt["hook"], prompt["text"]) == ("user_prompt", "hello")
    assert [each["type"] for each in prompt["content"]] == ["text", "inline_data"]
    usage = {"cache_read": 0, "cache_write": 100, "output": 0, "total": 100}
    assert {key: first[key] for key in ("hook", "answer", "turns", "usage", "round")} == {
        "hook": "stop",
        "answer": "I am done.",
        "turns": 1,
        "usage": usage,
        "round": 0,
    }
    assert second["round"] == 1


FAILURES: dict[str, tuple[str, str, str]] = {
    "timeout": ("sleep 300", "timeout_s = 0.2", "it took longer than its 0.2 s"),
    "crashed": ('echo \'{"decision": "allow"}\'; exit 1', "", "it ended with exit code 1"),
    "killed": ("kill -9 $$", "", "it ended with SIGKILL"),
    "garbage": ("echo not json", "", "its answer cannot be read: JSON is malformed: "),
    "binary": ("head -c 100 /dev/urandom", "", "its answer cannot be read: "),
    "misspelt": ('echo \'{"desicion": "deny"}\'', "", "its answer cannot be read: Object contains unknown field"),
    "not its decision": ('echo \'{"decision": "stop"}\'', "", "a pre_tool_use hook decides allow or deny, not stop"),
    "two answers": ("echo '{}'; echo '{}'", "", "its answer cannot be read: "),
    "megabytes": ("head -c 100000000 /dev/zero", "", "it printed more than 65,536 bytes"),
    "endless": ("yes", "", "it printed more than 65,536 bytes"),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("on_failure", ["deny", "ignore"])
async def test_b151_every_failure_is_a_record_and_follows_the_policy(
    name: str, on_failure: str, tmp_path: Path
) -> None:
    script, more, words = FAILURES[name]
    shell_hook(tmp_path, script, more=f'{more}\non_failure = "{on_failure}"')
    asked = Asked(*loaded(tmp_path, TEST_MARK=str(tmp_path)))
    began = time.monotonic()
    verdict = await asked.call()
    assert time.monotonic() - began < 5
    assert words in (asked.event.reason or "")
    if on_failure == "deny":
        assert verdict == HookVerdict("deny", "guard", asked.event.reason or "")
    else:
        assert verdict is None
    assert asked.event.decision == (verdict.decision if verdict else None)
    assert asked.output("failure")
    assert processes_with(str(tmp_path)) == []
    assert own_zombies() == []


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("./absent.sh", "'./absent.sh' cannot be started: No such file or directory"),
        ("no-such-program", "'no-such-program' cannot be started: No such file or directory"),
        ("plain.txt", "No such file or directory; write ./plain.txt for the file in its folder"),
        ("./locked.txt", "'./locked.txt' cannot be started: Permission denied"),
        ("./plain.txt", "'./plain.txt' cannot be started: Exec format error"),
        ("a\\u0000b", "cannot be started: embedded null byte"),
    ],
)
async def test_b151_a_program_that_cannot_start_is_a_record(command: str, words: str, tmp_path: Path) -> None:
    toml = f'points = ["pre_tool_use"]\ncommand = ["{command}"]\non_failure = "deny"'
    folder = write_hook(tmp_path, "guard", toml, plain_txt="hello", locked_txt="hello")
    (folder / "locked.txt").chmod(0o600)
    asked = Asked(*loaded(tmp_path))
    verdict = await asked.call()
    assert verdict is not None
    assert verdict.decision == "deny"
    assert words in (asked.event.reason or "")
    assert asked.output("failure") == "not_started"


async def test_a_failure_keeps_the_end_of_what_was_said_about_it(tmp_path: Path) -> None:
    shell_hook(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x >&2; printf '\\nthe end' >&2; echo out; exit 3")
    asked = Asked(*loaded(tmp_path))
    await asked.call()
    assert asked.output("stderr").endswith("xxx\nthe end")
    assert len(asked.output("stderr")) == 2000


async def test_an_answer_that_cannot_be_read_is_shown(tmp_path: Path) -> None:
    shell_hook(tmp_path, "echo warning: no colour; echo '{}'")
    asked = Asked(*loaded(tmp_path))
    await asked.call()
    assert asked.output("stdout") == "warning: no colour\n{}"


async def test_standard_error_is_no_answer(tmp_path: Path) -> None:
    shell_hook(tmp_path, 'echo debug >&2; echo \'{"decision": "allow"}\'')
    assert await Asked(*loaded(tmp_path)).call() == HookVerdict("allow", "guard")


async def test_a_program_that_says_nothing_has_no_opinion(tmp_path: Path) -> None:
    shell_hook(tmp_path, "echo; cat > /dev/null")
    asked = Asked(*loaded(tmp_path))
    assert await asked.call() is None
    assert asked.events == []


@pytest.mark.parametrize("script", ["exec < /dev/null", "exec <&-", "read line"])
async def test_input_that_nobody_reads_holds_nothing_up(script: str, tmp_path: Path) -> None:
    shell_hook(tmp_path, f'{script}; echo \'{{"decision": "allow"}}\'')
    arguments = json.dumps({"text": "x" * 1_000_000})
    async with asyncio.timeout(10):
        assert await Asked(*loaded(tmp_path)).call(arguments=arguments) == HookVerdict("allow", "guard")


ORPHANS = {
    "in the background": "sleep 300 &",
    "with its output elsewhere": "sleep 300 >/dev/null 2>&1 &",
    "in a group of its own": "set -m; sleep 300 &",
    "in a session of its own": "setsid sleep 300 >/dev/null 2>&1 &",
    "twice removed": "(setsid sh -c 'sleep 300 & sleep 300' &)",
    "with an environment of its own": "env -i /bin/sh -c 'while :; do sleep 300; done' \"$PWD\" &",
    "deaf to signals": "(trap '' TERM HUP INT; sleep 300) &",
}


@pytest.mark.parametrize("name", ORPHANS)
async def test_what_a_program_leaves_behind_is_killed(name: str, tmp_path: Path) -> None:
    shell_hook(tmp_path, f'{ORPHANS[name]}\necho \'{{"decision": "allow"}}\'')
    asked = Asked(*loaded(tmp_path, TEST_MARK=str(tmp_path)))
    began = time.monotonic()
    assert await asked.call() == HookVerdict("allow", "guard")
    assert time.monotonic() - began < 3
    assert processes_with(str(tmp_path)) == []


async def test_a_program_that_is_stopped_takes_its_family_along(tmp_path: Path) -> None:
    shell_hook(tmp_path, "setsid sleep 300 & sleep 300 & sleep 300", more="timeout_s = 0.3")
    asked = Asked(*loaded(tmp_path, TEST_MARK=str(tmp_path)))
    await asked.call()
    assert asked.output("failure") == "timeout"
    assert processes_with(str(tmp_path)) == []
    assert own_zombies() == []


async def test_a_pipe_in_the_hands_of_what_got_away_holds_nothing_up(tmp_path: Path) -> None:
    marker = f"300.{os.getpid()}"
    runaway = f"env -i PATH=$PATH setsid sh -c 'touch up; exec sleep {marker}' & until [ -e up ]; do :; done"
    shell_hook(tmp_path, f'{runaway}; echo \'{{"decision": "allow"}}\'')
    began = time.monotonic()
    try:
        assert await Asked(*loaded(tmp_path)).call() == HookVerdict("allow", "guard")
        assert time.monotonic() - began < 3
    finally:
        for pid in processes_with(marker):
            os.kill(pid, signal.SIGKILL)


async def test_a_program_sees_the_environment_of_its_host_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    shell_hook(tmp_path, "env > seen; pwd >> seen")
    await Asked(*loaded(tmp_path, KNOWN="yes")).call()
    seen = (tmp_path / "hooks/guard/seen").read_text().splitlines()
    assert "KNOWN=yes" in seen
    assert "sk-very-secret" not in "".join(seen)
    assert seen[-1] == str(tmp_path / "hooks/guard")


async def test_b090_an_interruption_kills_the_program(tmp_path: Path) -> None:
    shell_hook(tmp_path, "trap '' TERM INT; setsid sleep 300 & sleep 300")
    asked = Asked(*loaded(tmp_path, TEST_MARK=str(tmp_path)))
    task = asyncio.create_task(asked.call())
    await until(lambda: len(processes_with(str(tmp_path))) == 3)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 2
    assert processes_with(str(tmp_path)) == []
    assert own_zombies() == []
    assert asked.events == []


async def test_a_hundred_questions_leave_no_file_open(tmp_path: Path) -> None:
    shell_hook(tmp_path, 'echo \'{"decision": "allow"}\'')
    asked = Asked(*loaded(tmp_path))
    await asked.call()
    before = open_files()
    for _ in range(100):
        assert await asked.call() is not None
    await until(lambda: {name for name, _ in open_files()} <= {name for name, _ in before})
    assert own_zombies() == []


async def test_sessions_ask_side_by_side(tmp_path: Path) -> None:
    shell_hook(tmp_path, 'cat > /dev/null; echo \'{"decision": "allow"}\'')
    sets = [Asked(*loaded(tmp_path)) for _ in range(12)]
    async with asyncio.timeout(30):
        verdicts: list[Any] = await asyncio.gather(*(each.call() for each in sets))
    assert verdicts == [HookVerdict("allow", "guard")] * 12
