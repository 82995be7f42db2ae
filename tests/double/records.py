"""What the control endpoint is told and what it tells: commands, and the log of requests and refusals."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from tests.double.script import Script, Turn

Outcome: TypeAlias = Literal["open", "refused", "served", "cut", "gone"]


class Recorded(Struct):
    """One request as it arrived, and what became of its answer."""

    number: int
    model: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    """Seconds on a clock that only goes forward."""
    turn: int | None = None
    """Which turn of its script answers it."""
    outcome: Outcome = "open"
    """`gone`: the client closed the connection before the answer ended."""
    sent: int = 0
    """Bytes of the answer's body that were written."""


class Refused(Struct, frozen=True):
    """One refusal."""

    request: int
    model: str
    message: str
    param: str | None
    code: str | None
    status: int


class Load(Struct, frozen=True, tag="load"):
    """A new script for its model (and `where`), in place of the one before."""

    script: Script


class Extend(Struct, frozen=True, tag="extend"):
    """More turns behind those of a script that is loaded."""

    model: str
    turns: tuple[Turn, ...]
    where: str = ""


class Release(Struct, frozen=True, tag="release"):
    """Open a gate."""

    model: str
    gate: str


class Wait(Struct, frozen=True, tag="wait"):
    """Answer when so many requests have come, so many answers are over, and this gate is reached."""

    model: str
    requests: int = 0
    finished: int = 0
    gate: str | None = None
    timeout_ms: int = 10_000


class Reset(Struct, frozen=True, tag="reset"):
    """Forget every script and record, and end every open answer."""


class ReportQuery(Struct, frozen=True, tag="report"):
    """Ask for the report."""


Command: TypeAlias = Load | Extend | Release | Wait | Reset | ReportQuery


class Report(Struct, frozen=True):
    """Everything that happened since the last reset."""

    requests: list[Recorded]
    refusals: list[Refused]
    left: dict[str, int]
    """Turns not yet played, by model."""
    waiting: list[tuple[str, str]]
    """Gates at which an answer waits: model and name."""
    in_time: bool = True
    """False: a wait ran out."""
