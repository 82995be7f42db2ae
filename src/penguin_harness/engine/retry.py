"""The ladder of a turn's attempts: how long to wait for the next one, or that there is none."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.contracts import Outcome
from penguin_harness.omnimessage import RequestEnd

FIRST_WAIT_MS = 2_000
LONGEST_WAIT_MS = 30_000
LONGEST_ASKED_MS = 60_000
"""The server's own wait wins over the ladder, up to this."""

WITHOUT_PROGRESS = 5
IN_ALL = 20


class Verdict(Struct, frozen=True):
    """What came of one attempt."""

    end: RequestEnd
    overflow: bool = False
    """The provider says that the request does not fit into the model's window."""


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
        return self._climb(outcome.retry_after_ms, progress=progress)

    def without_summary(self) -> bool:
        """A summary was asked for and none came: whether to ask again, at once, since nothing was overloaded."""
        return self._climb(None, progress=False) is not None

    def _climb(self, asked: int | None, *, progress: bool) -> int | None:
        self._without_progress = 1 if progress else self._without_progress + 1
        if self._without_progress > WITHOUT_PROGRESS or self.attempt > IN_ALL:
            return None
        self.attempt += 1
        if asked is not None:
            return min(max(asked, 0), LONGEST_ASKED_MS)
        return min(FIRST_WAIT_MS * 2 ** (self._without_progress - 1), LONGEST_WAIT_MS)
