"""`penguin agent list` and `penguin agent show`: what is set up for an agent, faults too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar, cast

from cyclopts import Parameter
from msgspec import Struct

from penguin_harness.cli.agent_options import require_agent
from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.json_output import print_json
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import neutral, one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import clean
from penguin_harness.state.agent_config import PlainConfig, Section, load_agent_config
from penguin_harness.state.paths import DEFAULT_AGENT, VAULT, agent_names, agent_paths
from penguin_harness.state.prompt import assemble_prompt
from penguin_harness.state.skills import find_skills
from penguin_harness.state.snapshots import list_snapshots
from penguin_harness.state.vault import Vault, load_vault

T = TypeVar("T")


class Shown(Struct, frozen=True, omit_defaults=True):
    """What the commands say about an agent."""

    name: str
    state: Path
    description: str = ""
    settings: dict[str, dict[str, object]] = {}
    """The sections of its configuration that say something."""
    mcp_servers: list[str] = []
    skills: list[str] = []
    variables: list[str] = []
    """The names in its vault."""
    snapshots: int = 0
    faults: list[str] = []
    """Why no session of it would open, or a skill cannot be used."""


def list_agents(*, as_json: Json = False) -> None:
    """List the agents of the project."""
    agents = [describe(name) for name in agent_names()]
    if as_json:
        print_json(agents)
        return
    screen = screen_for(sys.stdout)
    head: list[Line] = [[Span(name, "dim")] for name in ("agent", "skills", "mcp servers", "description")]
    screen.lines(aligned([head, *map(_row, agents)], screen.width))
    screen.close()


def show_agent(
    name: str = DEFAULT_AGENT,
    *,
    prompt: Annotated[
        bool, Parameter(negative="", help="Print the system prompt that a session in this folder would get.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show how an agent is set up, or its prompt."""
    require_agent(name)
    if prompt:
        state = agent_paths(name).state
        names = load_vault(state / VAULT).names
        text = assemble_prompt(agent_state=state, workspace=Path.cwd(), variables=names)
        sys.stdout.write(f"{neutral(text) if sys.stdout.isatty() else text}\n")
        return DONE
    shown = describe(name)
    if as_json:
        print_json(shown)
    else:
        screen = screen_for(sys.stdout)
        screen.lines(aligned(_lines(shown), screen.width), whole=True)
        screen.close()
    return FAILED if shown.faults else DONE


def describe(name: str) -> Shown:
    """Read an agent's state. Raises nothing for what lies in it."""
    paths = agent_paths(name)
    faults: list[str] = []
    config = _read(lambda: load_agent_config(paths.system_config, PlainConfig), PlainConfig(), faults)
    skills = _read(lambda: find_skills(paths.skills), [], faults)
    vault = _read(lambda: load_vault(paths.state / VAULT), Vault(), faults)
    faults += [f"the skill {skill.name}: {skill.fault}" for skill in skills if skill.fault]
    sections = {key: getattr(config, key) for key in config.__struct_fields__}
    values = {key: _said(value) for key, value in sections.items() if isinstance(value, Section)}
    return Shown(
        name,
        paths.state,
        clean(config.description),
        {key: value for key, value in values.items() if value},
        [clean(str(server.get("name", "?"))) for server in config.mcp_servers],
        [skill.name for skill in skills],
        list(vault.names),
        len(list_snapshots(paths)),
        faults,
    )


def _read(read: Callable[[], T], otherwise: T, faults: list[str]) -> T:
    try:
        return read()
    except ConfigError as error:
        faults.append(clean(str(error)))
        return otherwise


def _said(section: Section) -> dict[str, object]:
    plain = type(section)()
    return {key: value for key, value in section.given().items() if value != getattr(plain, key)}


def _row(shown: Shown) -> list[Line]:
    about = Span(one_line(shown.faults[0]), "red") if shown.faults else Span(one_line(shown.description))
    counts: list[Line] = [[Span(str(len(shown.skills) or "–"))], [Span(str(len(shown.mcp_servers) or "–"))]]
    return [[Span(shown.name, "bold")], *counts, [about]]


def _lines(shown: Shown) -> list[list[Line]]:
    rows = {"agent": shown.name, "description": shown.description, "state": str(shown.state)}
    for name, section in shown.settings.items():
        rows[name] = ", ".join(f"{key} {_words(value)}" for key, value in section.items())
    rows["mcp servers"] = ", ".join(shown.mcp_servers)
    rows["skills"] = ", ".join(shown.skills)
    rows["vault"] = ", ".join(shown.variables)
    rows["snapshots"] = str(shown.snapshots or "")
    lines: list[list[Line]] = [[[Span(key, "dim")], [Span(one_line(value))]] for key, value in rows.items() if value]
    return lines + [[[Span("fault", "red")], [Span(one_line(fault), "red")]] for fault in shown.faults]


def _words(value: object) -> str:
    return " ".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)
