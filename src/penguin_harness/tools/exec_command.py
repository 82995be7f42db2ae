"""The tool `exec_command`."""

from __future__ import annotations

import shutil
from typing import Annotated

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.invoke import invoke
from penguin_harness.tools.command import CommandLine
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.ending import closing_note
from penguin_harness.tools.files import describe_missing, locate
from penguin_harness.tools.sandbox import wrap
from penguin_harness.tools.tool import ToolResult, tool

WINDOW_MS = 60_000
"""How long a call waits for its command unless it says otherwise."""
LONGEST_WINDOW_MS = 3_600_000
LONGEST_TIMEOUT = 86_400
FIRST_LOOK = 0.5
"""Seconds that a command in the background is watched at first: most that fail do it at once."""


@tool(timeout=LONGEST_WINDOW_MS / 1000 + 30)
async def exec_command(
    context: ToolContext,
    command: Annotated[str, Meta(description="The command line, for bash.", min_length=1)],
    workdir: Annotated[str, Meta(description="Folder to run in, absolute or relative to the workspace.")] = ".",
    yield_time_ms: Annotated[
        int,
        Meta(
            description="Milliseconds to wait for its end; then it goes on in the background.",
            ge=0,
            le=LONGEST_WINDOW_MS,
        ),
    ] = WINDOW_MS,
    timeout_s: Annotated[
        Annotated[int, Meta(ge=1, le=LONGEST_TIMEOUT)] | None,
        Meta(description="Seconds after which it is ended, also in the background."),
    ] = None,
    run_in_background: Annotated[bool, Meta(description="Do not wait for its end: for servers and watchers.")] = False,
    stdin: Annotated[
        bool, Meta(description="Leave its input open for input_command to write to; otherwise the input is empty.")
    ] = False,
) -> ToolResult:
    """Run a shell command and return what it prints, stdout and stderr together.
    There is no terminal. A command that runs on in the background has a process id for input_command; its end is told,
    and it is ended with the session at the latest.
    """
    folder = locate(context, workdir)
    if not folder.is_dir():
        raise ToolFailed(f"{folder} is a file." if folder.exists() else await invoke(describe_missing, folder))
    shell = shutil.which("bash") or "/bin/sh"
    processes = context.processes
    started = processes.start(
        CommandLine(
            text=command,
            argv=wrap((shell, "-c", command), context.sandbox, folder=folder),
            folder=folder,
            environment=context.environment,
            has_input=stdin,
            timeout=timeout_s,
        )
    )
    try:
        is_over = await started.follow(context.write, FIRST_LOOK if run_in_background else yield_time_ms / 1000)
        if is_over:
            await started.settle()
    except BaseException:
        await processes.end(started)
        raise
    if is_over and not started.lingers:
        processes.forget(started)
    else:
        await processes.keep(started)
    is_late = is_over and started.timed_out
    return ToolResult(note=closing_note(started, is_new=True), stop_reason="fatal" if is_late else "completed")
