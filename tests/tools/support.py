"""A toolbox on a temporary folder, a record of what a call emits, and views of /proc."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from penguin_harness.contracts import OutputPayload
from penguin_harness.omnimessage import PartialToolCallOutput, ToolCall, ToolCallOutput
from penguin_harness.tools import Limits, Tool, Toolbox, ToolContext, builtin_tools, child_environment
from penguin_harness.tools.exec_command import exec_command
from penguin_harness.tools.input_command import input_command
from penguin_harness.tools.read_file import read_file

CALL_ID = "call_1"


def make_context(
    folder: Path, *, guarded: Collection[Path] = (), secrets: Collection[str] = (), **variables: str
) -> ToolContext:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    return ToolContext(
        workspace=workspace,
        session_id="session-2026-12-01-09-00-00-0123abcd",
        scratchpad=folder / "scratchpad",
        environment=child_environment(os.environ | variables),
        guarded=guarded,
        secrets=secrets,
    )


def make_toolbox(
    folder: Path,
    *tools: Tool | Callable[..., object],
    context: ToolContext | None = None,
    secrets: Collection[str] = (),
    limits: Limits | None = None,
) -> Toolbox:
    return Toolbox(
        tools or builtin_tools(), context=context or make_context(folder), secrets=secrets, limits=limits or Limits()
    )


def make_commands(context: ToolContext, *, secrets: Collection[str] = ()) -> Toolbox:
    return Toolbox([exec_command, input_command, read_file], context=context, secrets=secrets)


async def execute(box: Toolbox, command: str, **arguments: object) -> ToolCallOutput:
    return await run(box, call("exec_command", command=command, **arguments))


async def continue_with(box: Toolbox, process_id: str, **arguments: object) -> ToolCallOutput:
    return await run(box, call("input_command", process_id=process_id, **arguments))


async def in_background(box: Toolbox, command: str, **arguments: object) -> str:
    """Start a command that outlasts its call; the id that the call names."""
    output = (await execute(box, command, **({"yield_time_ms": 0} | arguments))).output
    named = re.search(r"as process (\S+?):", output)
    assert named, output
    return named[1]


def call(name: str, /, **arguments: object) -> ToolCall:
    return raw_call(name, msgspec.json.encode(arguments).decode())


def raw_call(name: str, arguments: str) -> ToolCall:
    return ToolCall("assistant", name, arguments, CALL_ID)


class Record:
    """Takes what a call emits."""

    def __init__(self) -> None:
        self.payloads: list[OutputPayload] = []
        self.grown = asyncio.Condition()

    async def emit(self, payload: OutputPayload) -> None:
        async with self.grown:
            self.payloads.append(payload)
            self.grown.notify_all()

    @property
    def text(self) -> str:
        return "".join(each.output for each in self.payloads if isinstance(each, PartialToolCallOutput))

    async def says(self, text: str) -> None:
        async with asyncio.timeout(10), self.grown:
            await self.grown.wait_for(lambda: text in self.text)

    def output(self) -> ToolCallOutput:
        """The complete output, after the framing of the whole segment was checked."""
        return check_segment(self.payloads)


def check_segment(payloads: list[OutputPayload]) -> ToolCallOutput:
    """The streaming discipline: start, deltas, stop, complete, and the deltas add up to the complete output."""
    *fragments, complete = payloads
    partials = [each for each in fragments if isinstance(each, PartialToolCallOutput)]
    assert isinstance(complete, ToolCallOutput)
    assert [each.event_type for each in partials] == ["start", *["delta"] * (len(partials) - 2), "stop"]
    assert len(partials) == len(fragments)
    assert partials[0].output == partials[-1].output == ""
    assert "".join(each.output for each in partials) == complete.output
    assert {each.tool_call_id for each in payloads} == {CALL_ID}
    assert [each.images for each in partials if each.images] == ([complete.images] if complete.images else [])
    assert partials[-1].stop_reason == complete.stop_reason
    assert complete.output.strip()
    msgspec.json.encode(payloads)
    return complete


async def run(toolbox: Toolbox, tool_call: ToolCall) -> ToolCallOutput:
    """One call from beginning to end."""
    record = Record()
    invocation = toolbox.prepare(tool_call)
    assert not isinstance(invocation, str), invocation
    async with asyncio.timeout(60):
        await invocation.run(record.emit)
    return record.output()


def refusal(toolbox: Toolbox, tool_call: ToolCall) -> str:
    """What the model is told of a call that cannot run."""
    text = toolbox.prepare(tool_call)
    assert isinstance(text, str)
    return text


async def until(condition: Callable[[], object], *, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def processes_with(marker: str) -> list[int]:
    """Living processes that have the marker in their environment or command line."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            seen = b"".join((folder / part).read_bytes() for part in ("environ", "cmdline"))
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if marker.encode() in seen and state not in b"ZX" and int(folder.name) != os.getpid():
                found.append(int(folder.name))
    return found


def own_zombies() -> list[int]:
    """Children of this process that nobody waited for."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            state, parent, *_ = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if state == b"Z" and int(parent) == os.getpid():
                found.append(int(folder.name))
    return found


def open_files() -> set[tuple[str, str]]:
    """This process's file descriptors and what they lead to."""
    found: set[tuple[str, str]] = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add((link.name, str(link.readlink())))
    return found
