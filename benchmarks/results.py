"""Everything that the page shows."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from benchmarks.imports import ImportCost


class Row(NamedTuple):
    """What came of one measure, for each driver that took part: the figure of each round."""

    title: str
    protocol: str
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
    """The rows, and what is measured apart from them."""

    where: str
    rounds: int
    rows: list[Row]
    growth: list[Row]
    """A late turn of a long session over one of a 10-turn session."""
    imports: list[ImportCost]
    resume: dict[int, list[float]]
    """By lines of the Trace: reading and folding over bare decoding."""
    linear: float
    """Seconds a line of the longest Trace over those of the next shorter one."""
    tail: float
    """Microseconds that the tail journal adds to a delta."""
