"""Real commands: their output, their end, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from pathlib import Path

import pytest

from penguin_harness.contracts import OutputPayload
from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import ToolCallOutput
from penguin_harness.tools import Limits, Toolbox, child_environment
from penguin_harness.tools.command import MARK
from penguin_harness.tools.sandbox import SandboxPolicy, require_sandbox
from tests.tools.support import (
    CALL_ID,
    Record,
    call,
    execute,
    make_commands,
    make_context,
    make_toolbox,
    open_files,
    own_zombies,
    processes_with,
    until,
)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo out; echo err >&2", "out\nerr\n"),
        ("true", "[no output]"),
        ("printf x; exit 3", "x\n[exit code 3]"),
        ("exit 7", "[exit code 7]"),
        ("echo a; kill -KILL $$", "a\n[killed by SIGKILL]"),
        ("kill -40 $$", "[killed by signal 40]"),
        ("cat; echo end of input", "end of input\n"),
        ("printf 'a\\200\\303\\251\\360\\237'", "a\ufffdé\ufffd"),
        ("printf '\\303'; printf '\\251'", "é"),
        ("printf 'caf\\351 a\\0b'", "caf\ufffd a\ufffdb"),
        ("printf '\\033[36mhi\\033[0m'", "\x1b[36mhi\x1b[0m"),
        ("exec >&- 2>&-; sleep 0.2; exit 5", "[exit code 5]"),
        ("[[ x == x ]] && echo bash", "bash\n"),
    ],
)
async def test_a_command_is_what_it_prints_and_how_it_ended(box: Toolbox, command: str, output: str) -> None:
    assert await execute(box, command) == ToolCallOutput("user", output, CALL_ID)


async def test_it_runs_in_the_workspace_or_a_folder_of_it(box: Toolbox, tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "sub"
    folder.mkdir()
    assert (await execute(box, "pwd")).output == f"{folder.parent}\n"
    assert (await execute(box, "pwd", workdir="sub")).output == f"{folder}\n"
    assert (await execute(box, "pwd", workdir=str(folder))).output == f"{folder}\n"
    missing = await execute(box, "pwd", workdir="sup")
    assert missing.stop_reason == "fatal"
    assert "has no 'sup'. It holds: sub/. Did you mean: sub?" in missing.output


async def test_each_write_is_streamed_when_it_comes(box: Toolbox, tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "gate")
    record = Record()
    invocation = box.prepare(call("exec_command", command=f"echo first; cat {fifo}; echo last"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says("first\n")
    await asyncio.to_thread(fifo.write_text, "second\n")
    await asyncio.wait_for(task, 10)
    assert record.output().output == "first\nsecond\nlast\n"


async def cancel_when(box: Toolbox, command: str, said: str) -> tuple[ToolCallOutput, float]:
    """Interrupt a command once it has said something; its output, and how long the end took."""
    record = Record()
    invocation = box.prepare(call("exec_command", command=command))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says(said)
    begin = time.monotonic()
    task.cancel()
    await asyncio.wait_for(task, 5)
    return record.output(), time.monotonic() - begin


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'sleep 300 & echo ready; sleep 300'",
        "timeout 300 sleep 300 & cd / && echo ready && timeout 300 sleep 300",
        "set -m; sleep 300 & echo ready; wait",
        "trap '' TERM; sleep 300 & echo ready; while :; do sleep 1; done",
        "setsid sleep 300 & echo ready; wait",
        "(setsid sh -c 'sleep 300 & sleep 300' >/dev/null 2>&1 &); sleep 0.2; echo ready; sleep 300",
        'env -i setsid sh -c "sleep 300; : $MARKED_BY_TEST" & sleep 0.2; echo ready; wait',
        "env -i setsid sh -c \"trap '' TERM; yes >/dev/null; : $MARKED_BY_TEST\" & sleep 0.2; echo ready; wait",
    ],
    ids=["grandchild", "own-group", "job-control", "deaf", "own-session", "orphan", "no-environment", "deaf-stranger"],
)
async def test_an_interrupted_command_leaves_no_process(box: Toolbox, marker: str, command: str) -> None:
    """B086 and B088: also those in a group or session of their own, and those that ignore the gentle signal."""
    output, taken = await cancel_when(box, command, "ready")
    assert processes_with(marker) == []
    assert (output.output, output.stop_reason) == ("ready\n[interrupted by the user]", "aborted")
    assert taken < 0.7


async def test_after_the_interruption_a_command_does_nothing_more(box: Toolbox, marker: str, tmp_path: Path) -> None:
    """B087: when the output is there, no process is left that could."""
    made = tmp_path / "made"
    await cancel_when(box, f"echo ready; (sleep 0.5; touch {made}) & sleep 0.5; touch {made}", "ready")
    assert processes_with(marker) == []
    assert not made.exists()


async def test_a_second_interruption_does_not_wait(box: Toolbox, marker: str) -> None:
    record = Record()
    invocation = box.prepare(call("exec_command", command="trap '' TERM; echo ready; while :; do sleep 300; done"))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says("ready")
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait_for(task, 5)
    assert record.output().stop_reason == "aborted"
    await until(lambda: not processes_with(marker))


async def test_a_command_over_its_limit_is_ended_with_all_it_started(box: Toolbox, marker: str) -> None:
    """B086."""
    output = await execute(box, "echo begun; sleep 300 & sleep 300", timeout_s=1)
    assert output.output == "begun\n[timed out after 1 s: the command and all it started were ended]"
    assert output.stop_reason == "fatal"
    assert processes_with(marker) == []


async def test_the_limit_has_a_limit(box: Toolbox) -> None:
    assert isinstance(box.prepare(call("exec_command", command="true", timeout_s=100_000)), str)


async def test_the_call_ends_with_its_command_and_not_with_the_pipe(box: Toolbox, marker: str) -> None:
    """B096: the background process lives until the toolbox is closed."""
    begin = time.monotonic()
    output = await execute(box, "sleep 300 & echo ok")
    assert time.monotonic() - begin < 1.5
    assert output.output.startswith("ok\n[what it started goes on, as process ")
    assert len(processes_with(marker)) == 1
    assert (await execute(box, "echo usable")).output == "usable\n"
    await box.aclose()
    assert processes_with(marker) == []


async def test_what_has_left_unseen_is_ended_with_the_session(box: Toolbox, marker: str, tmp_path: Path) -> None:
    """Neither its session nor its pipe nor its parent leads to it: its environment does."""
    away = tmp_path / "away"
    daemon = f"setsid sh -c 'touch {away}; sleep 300; :' >/dev/null 2>&1 &"
    output = await execute(box, f"{daemon} while [ ! -e {away} ]; do sleep 0.01; done; echo ok")
    assert output.output == "ok\n"
    assert processes_with(marker)
    await box.aclose()
    assert processes_with(marker) == []


async def test_a_background_process_that_never_stops_writing_does_not_hold_the_call(box: Toolbox) -> None:
    """B096."""
    output = await asyncio.wait_for(execute(box, "yes & echo ok"), 10)
    assert "ok\n" in output.output


async def test_all_that_an_ended_command_wrote_reaches_a_slow_reader(box: Toolbox) -> None:
    """What is still in the pipe when the process ends is read, however late."""
    record = Record()
    invocation = box.prepare(call("exec_command", command="sleep 300 & printf a; sleep 0.1; seq 1 2000"))
    assert not isinstance(invocation, str)

    async def emit(payload: OutputPayload) -> None:
        await record.emit(payload)
        if record.text == "a":
            await asyncio.sleep(0.5)

    await invocation.run(emit)
    assert record.output().output.startswith("a" + "".join(f"{n}\n" for n in range(1, 2001)) + "[what it started")


async def test_every_child_is_waited_for(box: Toolbox) -> None:
    """B098: fifty commands at once, half of them in the background of their shell."""
    outputs = await asyncio.gather(*(execute(box, "true & false" if n % 2 else "echo done") for n in range(50)))
    assert {output.output for output in outputs} == {"done\n", "[exit code 1]"}
    assert own_zombies() == []


async def test_a_child_is_asked_for_plain_text_and_utf8(tmp_path: Path) -> None:
    """B100 and B169."""
    context = make_context(tmp_path, FORCE_COLOR="3", PY_COLORS="1", TERM="xterm-256color", LC_ALL="C")
    box = make_toolbox(tmp_path, context=context)
    output = (
        await execute(box, "echo $FORCE_COLOR $PY_COLORS $NO_COLOR $TERM $PAGER $GIT_PAGER $PYTHONIOENCODING")
    ).output
    assert output == "1 dumb cat cat utf-8\n"
    assert (await execute(box, "python3 -c 'print(chr(0x1F600))'")).output == "\U0001f600\n"


async def test_a_child_sees_no_credentials_and_nothing_of_the_harness(tmp_path: Path) -> None:
    """B101 and B172: the vault's variables it does see."""
    own = {"ANTHROPIC_API_KEY": "sk-test-123456", "PENGUIN_TOKEN": "token-123456", "PENGUIN_PORT": "7777", "HOME": "/"}
    context = make_context(tmp_path)
    context.environment = child_environment(
        {**os.environ, **own}, drop={"ANTHROPIC_API_KEY"}, extra={"GIVEN": "vault-value"}
    )
    box = make_toolbox(tmp_path, context=context, secrets=["sk-test-123456", "vault-value"])
    output = (await execute(box, "env; cat /proc/self/environ | tr '\\0' '\\n'; echo sk-test-12'3456'")).output
    for text in (
        "ANTHROPIC_API_KEY",
        "sk-test",
        "PENGUIN_TOKEN",
        "PENGUIN_PORT",
        "token-123456",
        "7777",
        "vault-value",
    ):
        assert text not in output
    assert output.count("PENGUIN_") == output.count(f"{MARK}=") == 2
    assert output.count("GIVEN=[redacted]") == 2
    assert output.endswith("\n[redacted]\n")


