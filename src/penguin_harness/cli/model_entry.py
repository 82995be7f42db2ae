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

HEAD = ("", "model", "window", "limit", "images", "thinking")
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


def row(entry: Entry) -> list[Line]:
    """The columns of the table."""
    known, listed = entry.known, entry.listed
    window = (listed and listed.context_window) or (known and known.context_window)
    limit = (listed and listed.output_limit) or (known and known.output_limit)
    return [
        [Span("*" if entry.is_default else "+" if entry.configured else " ", "bold green")],
        [Span(one_line(entry.model_id), "bold")],
        [Span(_number(window))],
        [Span(_number(limit))],
        [Span(_yes(known.vision if known else None))],
        [Span(_thinking(known))],
    ]


def about(entry: Entry) -> Iterator[str]:
    """What stands below the row: prices, and who said so when."""
    if entry.known is None:
        yield "not in the catalogue, price unknown"
        return
    known, price = entry.known, entry.known.price
    yield f"{_rates(price) if price else 'price unknown'}; {known.checked}, {known.source}"
    if price is not None and price.above is not None:
        yield f"above {price.above.tokens:,} tokens: {_rates(price.above)}"


def _number(value: int | None) -> str:
    return UNKNOWN if not value else f"{value:,}"


def _yes(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def _thinking(known: ModelFacts | None) -> str:
    if known is None or known.thinking_kind is None:
        return UNKNOWN
    return ", ".join((known.thinking_kind, *known.thinking)) if known.thinking_kind != "none" else "no"


def _rates(rates: Rates) -> str:
    written = {"from cache": rates.cache_read, "into cache": rates.cache_write}
    named = {"input": rates.input, **written, "output": rates.output}
    least = "at least " if isinstance(rates, Price) and rates.at_least else ""
    return least + ", ".join(f"${rate:,f} {name}" for name, rate in named.items() if rate is not None)
