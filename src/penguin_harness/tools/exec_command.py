"""The tool `exec_command`."""

from __future__ import annotations

import asyncio
import shutil
import signal
from typing import Annotated

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.invoke import invoke
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.files import describe_missing, locate
from penguin_harness.tools.tool import ToolResult, tool

DEFAULT_TIMEOUT = 120
LONGEST_TIMEOUT = 3_600


@tool(timeout=LONGEST_TIMEOUT + 30)
async def exec_command(
    context: ToolContext,
    command: Annotated[str, Meta(description="The command line, for bash.", min_length=1)],
    workdir: Annotated[str, Meta(description="Folder to run in, absolute or relative to the workspace.")] = ".",
    timeout_s: Annotated[
        int, Meta(description="Seconds after which the command is ended.", ge=1, le=LONGEST_TIMEOUT)
    ] = DEFAULT_TIMEOUT,
) -> ToolResult:
    """Run a shell command and return what it prints, stdout and stderr together.
    There is no input and no terminal. The call ends when the command ends; a process that it leaves in the background
    lives until the session is closed and must send its output elsewhere (`server > server.log 2>&1 &`).
    """
    folder = locate(context, workdir)
    if not folder.is_dir():
        raise ToolFailed(f"{folder} is a file." if folder.exists() else await invoke(describe_missing, folder))
    shell = shutil.which("bash") or "/bin/sh"
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            code = await context.processes.run(
                (shell, "-c", command), folder=folder, environment=context.environment, write=context.write
            )
    except TimeoutError:
        if not limit.expired():
            raise
        raise ToolFailed(f"[timed out after {timeout_s} s: the command and all it started were ended]") from None
    return ToolResult(note=_note(code))


def _note(code: int) -> str | None:
    if code < 0:
        names = {number.value: number.name for number in signal.Signals}
        return f"[killed by {names.get(-code, f'signal {-code}')}]"
    return f"[exit code {code}]" if code else None
