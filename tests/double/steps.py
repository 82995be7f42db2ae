"""The pieces of a turn that no protocol changes, and what the builders of every protocol share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from tests.double.script import (
    Beat,
    Bytes,
    Comment,
    Cut,
    CutHow,
    Delivery,
    Event,
    Expect,
    Gate,
    Line,
    Stall,
    Step,
    Turn,
)

MODEL = "test-model"
Piece: TypeAlias = Step | Sequence[Step]
Context: TypeAlias = Literal["extends", "new", "aside"]
Json: TypeAlias = dict[str, Any]


def bare(
    *pieces: Piece, delivery: Delivery | None = None, expect: Expect | None = None, context: Context = "extends"
) -> Turn:
    """Exactly these pieces, then the regular end of the body: nothing that makes an answer whole is added."""
    return Turn(tuple(flat(pieces)), None, delivery or Delivery(), expect or Expect(), context)


def event(content: Json, *, name: str = "") -> list[Step]:
    """Any object by itself: `{"type": "ping"}`, `{"choices": None}`, `{}`."""
    return [Event(content, bare=True, name=name)]


def line(data: str) -> list[Step]:
    """Any text as the data of one event: garbage, half an object, an escaped lone surrogate."""
    return [Line(data)]


def raw(data: bytes) -> list[Step]:
    """Bytes as they are, line ends included."""
    return [Bytes(data)]


def comment(content: str = "keep-alive") -> list[Step]:
    """A comment line."""
    return [Comment(content)]


def beat(every_ms: int, *, times: int | None = None, data: bytes = b": ping\n\n") -> list[Step]:
    """The same bytes at an interval; without `times` until the client goes."""
    return [Beat(data, every_ms, times)]


def gate(name: str = "gate") -> list[Step]:
    """Wait until the test releases this name."""
    return [Gate(name)]


def stall() -> list[Step]:
    """Say nothing more and keep the connection open."""
    return [Stall()]


def cut(how: CutHow = "close") -> list[Step]:
    """End here: politely (`end`), by closing or by resetting the connection."""
    return [Cut(how)]


def between(pieces: Iterable[Piece], *beats: Piece) -> list[Step]:
    """The pieces with all the beats behind each step of theirs."""
    return [part for step in flat(pieces) for part in (step, *flat(beats))]


def flat(pieces: Iterable[Piece]) -> list[Step]:
    """The steps of all pieces."""
    return [step for piece in pieces for step in (piece if isinstance(piece, Sequence) else (piece,))]


def split(content: str, parts: int) -> list[str]:
    """The text in so many pieces, fewer if it is shorter."""
    size = max(1, math.ceil(len(content) / parts))
    return [content[start : start + size] for start in range(0, len(content), size)] or [content]