def test_a_harness_inside_a_command_stays_within_reach() -> None:
    """Its commands carry the outer mark too, so that ending the outer command ends them."""
    assert child_environment({MARK: "outer-1.", "PENGUIN_HOME": "/x"}, extra={"PAGER": "less"}).items() >= {
        (MARK, "outer-1."),
        ("PAGER", "less"),
    }


async def test_a_hundred_commands_leave_nothing_open(box: Toolbox) -> None:
    """B098: what one leaves, a session of a thousand would drown in."""
    before = open_files()
    for _ in range(100):
        assert (await execute(box, "echo done")).output == "done\n"
    assert own_zombies() == []
    assert open_files() == before


async def test_endless_output_does_not_eat_memory(tmp_path: Path) -> None:
    """B108: 200 MB, of which 100 MB are kept, while the loop goes on."""
    box = make_toolbox(tmp_path, limits=Limits())
    gaps: list[float] = []

    async def heartbeat() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    beating = asyncio.create_task(heartbeat())
    output = (await execute(box, "yes | head -c 200000000")).output
    beating.cancel()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert len(output) < 16_500
    assert "199984000 of 200000000 characters are left out here; only its first 100000000 bytes were kept, in" in output
    assert max(gaps) < 0.25
    (kept,) = (tmp_path / "scratchpad").iterdir()
    kept.unlink()


async def test_a_command_that_cannot_start_is_an_output(tmp_path: Path) -> None:
    before = open_files()
    output = await execute(make_toolbox(tmp_path), "echo a\0b")
    assert (output.output, output.stop_reason) == ("ValueError: embedded null byte", "fatal")
    await until(lambda: not open_files() - before)  # an idle thread takes its pipe with it


async def test_in_the_sandbox_a_command_writes_where_it_may_and_leaves_nothing(tmp_path: Path, marker: str) -> None:
    context = make_context(tmp_path, MARKED_BY_TEST=marker)
    context.sandbox = SandboxPolicy(
        mode="workspace-write", workspace=context.workspace, temporary=tmp_path / "tmp", network=False
    )
    try:
        require_sandbox(context.sandbox)
    except ConfigError as error:
        pytest.skip(str(error))
    box = make_commands(context)
    output = await execute(box, f"touch inside; touch /etc/outside {tmp_path}/outside; (sleep 300 &) ; echo ok")
    assert "/etc/outside': Read-only file system" in output.output
    assert (context.workspace / "inside").exists()
    assert not (tmp_path / "outside").exists()
    assert processes_with(marker)
    await box.aclose()
    assert processes_with(marker) == []
