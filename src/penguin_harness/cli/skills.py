"""`penguin skills`: what an agent can look up when a task calls for it."""

from __future__ import annotations

import sys

from cyclopts import App

from penguin_harness.cli.agent_options import AgentName, require_agent
from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.json_output import print_json
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import neutral, one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.state.paths import DEFAULT_AGENT, agent_paths
from penguin_harness.state.skills import Skill, find_skills, read_skill

app = App(name="skills", help="List and show an agent's skills.")


@app.command(name="list")
def list_skills(*, agent: AgentName = DEFAULT_AGENT, as_json: Json = False) -> int:
    """List the skills, faulty ones with what is wrong."""
    require_agent(agent)
    folder = agent_paths(agent).skills
    skills = find_skills(folder)
    if as_json:
        print_json(skills)
    elif not skills:
        sys.stdout.write(f"No skills yet; one is a folder with a SKILL.md in {one_line(str(folder))}\n")
    else:
        screen = screen_for(sys.stdout)
        head: list[Line] = [[Span(name, "dim")] for name in ("skill", "description")]
        screen.lines(aligned([head, *map(_row, skills)], screen.width))
        screen.close()
    return FAILED if any(skill.fault for skill in skills) else DONE


@app.command(name="show")
def show_skill(name: str, *, agent: AgentName = DEFAULT_AGENT) -> None:
    """Print a skill as it stands in its file."""
    require_agent(agent)
    text = read_skill(agent_paths(agent).skills, name)
    sys.stdout.write(f"{(neutral(text) if sys.stdout.isatty() else text).rstrip()}\n")


def _row(skill: Skill) -> list[Line]:
    about = Span(one_line(skill.fault), "red") if skill.fault else Span(one_line(skill.description))
    return [[Span(one_line(skill.name), "bold")], [about]]
