"""`penguin agent snapshot`, `restore`, `snapshots`: an agent's state as it was."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter

from penguin_harness.cli.agent_options import AgentName, require_agent
from penguin_harness.cli.json_output import print_json
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.state.paths import DEFAULT_AGENT, agent_paths
from penguin_harness.state.snapshots import Snapshot, list_snapshots, restore_snapshot, take_snapshot


def snapshot(
    name: Annotated[str | None, Parameter(help="What to call it; without it the time.")] = None,
    *,
    agent: AgentName = DEFAULT_AGENT,
) -> None:
    """Keep an agent's state, without its vault."""
    require_agent(agent)
    taken = take_snapshot(agent_paths(agent), name or _now())
    sys.stdout.write(f"{taken.name} is kept, in {one_line(str(taken.path))}\n")


def restore(name: str, *, agent: AgentName = DEFAULT_AGENT) -> None:
    """Put a kept state back. The present one is kept as a snapshot too, and the vault stays as it is."""
    require_agent(agent)
    replaced = restore_snapshot(agent_paths(agent), name, keep_as=f"replaced-{_now()}")
    what_was = f"; what was there is kept as {replaced.name}" if replaced else ""
    sys.stdout.write(f"{agent} is as in {one_line(name)}{what_was}\n")


def list_kept(*, agent: AgentName = DEFAULT_AGENT, as_json: Json = False) -> None:
    """List the kept states of an agent, the newest first."""
    require_agent(agent)
    kept = list_snapshots(agent_paths(agent))
    if as_json:
        print_json(kept)
        return
    screen = screen_for(sys.stdout)
    if kept:
        head: list[Line] = [[Span(name, "dim")] for name in ("snapshot", "made", "size")]
        screen.lines(aligned([head, *map(_row, kept)], screen.width))
    else:
        screen.lines([[Span("No snapshots yet; make one with `penguin agent snapshot`.")]])
    screen.close()


def _row(kept: Snapshot) -> list[Line]:
    made = datetime.fromtimestamp(kept.made).strftime("%Y-%m-%d %H:%M")
    return [[Span(one_line(kept.name), "bold")], [Span(made)], [Span(f"{kept.bytes / 1024:.0f} kB", "dim")]]


def _now() -> str:
    return datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")[:-3]
