"""Sweeps: one proof over many points. Each point has a folder of its own and leaves no task behind."""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from msgspec import Struct

P = TypeVar("P")
Prove: TypeAlias = Callable[[P, Path], Awaitable[None]]
"""Proves one point in an empty folder; raises where it fails."""

ROOT = Path(__file__).parents[2]

POINT_LIMIT = 30.0
"""Seconds that one point may take."""

MOST_FAILURES = 20
"""After so many the sweep ends: the rest would say the same."""


class Failure(Struct, frozen=True):
    """A point that failed, and why."""

    point: str
    reason: str

    def __str__(self) -> str:
        return f"{self.point}\n    {self.reason}"


class Report(Struct, frozen=True):
    """What a sweep found."""

    name: str
    tried: int
    failures: tuple[Failure, ...]
    seconds: float

    def __str__(self) -> str:
        shown = [str(failure) for failure in self.failures[:MOST_FAILURES]]
        head = f"{self.name}: {self.tried} points tried, {len(self.failures)} failures, {self.seconds:.1f} s"
        return "\n".join([*shown, head])


async def sweep(name: str, points: Sequence[P], prove: Prove[P]) -> Report:
    """Prove the points one after another; a few failures do not end the sweep."""
    failures: list[Failure] = []
    tried, started = 0, time.monotonic()
    for point in points:
        tried += 1
        with tempfile.TemporaryDirectory(prefix="penguin-") as folder:
            reason = await _failure(prove(point, Path(folder)))
        if reason is not None:
            failures.append(Failure(str(point), reason))
            if len(failures) == MOST_FAILURES:
                break
    return Report(name, tried, tuple(failures), time.monotonic() - started)


def sample(points: Sequence[P], count: int | None, seed: int) -> Sequence[P]:
    """So many of the points, in their order; None takes all."""
    if count is None or count >= len(points):
        return points
    chosen = random.Random(seed).sample(range(len(points)), count)
    return [points[place] for place in sorted(chosen)]


def command(name: str, points: Sequence[P], prove: Prove[P], *, usual: int = 200) -> None:
    """What `python -m tests.matrix.<name>` does: exit code 1 when a point failed."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.matrix.{name}")
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--points", type=int, default=usual, help=f"how many of the {len(points)} points ({usual})")
    amount.add_argument("--all", action="store_true", help="every point")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    given = parser.parse_args()
    chosen = sample(points, None if given.all else given.points, given.seed)
    report = asyncio.run(sweep(name, chosen, prove))
    print(report)
    raise SystemExit(1 if report.failures else 0)


async def _failure(proof: Awaitable[None]) -> str | None:
    before = asyncio.all_tasks()
    try:
        async with asyncio.timeout(POINT_LIMIT):
            await proof
        left = asyncio.all_tasks() - before
        assert not left, f"tasks are left: {left}"
    except Exception as error:  # noqa: BLE001 - whatever a point raises is its failure, and the next point is tried
        return _told(error)
    return None


def _told(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ROOT)]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-4:]))
    return f"{type(error).__name__}: {str(error)[:2000]} ({places})"
