"""Timestamps: ISO 8601, UTC, milliseconds."""

from __future__ import annotations

import time


class Clock:
    """Time that never goes back: a system clock set back, or a resumed session, waits at the last timestamp."""

    def __init__(self, last: str = "") -> None:
        self._second = -1
        self._prefix = ""
        self._last = last

    def now(self) -> str:
        """The current time, as `2026-12-01T09:00:00.123Z`."""
        second, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._second = second
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        stamp = f"{self._prefix}{nanoseconds // 1_000_000:03d}Z"
        if stamp > self._last:
            self._last = stamp
        return self._last
