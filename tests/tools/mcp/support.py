"""Real servers as processes, a session's McpTools around them, and proof that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import warnings
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from penguin_harness.omnimessage import EventPayload, McpConnectBegin, McpConnectEnd, McpResult, ToolCallOutput
from penguin_harness.tools import Toolbox, ToolContext
from penguin_harness.tools.mcp import McpServer, McpTools
from tests.tools.mcp.servers.odd import Manners
from tests.tools.support import Record, call, make_context, open_files, own_zombies, processes_with, run, until

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent / "servers"
MARKER = "MARKED_BY_TEST"


def workshop(name: str = "workshop", **options: Any) -> McpServer:
    return McpServer(name=name, command=sys.executable, args=(str(HERE / "workshop.py"), "stdio"), **options)


def odd(name: str = "odd", *, options: dict[str, Any] | None = None, **manners: Any) -> McpServer:
    given = msgspec.json.encode(Manners(**manners)).decode()
    more: dict[str, Any] = {"env": {"ODD_NAME": name, "PYTHONPATH": str(ROOT)}, **(options or {})}
    return McpServer(name=name, command=sys.executable, args=(str(HERE / "odd.py"), given), **more)


@contextmanager
def serving(script: str, *arguments: str) -> Generator[Served]:
    """A server that listens on a port of its own."""
    command = [sys.executable, str(HERE / script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        try:
            assert process.stdout is not None
            yield Served(process, f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.kill()


class Served(Struct):
    process: subprocess.Popen[bytes]
    url: str

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Session:
    """What a session has of MCP."""

    def __init__(self, mcp: McpTools, context: ToolContext, marker: str) -> None:
        self.mcp = mcp
        self.context = context
        self.marker = marker
        self.events: list[EventPayload] = []

    async def connect(self) -> dict[str, McpResult]:
        """One connect round; its results by server."""
        async with asyncio.timeout(30):
            await self.mcp.connect(self.events.append)
        return self.results()

    def results(self) -> dict[str, McpResult]:
        """Of the newest round, whose two events must fit together."""
        begin, end = self.events[-2:]
        assert isinstance(begin, McpConnectBegin)
        assert isinstance(end, McpConnectEnd)
        assert [result.server for result in end.results] == list(begin.servers)
        return {result.server: result for result in end.results}

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.mcp.tools]

    @property
    def toolbox(self) -> Toolbox:
        return Toolbox(self.mcp.tools, context=self.context)

    async def call(self, name: str, /, **arguments: object) -> ToolCallOutput:
        return await run(self.toolbox, call(name, **arguments))

    @asynccontextmanager
    async def calling(self, name: str, /, **arguments: object) -> AsyncGenerator[Running]:
        """A call that goes on while the test does something else."""
        invocation = self.toolbox.prepare(call(name, **arguments))
        assert not isinstance(invocation, str), invocation
        record = Record()
        task = asyncio.create_task(invocation.run(record.emit))
        try:
            yield Running(task, record)
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=10)

    def log(self, server: str) -> str:
        return (self.context.scratchpad / f"mcp-{server}.log").read_text()

    def pids(self) -> list[int]:
        return processes_with(self.marker)


class Running(Struct):
    task: asyncio.Task[None]
    record: Record

    async def output(self, seconds: float = 10) -> ToolCallOutput:
        """The output, within so many seconds."""
        async with asyncio.timeout(seconds):
            await asyncio.wait({self.task})
        return self.record.output()


@asynccontextmanager
async def session(folder: Path, *servers: McpServer, **variables: str) -> AsyncGenerator[Session]:
    """A session that must leave no process and no task behind, and say nothing on the way."""
    marker = uuid4().hex
    given: dict[str, Any] = {MARKER: marker, **variables}
    context = make_context(folder, **given)
    before = open_files()
    mcp = McpTools(servers, context)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            yield Session(mcp, context, marker)
        finally:
            async with asyncio.timeout(20):
                await mcp.aclose()
    await until(lambda: not own_zombies())
    await until(lambda: not processes_with(marker))
    await until(lambda: not open_files() - before)  # an idle thread takes its pipe with it
    assert asyncio.all_tasks() == {asyncio.current_task()}
