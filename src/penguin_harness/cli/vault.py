"""`penguin vault`: secrets for an agent's commands, written and never shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from penguin_harness.cli.agent_options import AgentName, require_agent
from penguin_harness.cli.console import say
from penguin_harness.cli.json_output import print_json
from penguin_harness.cli.options import Json
from penguin_harness.errors import ConfigError
from penguin_harness.state.paths import DEFAULT_AGENT, VAULT, agent_paths
from penguin_harness.state.vault import LONGEST, load_vault, save_vault

app = App(name="vault", help="Keep the secrets that an agent's commands need.")


@app.command(name="set")
def set_secret(
    name: str,
    /,
    *value: Annotated[str, Parameter(show=False)],
    stdin: Annotated[bool, Parameter(negative="", help="Read the value from standard input.")] = False,
    agent: AgentName = DEFAULT_AGENT,
) -> None:
    """Store a secret, or change one. On a terminal it is asked for, and not shown."""
    if value:
        raise ConfigError("a value on the command line can be read by others: leave it out, or use --stdin")
    path = _path(agent)
    vault = load_vault(path)
    vault.with_secret(name, "checked before it is asked for")
    save_vault(path, vault.with_secret(name, _piped() if stdin else _asked(name)))
    is_new = name not in vault.names
    sys.stdout.write(
        f"{name} is {'stored' if is_new else 'changed'}; commands find it in sessions opened from now on\n"
    )


@app.command(name="list")
def list_names(*, agent: AgentName = DEFAULT_AGENT, as_json: Json = False) -> None:
    """List the names. The values are shown nowhere."""
    names = load_vault(_path(agent)).names
    if as_json:
        print_json(names)
    elif not names:
        say("the vault is empty; `penguin vault set NAME` stores a secret")
    else:
        sys.stdout.write("".join(f"{name}\n" for name in names))


@app.command
def remove(name: str, /, *, agent: AgentName = DEFAULT_AGENT) -> None:
    """Remove a secret."""
    path = _path(agent)
    save_vault(path, load_vault(path).without(name))
    sys.stdout.write(f"{name} is removed\n")


def _path(agent: str) -> Path:
    require_agent(agent)
    return agent_paths(agent).state / VAULT


def _piped() -> str:
    """The value on standard input, without the line end behind it."""
    data = sys.stdin.buffer.read(LONGEST + 3)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ConfigError("--stdin: the value is not in UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r")


def _asked(name: str) -> str:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError("there is no terminal to ask for the value: pass it on standard input, with --stdin")
    import getpass  # only who is asked pays for it

    try:
        return getpass.getpass(f"Value of {name} (not shown): ")
    except EOFError:
        raise ConfigError("there is no value; nothing was stored") from None
