"""Commands that outlast their call: what is seen of them, what they are told, and how they end."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from penguin_harness.contracts import EmitEvent
from penguin_harness.errors import ToolFailed
from penguin_harness.omnimessage import EventPayload, McpConnectBegin, Text, ToolCallOutput
from penguin_harness.tools import Tool, Toolbox, ToolContext, tool
from penguin_harness.tools.command import CommandLine
from penguin_harness.tools.exec_command import exec_command
from penguin_harness.tools.processes import CAP
from tests.tools.support import (
    CALL_ID,
    Record,
    call,
    continue_with,
    execute,
    in_background,
    make_commands,
    make_context,
    own_zombies,
    processes_with,
    run,
    until,
)


async def all_news(box: Toolbox, count: int) -> list[Text]:
    """So many news, once they are there."""
    found: list[Text] = []

    def look() -> bool:
        found.extend(box.news())
        return len(found) >= count

    await until(look)
    assert len(found) == count
    return found


async def news_of(box: Toolbox) -> Text:
    (news,) = await all_news(box, 1)
    return news


async def says(box: Toolbox, process_id: str, text: str) -> None:
    """Poll until the command has printed this."""
    async with asyncio.timeout(10):
        while text not in (await continue_with(box, process_id, yield_time_ms=20)).output:
            continue


async def test_a_command_that_outlasts_its_window_goes_on(box: Toolbox, marker: str) -> None:
    output = await execute(box, "echo begun; sleep 300", yield_time_ms=300)
    assert output.stop_reason == "completed"
    assert re.fullmatch(r"begun\n\[still running after [\d.]+ s, as process \w{4}-1: input_command .*]", output.output)
    assert processes_with(marker)
    assert box.news() == []


async def test_a_command_in_the_background_is_watched_at_first(box: Toolbox) -> None:
    """One that fails at once is no process to look after."""
    output = await execute(box, "echo in use >&2; exit 3", run_in_background=True)
    assert output == ToolCallOutput("user", "in use\n[exit code 3]", CALL_ID)
    assert "as process" in (await execute(box, "sleep 300", run_in_background=True)).output


async def test_b112_polls_joined_are_the_output_once(box: Toolbox) -> None:
    process_id = await in_background(box, "for n in $(seq 1 60); do echo line $n; sleep 0.01; done")
    polls: list[str] = []
    while not polls or "[exit code 0]" not in polls[-1]:
        polls.append((await continue_with(box, process_id, yield_time_ms=150)).output)
    assert len(polls) > 2
    seen = "".join(re.sub(r"\[(running for|exit code|no output).*]", "", poll) for poll in polls)
    assert seen == "".join(f"line {n}\n" for n in range(1, 61))
    assert (await continue_with(box, process_id)).output == "[exit code 0]"
    assert box.news() == []


async def test_a_poll_ends_with_the_command(box: Toolbox) -> None:
    process_id = await in_background(box, "sleep 0.3; echo last; exit 4")
    assert (await asyncio.wait_for(continue_with(box, process_id), 5)).output == "last\n[exit code 4]"


async def test_what_is_written_reaches_the_command_and_its_answer_comes_back(box: Toolbox) -> None:
    process_id = await in_background(box, 'while read -r line; do echo "<$line>"; done; echo bye', stdin=True)
    await continue_with(box, process_id, action="write", text="one é\ntwo", yield_time_ms=0)
    await continue_with(box, process_id, action="write", text="\n", yield_time_ms=0)
    await says(box, process_id, "<two>\n[running for ")
    assert (await continue_with(box, process_id, action="end_input")).output == "bye\n[exit code 0]"


async def test_an_input_that_is_not_open_is_told(box: Toolbox) -> None:
    process_id = await in_background(box, "sleep 300")
    refused = await continue_with(box, process_id, action="write", text="x")
    assert (refused.stop_reason, "stdin=true" in refused.output) == ("fatal", True)
    process_id = await in_background(box, "exec <&-; echo closed; sleep 300", stdin=True)
    await says(box, process_id, "closed")
    told = await continue_with(box, process_id, action="write", text="x", yield_time_ms=0)
    assert "nothing was written" in told.output


async def test_a_text_without_the_action_write_is_a_mistake(box: Toolbox) -> None:
    process_id = await in_background(box, "sleep 300", stdin=True)
    assert (await continue_with(box, process_id, text="y\n")).stop_reason == "fatal"


async def test_an_interrupt_is_what_control_c_is(box: Toolbox) -> None:
    command = "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done"
    process_id = await in_background(box, command)
    await says(box, process_id, "ready")
    output = await continue_with(box, process_id, action="interrupt", yield_time_ms=5_000)
    assert output.output == "caught\n[exit code 3]"


async def test_terminate_ends_all_that_the_command_started(box: Toolbox, marker: str) -> None:
    process_id = await in_background(box, "setsid sleep 300 & (sleep 300; :) & sleep 0.2; echo up; wait")
    await until(lambda: len(processes_with(marker)) >= 4)
    output = (await continue_with(box, process_id, action="terminate")).output
    assert processes_with(marker) == []
    assert output.endswith("[killed by SIGTERM]")
    assert box.news() == []


async def test_an_unknown_process_is_told_with_the_known_ones(box: Toolbox) -> None:
    process_id = await in_background(box, "sleep 300")
    output = (await continue_with(box, "nope")).output
    assert output == f"There is no process 'nope'. In the background: {process_id} (`sleep 300`)."


async def test_an_interrupted_poll_leaves_the_command_at_work(box: Toolbox, marker: str) -> None:
    process_id = await in_background(box, "echo one; sleep 300")
    record = Record()
    invocation = box.prepare(call("input_command", process_id=process_id))
    assert not isinstance(invocation, str)
    task = asyncio.create_task(invocation.run(record.emit))
    await record.says("one")
    task.cancel()
    await asyncio.wait_for(task, 5)
    assert record.output().stop_reason == "aborted"
    await until(lambda: processes_with(marker))  # a process that is just being replaced shows no environment
    assert (await continue_with(box, process_id, yield_time_ms=0)).output.startswith("[running for ")


async def test_the_end_of_a_command_that_nobody_waits_for_is_told_once(box: Toolbox) -> None:
    process_id = await in_background(box, "sleep 0.1; echo the end; exit 2")
    news = await news_of(box)
    assert (news.role, news.sender) == ("user", "harness")
    begin = re.escape(f"The command {process_id} (`sleep 0.1; echo the end; exit 2`) has ended after ")
    assert re.fullmatch(begin + r"[\d.]+ s: exit code 2\. Its last output:\nthe end\n", news.text)
    assert box.news() == []
    assert (await continue_with(box, process_id)).output == "[exit code 2]"


async def test_a_long_last_output_is_told_in_part_and_can_be_read(box: Toolbox) -> None:
    process_id = await in_background(box, "seq 1 2000")
    news = await news_of(box)
    assert "The last 2000 of 8893 new characters that it printed:\n" in news.text
    assert news.text.endswith("\n1999\n2000\n")
    whole = "".join(f"{n}\n" for n in range(1, 2001))
    assert (await continue_with(box, process_id)).output == f"{whole}[exit code 0]"


async def test_b099_a_limit_holds_in_the_background_too(box: Toolbox, marker: str) -> None:
    process_id = await in_background(box, "trap '' TERM; while :; do sleep 0.1; done", timeout_s=1)
    news = await news_of(box)
    assert f"{process_id} (" in news.text
    assert "timed out after 1 s: the command and all it started were ended" in news.text
    assert processes_with(marker) == []


async def test_b098_every_end_is_told_with_its_exit_code(box: Toolbox, context: ToolContext) -> None:
    for n in range(50):
        await in_background(box, f"sleep 0.1; echo tail {n}; exit {n % 3}")
    texts = [news.text for news in await all_news(box, 50)]
    for n, text in enumerate(sorted(texts, key=lambda text: int(text.split()[-1]))):
        assert f"exit code {n % 3}. Its last output:\ntail {n}\n" in text
    assert own_zombies() == []
    assert {state.exit for state in context.processes.list()} == {0, 1, 2}


async def test_b108_output_that_nobody_reads_is_bounded(box: Toolbox) -> None:
    """B109 and B112: its beginning, its end, its size, and where the whole is, in pages."""
    process_id = await in_background(box, "seq 1 40000")
    assert "The last 2000 of 228894 new characters that it printed:\n" in (await news_of(box)).text
    output = (await continue_with(box, process_id)).output
    whole = "".join(f"{n}\n" for n in range(1, 40_001))
    assert len(output) < 16_000
    assert output.startswith("1\n2\n")
    assert output.endswith("\n39999\n40000\n[exit code 0]")
    found = re.search(
        rf"{len(whole)} characters are left out here; all \d+ bytes of it are in (\S+):.*offset=(\d+)", output
    )
    assert found
    assert Path(found[1]).read_text() == whole
    page = await run(box, call("read_file", path=found[1], offset=int(found[2])))
    assert f"{found[2]}\t{found[2]}\n" in page.output


async def test_a_secret_reaches_neither_news_nor_file(tmp_path: Path) -> None:
    secret = "sk-test-0123456789"
    context = make_context(tmp_path, secrets=[secret])
    box = make_commands(context, secrets=[secret])
    await in_background(box, f"echo {secret}")
    assert secret not in (await news_of(box)).text
    process_id = await in_background(box, f"for n in $(seq 2000); do echo {secret}; done")
    assert secret not in (await news_of(box)).text
    assert secret not in (await continue_with(box, process_id)).output
    (kept,) = (tmp_path / "scratchpad").iterdir()
    assert kept.read_text() == "[redacted]\n" * 2000
    await box.aclose()


async def test_b096_a_server_that_its_shell_leaves_keeps_its_output(box: Toolbox, marker: str) -> None:
    """It does not die of a pipe that nobody reads any more."""
    output = (await execute(box, "(while :; do echo tick; sleep 0.02; done) & echo ok")).output
    left = re.search(r"\[what it started goes on, as process (\S+):", output)
    assert left, output
    for _ in range(2):
        polled = (await continue_with(box, left[1], yield_time_ms=300)).output
        assert polled.startswith("tick\n")
        assert "[what it started goes on, as process" in polled
    await continue_with(box, left[1], action="terminate")
    assert processes_with(marker) == []


async def test_b096_a_flood_that_its_shell_leaves_does_not_hold_the_loop(box: Toolbox, context: ToolContext) -> None:
    output = await asyncio.wait_for(execute(box, "yes & echo ok"), 10)
    assert "as process" in output.output
    (left,) = context.processes.list()
    assert (left.exit, left.lingers, left.in_background) == (0, True, True)
    last, longest = time.monotonic(), 0.0
    for _ in range(100):
        await asyncio.sleep(0.005)
        now = time.monotonic()
        last, longest = now, max(longest, now - last)
    assert longest < 0.25
    polled = (await continue_with(box, left.id, yield_time_ms=0)).output
    assert "characters are left out here" in polled


async def test_beyond_the_cap_the_one_used_longest_ago_is_ended(box: Toolbox, context: ToolContext) -> None:
    ids = [await in_background(box, f"sleep {300 + n}") for n in range(CAP)]
    await continue_with(box, ids[0], yield_time_ms=0)
    newest = await in_background(box, "sleep 400")
    assert [state.id for state in context.processes.list()] == [ids[0], *ids[2:], newest]
    (news,) = box.news()
    assert news.text.startswith(f"The command {ids[1]} (`sleep 301`) has ended to make room after ")
    assert news.text.endswith(": killed by SIGTERM.")
    assert "There is no process" in (await continue_with(box, ids[1])).output


async def test_what_has_ended_makes_room_first_and_its_end_is_still_told(box: Toolbox, context: ToolContext) -> None:
    ids = [await in_background(box, f"sleep {300 + n}") for n in range(CAP - 1)]
    ended = await in_background(box, "sleep 0.1; exit 9")
    await until(lambda: context.processes.list()[-1].exit == 9)
    newest = await in_background(box, "sleep 400")
    assert [state.id for state in context.processes.list()] == [*ids, newest]
    (news,) = box.news()
    assert news.text.startswith(f"The command {ended} (")
    assert news.text.endswith(": exit code 9.")


async def test_front_ends_see_what_runs(box: Toolbox, context: ToolContext) -> None:
    process_id = await in_background(box, "sleep 300", workdir="/")
    (state,) = context.processes.list()
    assert (state.id, state.command, state.folder) == (process_id, "sleep 300", "/")
    assert (state.exit, state.in_background, state.lingers) == (None, True, False)
    assert abs(time.time() - state.started - state.seconds) < 1
    await continue_with(box, process_id, action="terminate")
    (state,) = context.processes.list()
    assert state.exit == -signal.SIGTERM


async def test_a_command_in_the_foreground_is_listed_while_it_runs(box: Toolbox, context: ToolContext) -> None:
    task = asyncio.create_task(execute(box, "sleep 0.3"))
    await until(context.processes.list)
    assert not context.processes.list()[0].in_background
    await task
    assert context.processes.list() == ()


async def test_after_the_end_of_the_session_nothing_is_started(context: ToolContext) -> None:
    await context.processes.aclose()
    line = CommandLine(text="true", argv=("true",), folder=context.workspace, environment=context.environment)
    with pytest.raises(ToolFailed, match="closed"):
        context.processes.start(line)


async def test_a_toolbox_has_the_news_of_its_other_sources_too(context: ToolContext) -> None:
    told = [Text("user", "A subagent has ended.", sender="harness")]
    box = Toolbox([exec_command], context=context, sources=[lambda: [told.pop()] if told else []])
    await in_background(box, "exit 1")
    assert {news.text[:12] for news in await all_news(box, 2)} == {"The command ", "A subagent h"}
    assert box.news() == []
    await box.aclose()


class Distant:
    """Tools that come with the connection."""

    def __init__(self) -> None:
        self.tools: Sequence[Tool] = ()
        self.is_closed = False

    async def connect(self, emit: EmitEvent) -> None:
        emit(McpConnectBegin(("far",)))
        self.tools = [tool(name="mcp__far__echo")(echo), tool(name="exec_command")(echo)]

    async def aclose(self) -> None:
        self.is_closed = True


def echo(said: str) -> str:
    """Say it again."""
    return said


async def test_a_connector_brings_tools_behind_the_own_ones(context: ToolContext) -> None:
    distant, events = Distant(), list[EventPayload]()
    box = Toolbox([exec_command], context=context, connectors=[distant])
    assert [schema.name for schema in box.schemas] == ["exec_command"]
    await box.connect(events.append)
    assert [schema.name for schema in box.schemas] == ["exec_command", "mcp__far__echo"]
    assert (await run(box, call("mcp__far__echo", said="hi"))).output == "hi"
    assert (await execute(box, "echo own")).output == "own\n"
    assert events == [McpConnectBegin(("far",))]
    await box.aclose()
    assert distant.is_closed
