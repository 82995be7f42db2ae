"""What tokens cost: rates in US dollars per million, and the exact cost of a request.

Of a request three numbers are known: input read from the cache, all other input, output. The other input is counted as
`cache_write` whether the provider wrote it to its cache or not. So the rate `cache_write` is what a provider takes for
input that it does not find in its cache: where writing costs extra and all of it is written, the price of a write.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from penguin_harness.omnimessage import TokenCounts

NO_TOKENS = TokenCounts(0, 0, 0, 0)
_PER_MILLION = -6


class Rates(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """US dollars per million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    """Of input served from the cache; without it, as `input`."""
    cache_write: Decimal | None = None
    """Of all other input; without it, as `input`."""


class LongPrompt(Rates, frozen=True):
    """The rates for the whole of a request whose input is larger than `tokens`."""

    tokens: int


class Price(Rates, frozen=True):
    """What a model costs."""

    above: LongPrompt | None = None
    at_least: bool = False
    """The provider takes more at some hours: a cost is the least that it can have been."""

    def rates(self, input_tokens: int) -> Rates:
        """The rates of a request with so much input, cached or not."""
        return self.above if self.above is not None and input_tokens > self.above.tokens else self


def cost(price: Price, counts: TokenCounts) -> Decimal:
    """What one request costs in US dollars, exactly."""
    rates = price.rates(counts.cache_read + counts.cache_write)
    read = rates.input if rates.cache_read is None else rates.cache_read
    write = rates.input if rates.cache_write is None else rates.cache_write
    return (counts.cache_read * read + counts.cache_write * write + counts.output * rates.output).scaleb(_PER_MILLION)


class Cost(Struct, frozen=True):
    """Tokens, and what is known of their price."""

    counts: TokenCounts = NO_TOKENS
    dollars: Decimal | None = None
    """Of the parts whose price is known; None when it is of none."""
    complete: bool = True
    """Whether that is all; otherwise it is at least that much."""

    def __add__(self, other: Cost) -> Cost:
        known = [part.dollars for part in (self, other) if part.dollars is not None]
        dollars = sum(known, Decimal(0)) if known else None
        return Cost(self.counts + other.counts, dollars, self.complete and other.complete)


def cost_of(price: Price | None, counts: TokenCounts) -> Cost:
    """The cost of one request, whether a price is known or not. No tokens cost nothing."""
    if counts == NO_TOKENS:
        return Cost()
    if price is None:
        return Cost(counts, None, complete=False)
    return Cost(counts, cost(price, counts), complete=not price.at_least)
