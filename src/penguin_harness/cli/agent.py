"""`penguin agent`: agents as files on disk, made, edited and kept."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from penguin_harness.cli.agent_options import require_agent
from penguin_harness.cli.console import DONE, FAILED, say
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.errors import ConfigError
from penguin_harness.state.agent_config import PlainConfig, load_agent_config
from penguin_harness.state.agents import ensure_file, make_agent
from penguin_harness.state.instructions import FILE as INSTRUCTIONS
from penguin_harness.state.paths import DEFAULT_AGENT, agent_paths

app = App(name="agent", help="Make, edit and keep agents.")
_HERE = "penguin_harness.cli"
app.command(f"{_HERE}.agent_show:list_agents", name="list", help="List the agents of the project.")
app.command(f"{_HERE}.agent_show:show_agent", name="show", help="Show how an agent is set up, or its prompt.")
app.command(f"{_HERE}.agent_snapshot:snapshot", name="snapshot", help="Keep an agent's state, without its vault.")
app.command(f"{_HERE}.agent_snapshot:restore", name="restore", help="Put a kept state back; the present one is kept.")
app.command(f"{_HERE}.agent_snapshot:list_kept", name="snapshots", help="List the kept states of an agent.")
_EDITORS = ("sensible-editor", "nano", "vi")


@app.command
def new(
    name: str, *, description: Annotated[str, Parameter(help="What the agent is for, in one sentence.")] = ""
) -> None:
    """Make an agent: a folder with its configuration and its instructions."""
    paths = agent_paths(name)
    make_agent(paths, description)
    sys.stdout.write(f"{name} is made, in {one_line(str(paths.state))}\n")


@app.command
def edit(
    name: str = DEFAULT_AGENT,
    *,
    instructions: Annotated[bool, Parameter(negative="", help="Edit its AGENTS.md, not its configuration.")] = False,
) -> int:
    """Open an agent's configuration in $VISUAL or $EDITOR, and check it afterwards."""
    require_agent(name)
    paths = agent_paths(name)
    path = paths.state / INSTRUCTIONS if instructions else paths.system_config
    command = _editor(path)
    ensure_file(path)
    code = subprocess.run([*command, str(path)], check=False).returncode
    if code:
        say(f"{command[0]} ended with exit code {code}; {path} is as it left it")
        return FAILED
    try:
        load_agent_config(paths.system_config, PlainConfig)
    except ConfigError as error:
        say(f"{error}. No session of {name} opens before this is mended: penguin agent edit {name}")
        return FAILED
    return DONE


def _editor(path: Path) -> list[str]:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(f"edit needs a terminal; the file is {path}")
    named = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    found = [named] if named else [editor for editor in _EDITORS if shutil.which(editor)]
    try:
        command = shlex.split(found[0]) if found else []
    except ValueError as error:
        raise ConfigError(f"$VISUAL or $EDITOR is {named!r}: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise ConfigError(f"there is no editor {command[0] if command else ''!r}: set $EDITOR; the file is {path}")
    return command
