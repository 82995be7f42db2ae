"""What is measured, over which protocols, and what it may cost."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

BASELINE, SKETCH, PENGUIN = "httpx_json", "aiohttp_msgspec", "penguin"
DRIVERS = (BASELINE, SKETCH, PENGUIN)


class Protocol(NamedTuple):
    """A wire protocol, under the name of its client type."""

    name: str
    title: str
    version: str
    """The end of a base URL."""


PROTOCOLS = (
    Protocol("openai_chat", "Chat Completions", "v1"),
    Protocol("openai_responses", "Responses", "v1"),
    Protocol("anthropic", "Messages", "v1"),
    Protocol("gemini", "Gemini", "v1beta"),
)


class Measure(NamedTuple):
    """A row for each protocol: the CPU time between a large and a small scenario, for each of the units between."""

    name: str
    title: str
    scenario: str
    small: str
    units: int
    budget: str


MEASURES = (
    Measure("burst", "a delta, burst of 20,000", "stream-20000", "stream-20", 19_980, "≤ 0.5 ×, ≤ 2 × sketch"),
    Measure("paced", "a delta, one every ms", "paced-1000", "stream-20", 980, "≤ 0.6 ×"),
    Measure("tools", "a tool turn, of 50", "tools-50", "tools-2", 48, "≤ 0.4 ×"),
)
ALONE = ("first", "growth", "import", "resume")
"""What is measured once, or for the first protocol before all."""


class Plan(NamedTuple):
    """What to run."""

    rounds: int
    measures: frozenset[str]
    protocols: tuple[Protocol, ...]

    @classmethod
    def of(cls, rounds: int, only: Collection[str]) -> Plan:
        """Of measures and of protocols what is named, all where nothing is. Raises ValueError for what is neither."""
        measures = frozenset([*(measure.name for measure in MEASURES), *ALONE])
        protocols = {protocol.name: protocol for protocol in PROTOCOLS}
        if unknown := [name for name in only if name not in measures and name not in protocols]:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join([*sorted(measures), *protocols])}")
        chosen = tuple(protocol for name, protocol in protocols.items() if name in only)
        return cls(rounds, measures.intersection(only) or measures, chosen or PROTOCOLS)
