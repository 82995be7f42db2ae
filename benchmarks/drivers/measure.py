"""What every driver shares: its command line, its clock, and the JSON line that it prints."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

SHORTEST = 0.3
"""Seconds that a scenario is repeated for, so that small ones are measured too."""


class Scene(NamedTuple):
    """What is played: a scenario of the server, over a wire protocol."""

    client_type: str
    url: str
    """With the version, as a user gives it."""
    scenario: str


class Seen:
    """What a driver saw, to be checked: text, calls, and the CPU seconds until the first text."""

    def __init__(self) -> None:
        self.characters = self.calls = 0
        self.first_cpu = 0.0

    def text(self, piece: str) -> None:
        if not self.characters:
            self.first_cpu = time.process_time()
        self.characters += len(piece)


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
Play: TypeAlias = Callable[[Scene, Seen], Awaitable[None]]


async def measured(play: Play, scene: Scene, *, repeat: bool) -> tuple[float, Seen]:
    """CPU seconds of one play, the mean of as many as fit, and what the last one saw."""
    plays, wall, cpu = 0, time.monotonic(), time.process_time()
    while True:
        seen = Seen()
        await play(scene, seen)
        plays += 1
        if not repeat or plays == 20 or time.monotonic() - wall > SHORTEST:
            return (time.process_time() - cpu) / plays, seen


def main(play: Play) -> None:
    """Play `scenario` (and before it `warm` ones), print one JSON line, and leave."""
    parser = argparse.ArgumentParser()
    parser.add_argument("client_type")
    parser.add_argument("url")
    parser.add_argument("scenario")
    parser.add_argument("--warm", default="", help="comma-separated scenarios to play first, unmeasured")
    options = parser.parse_args()
    scene = Scene(options.client_type, options.url, options.scenario)

    async def body() -> None:
        for scenario in filter(None, options.warm.split(",")):
            await play(scene._replace(scenario=scenario), Seen())
        cpu, seen = await measured(play, scene, repeat=bool(options.warm))
        result = {"cpu": cpu, "characters": seen.characters, "calls": seen.calls, "first_cpu": seen.first_cpu}
        print(json.dumps(result), flush=True)

    asyncio.run(body())
    os._exit(0)  # what lies behind the measurement is not measured
