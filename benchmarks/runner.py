"""Plays every scenario over every protocol with every driver, side by side."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from statistics import median
from typing import NamedTuple

from benchmarks.imports import import_cost
from benchmarks.measures import DRIVERS, MEASURES, PENGUIN, Measure, Plan, Protocol
from benchmarks.player import Player, Round, server
from benchmarks.results import Results, Row
from benchmarks.resume import resume_cost
from benchmarks.tail import tail_cost

LENGTHS = (100, 500)
"""Turns of a long session."""
LINES = (100_000, 1_000_000)
"""Of a Trace."""


class Task(NamedTuple):
    """A row, and how it comes by its figures."""

    row: Row
    protocol: Protocol
    figure: Callable[[Round, Player], float]

    def take(self, played: Round) -> None:
        for driver, figures in self.row.figures.items():
            figures.append(self.figure(played, Player(driver, self.protocol)))


def run(plan: Plan) -> Results:
    """All that is planned; progress on stderr."""
    rows, growth = [*row_tasks(plan)], [*growth_tasks(plan)]
    take(plan.rounds, rows, growth)
    resume, linear = resumed(plan.rounds) if "resume" in plan.measures else ({}, 0.0)
    return Results(
        where=f"{date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores",
        rounds=plan.rounds,
        rows=[task.row for task in rows],
        growth=[task.row for task in growth],
        imports=[import_cost() for _ in range(plan.rounds)] if "import" in plan.measures else [],
        resume=resume,
        linear=linear,
        tail=median(tail_cost() * 1e6 for _ in range(plan.rounds)) if "burst" in plan.measures else 0.0,
    )


def take(rounds: int, rows: Sequence[Task], growth: Sequence[Task]) -> None:
    """Play the rounds. The first one warms the machine up and does not count."""
    if not rows and not growth:
        return
    with server() as url:
        for number in range(rounds + 1):
            played = Round(url)
            for task in (*rows, *growth) if number else rows:
                task.take(played)
            if number == 0:
                for figures in (figures for task in rows for figures in task.row.figures.values()):
                    figures.clear()
            sys.stderr.write(f"round {number} of {rounds} done\n")


def row_tasks(plan: Plan) -> Iterator[Task]:
    for measure in (measure for measure in MEASURES if measure.name in plan.measures):
        for protocol in plan.protocols:
            row = Row(measure.title, protocol.title, "µs", measure.budget, {driver: [] for driver in DRIVERS})
            yield Task(row, protocol, slope_of(measure))
    if "first" in plan.measures:
        protocol = plan.protocols[0]
        row = Row("first token from process start", protocol.title, "ms", "≤ 1.5 ×", {d: [] for d in DRIVERS})
        yield Task(row, protocol, first_of)


def growth_tasks(plan: Plan) -> Iterator[Task]:
    """All drivers over the first protocol; over the others the harness alone, in the longest session."""
    if "growth" not in plan.measures:
        return
    first, *others = plan.protocols
    for turns in LENGTHS:
        yield growth_task(turns, first, DRIVERS)
    for protocol in others:
        yield growth_task(LENGTHS[-1], protocol, (PENGUIN,))


def growth_task(turns: int, protocol: Protocol, drivers: Sequence[str]) -> Task:
    def figure(played: Round, player: Player) -> float:
        return played.growth(player, turns)

    return Task(
        Row(f"{turns} turns", protocol.title, "", "≤ 1.5", {driver: [] for driver in drivers}), protocol, figure
    )


def first_of(played: Round, player: Player) -> float:
    return played.first(player) * 1e3


def slope_of(measure: Measure) -> Callable[[Round, Player], float]:
    def figure(played: Round, player: Player) -> float:
        return played.slope(player, measure.scenario, measure.small, measure.units) * 1e6

    return figure


def resumed(rounds: int) -> tuple[dict[int, list[float]], float]:
    """By lines of the Trace the ratios to bare decoding; and the time a line of the longest over the shorter one's."""
    costs = {lines: [resume_cost(lines) for _ in range(rounds)] for lines in LINES}
    shorter, longest = (median(cost.seconds for cost in costs[lines]) / lines for lines in LINES)
    return {lines: [cost.ratio for cost in found] for lines, found in costs.items()}, longest / shorter
