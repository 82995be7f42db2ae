"""Timestamps: ISO 8601, UTC, milliseconds."""

from __future__ import annotations

import time


class Clock:
    """Time that never goes back: a system clock set back, or a resumed session, waits at the last timestamp."""

    def __init__(self, last: str = "") -> None:
        self._second = self._millisecond = -1
        self._prefix = ""
        self._last = last

    def now(self) -> str:
        """The current time, as `2026-12-01T09:00:00.123Z`."""
        millisecond = time.time_ns() // 1_000_000
        if millisecond != self._millisecond:
            self._millisecond = millisecond
            self._advance(*divmod(millisecond, 1000))
        return self._last

    def _advance(self, second: int, rest: int) -> None:
        if second != self._second:
            self._second = second
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        self._last = max(self._last, f"{self._prefix}{rest:03d}Z")
