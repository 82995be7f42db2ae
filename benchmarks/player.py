"""The provider and the programs that are compared, each in a process on a core of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measures import Protocol

ROOT = Path(__file__).parent.parent
WARM = "stream-200,tools-2"
TIMEOUT = 120
LATE = 5
"""The part of a session, at its end, whose turns are measured: a fifth."""


class server:  # noqa: N801 - reads as a function
    """The provider; entered, its address without a version."""

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
        return f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class Player(NamedTuple):
    """A program, and the protocol that it is to speak."""

    driver: str
    protocol: Protocol
    python: str = sys.executable

    def play(self, url: str, scenario: str, warm: str = WARM) -> dict[str, Any]:
        """Play one scenario in a process. Raises when it did not see what the server sent."""
        package = "drivers" if self.python == sys.executable else "peers"
        program = [self.python, "-m", f"benchmarks.{package}.{self.driver}"]
        command = [*program, self.protocol.name, f"{url}/{self.protocol.version}", scenario, f"--warm={warm}"]
        environment = {**os.environ, "CUSTOM_API_KEY": "x", "PYTHONDONTWRITEBYTECODE": ""}  # as when installed
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT, cwd=ROOT, env=environment, preexec_fn=pinned(1)
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.driver} failed on {scenario}: {done.stderr[-2000:]}")
        result = json.loads(done.stdout.splitlines()[-1])
        kind, size = scenario.split("-")
        expected = (80 * (int(size) + 1), int(size)) if kind == "tools" else (4 * int(size), 0)
        if (result["characters"], result["calls"]) != expected:
            raise RuntimeError(f"{self.driver} saw {result} in {scenario}, not {expected} characters and calls")
        return result


class Round:
    """The plays of one round: a scenario that several measures need is played once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._played: dict[tuple[Player, str], float] = {}

    def slope(self, player: Player, large: str, small: str, units: int) -> float:
        """CPU seconds of one unit: what the large scenario costs more than the small one."""
        return (self._cpu(player, large) - self._cpu(player, small)) / units

    def growth(self, player: Player, turns: int) -> float:
        """A turn at the end of a long session, over one at the end of a 10-turn session."""
        units = turns // LATE
        late = self.slope(player, f"tools-{turns}", f"tools-{turns - units}", units)
        return late / self.slope(player, "tools-10", "tools-2", 8)

    def first(self, player: Player) -> float:
        """CPU seconds from the start of the process to the first token."""
        return player.play(self._url, "stream-1", warm="")["first_cpu"]

    def _cpu(self, player: Player, scenario: str) -> float:
        if (player, scenario) not in self._played:
            self._played[player, scenario] = player.play(self._url, scenario)["cpu"]
        return self._played[player, scenario]


def pinned(core: int) -> Callable[[], None]:
    cores = sorted(os.sched_getaffinity(0))
    chosen = {cores[core % len(cores)]}
    return lambda: os.sched_setaffinity(0, chosen)
