"""The session's token totals: every request and every failed attempt counts (section 5)."""

from __future__ import annotations

from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.events import TokenCounts, TokenUsage


class Usage:
    """The session's totals so far; None until the sequence has told them."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._total: TokenCounts | None = None

    def begin(self) -> None:
        """The session begins here, so nothing was used before."""
        self._total = self._total or TokenCounts.of()

    def opened(self, said: TokenCounts | None) -> None:
        """A context opens and may say the totals."""
        if said is None:
            return
        if self._total is not None and said != self._total:
            self._findings.broken("2.8", f"session_usage says {_words(said)}, it was {_words(self._total)}")
        self._total = said

    def failed(self, usage: TokenCounts | None) -> None:
        """A failed attempt is known to have cost something."""
        if self._total is not None and usage is not None:
            self._total += usage

    def completed(self, usage: TokenUsage) -> None:
        """A request completed; from a difference on, the session's own figure counts."""
        if self._total is not None and usage.session != self._total + usage.request:
            expected = self._total + usage.request
            self._findings.broken("5.9", f"session says {_words(usage.session)}, it is {_words(expected)}")
        self._total = usage.session


def _words(counts: TokenCounts) -> str:
    return f"{counts.cache_read} + {counts.cache_write} + {counts.output} = {counts.total}"
