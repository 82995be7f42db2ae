"""Plays every scenario with every driver, side by side."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.resume import resume_cost
from benchmarks.tail import tail_cost

ROOT = Path(__file__).parent.parent
BASELINE, SKETCH, PENGUIN = "httpx_json", "aiohttp_msgspec", "penguin"
DRIVERS = (BASELINE, SKETCH, PENGUIN)
WARM = "stream-200,tools-2"
TIMEOUT = 120
GROWTH = (100, 500)
LATE = 5
"""The part of a session, at its end, whose turns are measured: a fifth."""
LINES = (100_000, 1_000_000)


class Measure(NamedTuple):
    """One row: the CPU time between a large and a small scenario, for each of the units between them."""

    name: str
    title: str
    scenario: str
    small: str
    units: int
    unit: str
    budget: str


MEASURES = (
    Measure("burst", "a delta, burst of 20,000", "stream-20000", "stream-20", 19_980, "µs", "≤ 0.5 ×, ≤ 2 × sketch"),
    Measure("paced", "a delta, one every ms", "paced-1000", "stream-20", 980, "µs", "≤ 0.6 ×"),
    Measure("tools", "a tool turn, of 50", "tools-50", "tools-2", 48, "µs", "≤ 0.4 ×"),
)


class Plan(NamedTuple):
    """What to run."""

    rounds: int
    only: frozenset[str] = frozenset()

    def wants(self, name: str) -> bool:
        return not self.only or name in self.only


class Row(NamedTuple):
    """What came of one measure, for each driver: the figure of each round."""

    title: str
    unit: str
    budget: str
    figures: dict[str, list[float]]

    def median(self, driver: str) -> float:
        return median(self.figures[driver])

    def ratio(self, driver: str, base: str) -> tuple[float, float, float]:
        """Median, least and greatest of the rounds' ratios."""
        ratios = [mine / theirs for mine, theirs in zip(self.figures[driver], self.figures[base], strict=True)]
        return median(ratios), min(ratios), max(ratios)


class Results(NamedTuple):
    """Everything that the table shows."""

    where: str
    rounds: int
    rows: list[Row]
    growth: dict[int, dict[str, list[float]]]
    """By length of the session: a late turn over one of a 10-turn session."""
    resume: dict[int, list[float]]
    """By lines of the Trace: reading and folding over bare decoding."""
    tail: list[float]
    """Microseconds that the tail journal adds to a delta."""
    linear: float
    """Seconds a line of the longest Trace over those of the next shorter one."""


def run(plan: Plan) -> Results:
    """All measures; progress on stderr."""
    rows = {m.name: Row(m.title, m.unit, m.budget, {d: [] for d in DRIVERS}) for m in MEASURES if plan.wants(m.name)}
    growth: dict[int, dict[str, list[float]]] = {turns: {driver: [] for driver in DRIVERS} for turns in GROWTH}
    first = Row("first token from process start", "ms", "≤ 1.5 ×", {driver: [] for driver in DRIVERS})
    with server() as url:
        for number in range(plan.rounds + 1):
            for driver in DRIVERS:
                for measure in (m for m in MEASURES if m.name in rows):
                    figure = slope(driver, url, measure.scenario, measure.small, measure.units)
                    rows[measure.name].figures[driver] += [figure * 1e6] if number else []
                if plan.wants("growth"):
                    for turns in GROWTH if number else ():
                        growth[turns][driver].append(turn_growth(driver, url, turns))
                if plan.wants("first"):
                    figure = play(driver, url, "stream-1", warm="")["first_cpu"] * 1e3
                    first.figures[driver] += [figure] if number else []
            sys.stderr.write(f"round {number} of {plan.rounds} done\n")
    resumed = {n: [resume_cost(n) for _ in range(plan.rounds)] for n in LINES} if plan.wants("resume") else {}
    resume = {lines: [bare.ratio for bare in costs] for lines, costs in resumed.items()}
    seconds = [median(cost.seconds for cost in costs) / lines for lines, costs in resumed.items()]
    where = f"{date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    tail = [tail_cost() * 1e6 for _ in range(plan.rounds)] if plan.wants("burst") else []
    shown = [*rows.values(), *([first] if plan.wants("first") else [])]
    linear = seconds[-1] / seconds[-2] if seconds else 0.0
    return Results(where, plan.rounds, shown, growth if plan.wants("growth") else {}, resume, tail, linear)


class server:  # noqa: N801 - reads as a function
    """The provider, in a process on a core of its own."""

    def __enter__(self) -> str:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            preexec_fn=pinned(0),
        )
        assert self._process.stdout is not None
        return f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def pinned(core: int) -> Callable[[], None]:
    cores = sorted(os.sched_getaffinity(0))
    chosen = {cores[core % len(cores)]}
    return lambda: os.sched_setaffinity(0, chosen)


def slope(driver: str, url: str, large: str, small: str, units: int, python: str = sys.executable) -> float:
    """CPU seconds of one unit: what the large scenario costs more than the small one."""
    return (play(driver, url, large, python=python)["cpu"] - play(driver, url, small, python=python)["cpu"]) / units


def turn_growth(driver: str, url: str, turns: int) -> float:
    """A turn at the end of a long session, over one at the end of a 10-turn session."""
    units = turns // LATE
    late = slope(driver, url, f"tools-{turns}", f"tools-{turns - units}", units)
    return late / slope(driver, url, "tools-10", "tools-2", 8)


def play(driver: str, url: str, scenario: str, warm: str = WARM, python: str = sys.executable) -> dict[str, Any]:
    """One process that plays one scenario. Raises when it did not see what the server sent."""
    package = "drivers" if python == sys.executable else "peers"
    command = [python, "-m", f"benchmarks.{package}.{driver}", url, scenario, f"--warm={warm}"]
    environment = {**os.environ, "CUSTOM_API_KEY": "x", "PYTHONDONTWRITEBYTECODE": ""}  # as an installed package has it
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, cwd=ROOT, env=environment, preexec_fn=pinned(1)
    )
    if done.returncode != 0:
        raise RuntimeError(f"{driver} failed on {scenario}: {done.stderr[-2000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    kind, size = scenario.split("-")
    expected = (80 * (int(size) + 1), int(size)) if kind == "tools" else (4 * int(size), 0)
    if (result["characters"], result["calls"]) != expected:
        raise RuntimeError(f"{driver} saw {result} in {scenario}, not {expected} characters and calls")
    return result
