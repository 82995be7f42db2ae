"""Real commands: their output, their end, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from penguin_harness.contracts import OutputPayload
from penguin_harness.omnimessage import ToolCallOutput
from penguin_harness.tools import Limits, Toolbox, child_environment
from tests.tools.support import (
    CALL_ID,
    Record,
    call,
    make_context,
    make_toolbox,
    open_files,
    own_zombies,
    processes_with,
    run,
    until,
)


@pytest.fixture
def marker() -> str:
    return f"marker-{uuid4().hex}"


@pytest.fixture
async def box(tmp_path: Path, marker: str) -> AsyncIterator[Toolbox]:
    """A toolbox whose commands can be found by the marker, and which must leave nothing behind."""
    before = open_files()
    toolbox = make_toolbox(tmp_path, context=make_context(tmp_path, MARKED_BY_TEST=marker))
    yield toolbox
    await toolbox.aclose()
    await until(lambda: not own_zombies())
    assert processes_with(marker) == []
    await until(lambda: not open_files() - before)  # an idle thread takes its pipe with it


async def execute(box: Toolbox, command: str, **arguments: object) -> ToolCallOutput:
    return await run(box, call("exec_command", command=command, **arguments))


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
    ],
    ids=["grandchild", "own-group", "job-control", "deaf"],
)
async def test_an_interrupted_command_leaves_no_process(box: Toolbox, marker: str, command: str) -> None:
    """B086 and B088: also those in a group of their own, and those that ignore the gentle signal."""
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
    assert output.output == "ok\n"
    assert len(processes_with(marker)) == 1
    assert (await execute(box, "echo usable")).output == "usable\n"
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
    assert record.output().output == "a" + "".join(f"{n}\n" for n in range(1, 2001))


async def test_every_child_is_waited_for(box: Toolbox) -> None:
    """B098: fifty commands at once, half of them in the background of their shell."""
    outputs = await asyncio.gather(*(execute(box, "true & false" if n % 2 else "echo done") for n in range(50)))
    assert {output.output for output in outputs} == {"done\n", "[exit code 1]"}
    assert own_zombies() == []


async def test_a_child_is_asked_for_plain_text_and_utf8(tmp_path: Path) -> None:
    """B100 and B169."""
    context = make_context(tmp_path, FORCE_COLOR="3", TERM="xterm-256color", LC_ALL="C")
    box = make_toolbox(tmp_path, context=context)
    output = (await execute(box, "echo $FORCE_COLOR $NO_COLOR $TERM $PAGER $GIT_PAGER $PYTHONIOENCODING")).output
    assert output == "1 dumb cat cat utf-8\n"
    assert (await execute(box, "python3 -c 'print(chr(0x1F600))'")).output == "\U0001f600\n"


async def test_a_child_sees_no_credentials_and_nothing_of_the_harness(tmp_path: Path) -> None:
    """B101 and B172."""
    own = {"ANTHROPIC_API_KEY": "sk-test-123456", "PENGUIN_TOKEN": "token-123456", "PENGUIN_PORT": "7777", "HOME": "/"}
    context = make_context(tmp_path)
    context.environment = child_environment({**os.environ, **own, "GIVEN": "vault-value"}, drop={"ANTHROPIC_API_KEY"})
    box = make_toolbox(tmp_path, context=context, secrets=["sk-test-123456", "vault-value"])
    output = (await execute(box, "env; cat /proc/self/environ | tr '\\0' '\\n'; echo sk-test-12'3456'")).output
    for text in ("ANTHROPIC_API_KEY", "sk-test", "PENGUIN", "token-123456", "7777", "vault-value"):
        assert text not in output
    assert output.count("GIVEN=[redacted]") == 2
    assert output.endswith("\n[redacted]\n")


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
    assert "the first 16000 of 200000000 characters; only its first 100000000 bytes were kept, in" in output
    assert max(gaps) < 0.25
    (kept,) = (tmp_path / "scratchpad").iterdir()
    kept.unlink()


async def test_a_command_that_cannot_start_is_an_output(tmp_path: Path) -> None:
    before = open_files()
    output = await execute(make_toolbox(tmp_path), "echo a\0b")
    assert (output.output, output.stop_reason) == ("ValueError: embedded null byte", "fatal")
    await until(lambda: not open_files() - before)  # an idle thread takes its pipe with it
