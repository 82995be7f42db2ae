"""One answer of the model, before any protocol; and what a protocol adds to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

ASKED = 10
"""Tokens of a prompt."""


class Turn(NamedTuple):
    """Words of four characters each, one delta a word, and perhaps a call `add(a, b)` behind them."""

    model: str
    number: int
    length: int
    calls: bool

    @property
    def words(self) -> Iterator[str]:
        return (f"ab{chr(97 + number % 26)} " for number in range(self.length))

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def call_id(self) -> str:
        return f"call_{self.number:024}"

    @property
    def arguments(self) -> dict[str, int]:
        return {"a": self.number, "b": 1}

    @property
    def pieces(self) -> tuple[str, str]:
        """The arguments as JSON, in two deltas."""
        text = json.dumps(self.arguments)
        return text[: len(text) // 2], text[len(text) // 2 :]


class WireReply(NamedTuple):
    """A wire protocol, seen from the provider."""

    path: bytes
    """How its requests' paths go on behind the version."""
    output: re.Pattern[bytes]
    """Matches once for each output in a request: as many turns have been played."""
    events: Callable[[Turn], Iterator[bytes]]


def event(fields: dict[str, Any], *, name: str = "", newline: str = "\n") -> bytes:
    """Server-sent, compact as the vendors write it."""
    head = f"event: {name}{newline}" if name else ""
    return f"{head}data: {json.dumps(fields, separators=(',', ':'))}{newline}{newline}".encode()
