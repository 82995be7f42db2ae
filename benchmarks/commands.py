"""What commands leave behind: a thousand in a loop, and 100 MB of output through one.  python -m benchmarks.commands"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from penguin_harness.contracts import OutputPayload
from penguin_harness.invoke import invoke
from penguin_harness.omnimessage import ToolCall, ToolCallOutput
from penguin_harness.tools import Toolbox, ToolContext, child_environment
from penguin_harness.tools.exec_command import exec_command

COMMANDS = 1_000
MEGABYTES = 100
LINE = "a line as a program prints it, with a dozen words and about eighty characters"


async def execute(box: Toolbox, command: str) -> str:
    """Run one command as the engine does; what the model is told."""
    said: list[str] = []

    async def emit(payload: OutputPayload) -> None:
        if isinstance(payload, ToolCallOutput):
            said.append(payload.output)

    call = ToolCall("assistant", "exec_command", f'{{"command":"{command}"}}', "call_1")
    invocation = box.prepare(call)
    assert not isinstance(invocation, str)
    await invocation.run(emit)
    return said[0]


def resident() -> int:
    """KiB of memory in use now."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> list[str]:
    """The states of this process's children: Z for one that nobody waited for."""
    found: list[str] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, *_ = stat.read_text().rpartition(")")[2].split()
            found += [state] if int(parent) == os.getpid() else []
    return found


def report(what: str, *, seconds: float, memory: int, files: int) -> None:
    growth, more = resident() - memory, open_files() - files
    sys.stdout.write(
        f"{what:<32} {seconds:6.2f} s   memory {growth:+6d} KiB   files {more:+d}   children {children()}\n"
    )


async def loop(box: Toolbox, count: int) -> None:
    memory, files, begin = resident(), open_files(), time.perf_counter()
    for number in range(count):
        assert await execute(box, f"echo {number}") == f"{number}\n"
    report(f"{count} commands", seconds=time.perf_counter() - begin, memory=memory, files=files)


async def flood(box: Toolbox) -> None:
    memory, files, begin = resident(), open_files(), time.perf_counter()
    output = await execute(box, f"yes {LINE} | head -c {MEGABYTES * 1_000_000}")
    assert "characters are left out here" in output
    report(f"{MEGABYTES} MB of output", seconds=time.perf_counter() - begin, memory=memory, files=files)


async def measure(folder: Path) -> None:
    context = ToolContext(
        workspace=folder,
        session_id="session-2026-12-01-09-00-00-0123abcd",
        scratchpad=folder / "scratchpad",
        environment=child_environment(os.environ),
        secrets=["sk-a-secret-of-the-vault"],
    )
    box = Toolbox([exec_command], context=context, secrets=["sk-a-secret-of-the-vault"])
    await invoke(id, None)
    await loop(box, 100)
    await loop(box, COMMANDS)
    await flood(box)
    await flood(box)
    await loop(box, COMMANDS)
    await box.aclose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(Path(name)))
