"""The line at the bottom while something runs: what goes on, for how long, at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable

from penguin_harness.cli.cards import seconds
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span, cells, crop
from penguin_harness.omnimessage import (
    Abort,
    CompactionBegin,
    CompactionEnd,
    OmniMessage,
    RequestBegin,
    RequestEnd,
    TokenCounts,
    TokenUsage,
)

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TURN = 0.1


class Status:
    """Follows the messages of a run."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.is_running = False
        self.hint = ""
        self.has_keys = False
        """Whether single keys are read, and not only Ctrl-C."""
        self.was_aborted = False
        self.turns = 0
        self.usage: TokenCounts | None = None
        """What the run has cost so far."""
        self.end: RequestEnd | None = None
        """How the last request ended."""
        self._clock = clock
        self._since = 0.0
        self._retry_at: float | None = None
        self._attempt = 1
        self._compacting = False

    @property
    def spinner(self) -> str:
        """Its picture now."""
        return _SPINNER[int(self._clock() / _TURN) % len(_SPINNER)]

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._since

    @property
    def is_waiting(self) -> bool:
        """Whether the next attempt is waited for."""
        return self._retry_at is not None and self._retry_at > self._clock()

    def hurry(self) -> None:
        """The wait is over."""
        self._retry_at = None

    def begin(self, hint: str) -> None:
        """A run begins."""
        self.is_running, self.was_aborted, self.hint, self._since = True, False, hint, self._clock()
        self.turns, self.usage, self.end, self._retry_at = 0, None, None, None

    def see(self, message: OmniMessage) -> None:
        """Take note of what concerns the run as a whole."""
        if message.origin:
            return
        match message.payload:
            case RequestBegin():
                self._retry_at = None
            case RequestEnd() as end:
                self.end = end
                self.turns += end.status == "completed"
                if end.retry_in_ms is not None:
                    self._retry_at = self._clock() + end.retry_in_ms / 1000
                    self._attempt = (end.attempt or 1) + 1
            case TokenUsage(request=counts):
                self.usage = counts if self.usage is None else self.usage + counts
            case CompactionBegin():
                self._compacting = True
            case CompactionEnd():
                self._compacting = False
            case Abort():
                self.was_aborted, self._retry_at = True, None
            case _:
                pass

    def lines(self, speaking: str | None, calls: int, width: int) -> list[Line]:
        """What goes on. Who reads the keys says themselves what they do during a wait."""
        if self.is_waiting and self.end is not None:
            countdown = self._countdown(self.end, width)
            return [countdown] if self.has_keys else [countdown, [Span("  Ctrl-C gives up", "dim")]]
        return [self._line(speaking, calls)]

    def _countdown(self, end: RequestEnd, width: int) -> Line:
        wait = f"; attempt {self._attempt} in {math.ceil((self._retry_at or 0.0) - self._clock())} s"
        words = f": {one_line(end.error_message)}" if end.error_message else ""
        reason = [Span(f"{one_line(end.error_code or 'network')}{words}", "dim")]
        return [Span(f"{self.spinner} ", "cyan"), *crop(reason, width - 2 - cells(wait)), Span(wait, "yellow")]

    def _line(self, speaking: str | None, calls: int) -> Line:
        parts = [self._doing(speaking, calls), seconds(self.elapsed)]
        if self.usage is not None:
            parts.append(f"{tokens(self.usage.total)} tokens")
        return [Span(f"{self.spinner} ", "cyan"), Span(" · ".join((*parts, self.hint)), "dim")]

    def summary(self) -> Line:
        """What the run took, when it is over."""
        parts = [f"{self.turns} turn{'' if self.turns == 1 else 's'}"] if self.turns else []
        if self.usage is not None:
            cached = f" ({tokens(self.usage.cache_read)} cached)" if self.usage.cache_read else ""
            parts.append(f"{tokens(self.usage.total)} tokens{cached}")
        return [Span(" · ".join((*parts, seconds(self.elapsed))), "dim")]

    def _doing(self, speaking: str | None, calls: int) -> str:
        if self._compacting:
            return "summarizing the context"
        if speaking is not None:
            return "thinking" if speaking == "thinking" else "answering"
        return f"{calls} tool call{'s' if calls > 1 else ''}" if calls else "waiting for the model"


def tokens(count: int) -> str:
    """A number of tokens for people."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"
