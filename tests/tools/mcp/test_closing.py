"""The end: from whatever task, in whatever order, with whatever server, and nothing is left."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from penguin_harness.tools.mcp import McpServer, McpTools
from tests.tools.mcp.support import ROOT, odd, serving, session, workshop
from tests.tools.support import call, make_context, open_files, processes_with, run, until

SHUTDOWN = """
import asyncio, sys
from pathlib import Path
from tests.tools.mcp.support import odd, workshop
from tests.tools.support import make_context
from penguin_harness.tools.mcp import McpServer, McpTools

async def main():
    context = make_context(Path(sys.argv[1]), MARKED_BY_TEST=sys.argv[2])
    servers = [workshop(), odd(tools=["a"]), McpServer(name="far", url=sys.argv[3])]
    mcp = McpTools(servers, context)
    await mcp.connect(lambda event: None)
    print(len(mcp.tools))

asyncio.run(main(), debug=False)
"""


async def test_b102_servers_are_closed_in_any_order_by_any_task(tmp_path: Path) -> None:
    with serving("workshop.py", "http") as served:
        context = make_context(tmp_path, MARKED_BY_TEST=f"any-order-{tmp_path.name}")
        servers = [odd("first", tools=["a"]), McpServer(name="second", url=f"{served.url}/mcp"), workshop("third")]
        three = [McpTools([server], context) for server in servers]
        for each in three:
            await asyncio.create_task(each.connect(lambda _: None))
        for place in (0, 2, 1):
            async with asyncio.timeout(5):
                await asyncio.create_task(three[place].aclose())
    assert processes_with(f"any-order-{tmp_path.name}") == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_b102_a_loop_that_ends_takes_its_servers_with_it(tmp_path: Path) -> None:
    marker = f"loop-shutdown-{tmp_path.name}"
    with serving("workshop.py", "http") as served:
        command = [sys.executable, "-W", "error", "-c", SHUTDOWN, str(tmp_path), marker, f"{served.url}/mcp"]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert int(found.stdout) > 20
    await until(lambda: not processes_with(marker))


async def test_b091_a_server_that_will_not_end_ends_with_all_its_children(tmp_path: Path) -> None:
    async with session(tmp_path, odd("stays", tools=["a"], stays=True), odd("goes")) as here:
        await here.connect()
        assert len(here.pids()) == 3, "one of them has left its session"
        begun = time.monotonic()
        await here.mcp.aclose()
        assert time.monotonic() - begun < 3
        await until(lambda: not here.pids())


async def test_a_far_server_that_does_not_let_go_is_left(tmp_path: Path) -> None:
    with serving("drip.py") as drip:
        async with session(tmp_path, McpServer(name="drip", url=f"{drip.url}/drip", connect_timeout_s=0.5)) as here:
            await here.connect()
            begun = time.monotonic()
            await here.mcp.aclose()
            assert time.monotonic() - begun < 5


async def test_closing_ends_the_calls_that_are_at_work(tmp_path: Path) -> None:
    async with session(tmp_path, workshop()) as here:
        await here.connect()
        started = tmp_path / "started"
        async with here.calling("mcp__workshop__wait", started=str(started), ended=str(tmp_path / "ended")) as running:
            await until(started.exists)
            await here.mcp.aclose()
            output = await running.output(seconds=1)
            assert (output.stop_reason, output.output[:22]) == ("fatal", "The MCP server is gone")


async def test_closing_twice_or_before_connecting_does_nothing(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"])) as here:
        await here.mcp.aclose()
        await here.connect()
        await here.mcp.aclose()
        output = await run(here.toolbox, call("mcp__odd__a"))
        assert output.output == "The MCP server is not connected. It is tried again at the next run."
        await here.mcp.aclose()
        assert (await here.connect())["odd"].status == "completed"


async def test_connecting_and_closing_again_and_again_leaves_no_file_open(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"])) as here:
        await here.connect()
        await here.mcp.aclose()
        before = len(open_files())
        for _ in range(5):
            await here.connect()
            await here.mcp.aclose()
        await until(lambda: len(open_files()) <= before)
