"""The ladder of a turn's attempts: how long to wait for the next one, or that there is none."""

from __future__ import annotations

from penguin_harness.contracts import Outcome

FIRST_WAIT_MS = 2_000
LONGEST_WAIT_MS = 30_000
LONGEST_ASKED_MS = 60_000
"""The server's own wait wins over the ladder, up to this."""

WITHOUT_PROGRESS = 5
IN_ALL = 20


class Ladder:
    """Counts the attempts at one request. Progress begins the ladder anew, and nothing climbs it for ever."""

    def __init__(self) -> None:
        self.attempt = 1
        """The attempt under way, counted from 1."""
        self._without_progress = 0

    def failed(self, outcome: Outcome, *, progress: bool) -> int | None:
        """The attempt failed: milliseconds until the next one, or None when the turn is given up."""
        if outcome.status != "retryable":
            return None
        self._without_progress = 1 if progress else self._without_progress + 1
        if self._without_progress > WITHOUT_PROGRESS or self.attempt > IN_ALL:
            return None
        self.attempt += 1
        if outcome.retry_after_ms is not None:
            return min(max(outcome.retry_after_ms, 0), LONGEST_ASKED_MS)
        return min(FIRST_WAIT_MS * 2 ** (self._without_progress - 1), LONGEST_WAIT_MS)
