"""What a run and its session may cost: looked at between requests, where stopping loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeAlias

from penguin_harness.contracts import Budget
from penguin_harness.omnimessage import TokenCounts

PriceOf: TypeAlias = Callable[[TokenCounts], Decimal]
"""The US dollars that a request with these counts costs."""

STOPPED = "The {what} stopped at its budget: it has spent {spent} of {limit}. Raise it, and go on with an empty input."


class Purse:
    """One budget and what has been spent of it."""

    def __init__(self, what: str, budget: Budget, *, tokens: int = 0, dollars: Decimal = Decimal(0)) -> None:
        self.budget = budget
        self._what = what
        self._tokens = tokens
        self._dollars = dollars

    def pay(self, counts: TokenCounts, price: PriceOf | None) -> None:
        """So much was spent."""
        self._tokens += counts.total
        if price is not None:
            self._dollars += price(counts)

    def empty(self) -> str | None:
        """Why no further request may be made; None when one may."""
        budget = self.budget
        if budget.tokens is not None and self._tokens >= budget.tokens:
            return STOPPED.format(what=self._what, spent=f"{self._tokens:,}", limit=f"{budget.tokens:,} tokens")
        if budget.dollars is not None and self._dollars >= budget.dollars:
            return STOPPED.format(what=self._what, spent=f"${self._dollars:.4f}", limit=f"${budget.dollars}")
        return None


class Spending:
    """Pays out of all purses what the session's totals grow by."""

    def __init__(self, purses: Sequence[Purse] = (), price: PriceOf | None = None) -> None:
        self._purses = purses
        self._price = price
        self._seen: TokenCounts | None = None

    def stopped(self, totals: TokenCounts) -> str | None:
        """Why no further request may be made, given the session's totals now."""
        if not self._purses:
            return None
        before, self._seen = self._seen or totals, totals
        grown = TokenCounts.of(
            cache_read=totals.cache_read - before.cache_read,
            cache_write=totals.cache_write - before.cache_write,
            output=totals.output - before.output,
        )
        for purse in self._purses:
            purse.pay(grown, self._price)
        return next((reason for purse in self._purses if (reason := purse.empty())), None)
