"""What is known of a provider's models: by the catalogue, by the configuration, by the endpoint's own list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from penguin_harness.cli.model import all_models
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.contracts import ModelRef
from penguin_harness.llm import ModelFacts
from penguin_harness.llm.catalog import facts, models
from penguin_harness.llm.listing import Served
from penguin_harness.llm.prices import Price, Rates
from penguin_harness.state.config import Default, ProjectConfig

HEAD = (
    *("", "model", "window", "limit", "images", "thinking"),
    *("input", "from cache", "into cache", "output", "checked", "source"),
)
UNKNOWN = "?"


class Entry(Struct, frozen=True):
    """One model."""

    provider: str
    model_id: str
    configured: bool
    is_default: bool
    served: bool | None
    """Whether the endpoint lists it; None when it was not asked."""
    listed: Served | None
    """What the endpoint says of it."""
    known: ModelFacts | None
    """What the catalogue says; None where it is silent."""


def entries(provider: str, config: ProjectConfig, served: Sequence[Served] | None = None) -> list[Entry]:
    """The models of the endpoint's list, else of the catalogue, and behind them what else is configured."""
    configured = {model.model_id for model in all_models(config) if model.provider == provider}
    listed = {one.model_id: one for one in served or ()}
    names = [*(models(provider) if served is None else listed), *sorted(configured)]
    return [
        Entry(
            provider,
            name,
            name in configured,
            config.default == Default(provider, name),
            None if served is None else name in listed,
            listed.get(name),
            facts(ModelRef(provider, name)),
        )
        for name in dict.fromkeys(names)
    ]


def rows(entry: Entry) -> Iterator[list[Line]]:
    """The table's row, and another one where long prompts cost more."""
    known, listed = entry.known, entry.listed
    window = (listed and listed.context_window) or (known and known.context_window)
    limit = (listed and listed.output_limit) or (known and known.output_limit)
    missing = entry.served is False
    yield [
        [Span("*" if entry.is_default else "+" if entry.configured else " ", "red" if missing else "bold green")],
        [Span(one_line(entry.model_id), "bold")],
        [Span(_number(window))],
        [Span(_number(limit))],
        [Span(_yes(known.vision if known else None))],
        [Span(_thinking(known))],
        *_price(known.price if known else None),
        [Span(known.checked.isoformat() if known else "", "dim")],
        [Span(known.source if known else "not in the catalogue", "dim")],
    ]
    if known and known.price and (above := known.price.above):
        words = f"above {above.tokens:,} tokens"
        yield [[], [], [], [], [], [Span(words, "dim")], *_rates(above, at_least=known.price.at_least)]


def _number(value: int | None) -> str:
    return UNKNOWN if not value else f"{value:,}"


def _yes(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def _thinking(known: ModelFacts | None) -> str:
    if known is None or known.thinking_kind is None:
        return UNKNOWN
    return ", ".join((known.thinking_kind, *known.thinking)) if known.thinking_kind != "none" else "no"


def _price(price: Price | None) -> list[Line]:
    return [[Span("price unknown", "dim")], [], [], []] if price is None else _rates(price, at_least=price.at_least)


def _rates(rates: Rates, *, at_least: bool) -> list[Line]:
    """Plain input, input read from a cache and written to one, output."""
    cached = rates.input if rates.cache_read is None else rates.cache_read
    written = rates.input if rates.cache_write is None else rates.cache_write
    least = "at least " if at_least else ""
    return [[Span(f"{least}${rate:,f}")] for rate in (rates.input, cached, written, rates.output)]
