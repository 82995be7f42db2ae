"""The catalog: every entry makes sense and has its source, names mean one model only, and costs are exact."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penguin_harness import llm
from penguin_harness.contracts import ModelRef
from penguin_harness.llm.catalog import ModelFacts, Preset, facts, key_variables, models, presets
from penguin_harness.llm.prices import LongPrompt, Price, Rates, cost
from penguin_harness.omnimessage import TokenCounts

ENTRIES = [(ModelRef(name, model_id), known) for name in presets() for model_id, known in models(name).items()]
WORDS = {"effort", "adaptive", "level", "switch"}

each_entry = pytest.mark.parametrize(
    ("ref", "known"), ENTRIES, ids=[f"{ref.provider} {ref.model_id}" for ref, _ in ENTRIES]
)


def test_each_file_of_models_belongs_to_a_provider() -> None:
    files = {path.stem for path in (Path(llm.__file__).parent / "models").glob("*.toml")}
    assert files == {ref.provider for ref, _ in ENTRIES}


@each_entry
def test_an_entry_says_where_it_is_from_and_its_numbers_fit(ref: ModelRef, known: ModelFacts) -> None:
    assert known.source.startswith("https://")
    assert known.checked <= date.today()
    window = known.context_window or presets()[ref.provider].context_window
    assert presets()[ref.provider].window(ref.model_id) == window
    assert known.output_limit is None or 1000 < known.output_limit <= window
    assert facts(ref) is known


@each_entry
def test_prices_have_the_usual_order(ref: ModelRef, known: ModelFacts) -> None:
    price = known.price
    if price is None:
        return
    assert ordered(price)
    if (above := price.above) is not None:
        assert ordered(above)
        assert 0 < above.tokens < presets()[ref.provider].window(ref.model_id)
        assert all(dear > cheap for dear, cheap in zip(rates_of(above), rates_of(price), strict=True))


def rates_of(rates: Rates) -> list[Decimal]:
    given = (rates.cache_read, rates.input, rates.cache_write, rates.output)
    return [rate for rate in given if rate is not None]


def ordered(rates: Rates) -> bool:
    """Reading from the cache is cheaper than input, which is cheaper than writing, which is cheaper than output."""
    return rates_of(rates)[0] > 0 and rates_of(rates) == sorted(rates_of(rates))


@each_entry
def test_thinking_is_said_as_its_kind_wants_it(ref: ModelRef, known: ModelFacts) -> None:
    match known.thinking_kind:
        case "budget":
            budgets = [known.thinking[level] for level in ("low", "medium", "high", "max")]
            assert all(isinstance(budget, int) for budget in budgets)
            assert known.output_limit is not None
            assert budgets == sorted({*budgets})
            assert 0 < int(budgets[0]) < int(budgets[-1]) < known.output_limit
        case None | "none":
            assert known.thinking == {}
        case _:
            assert known.thinking_kind in WORDS
            assert all(isinstance(word, str) and word for word in known.thinking.values())
            assert known.thinking == {} or {"low", "medium", "high", "max"} <= known.thinking.keys()


@pytest.mark.parametrize(
    ("provider", "snapshot", "model_id"),
    [
        ("openai", "gpt-5.1-2025-11-13", "gpt-5.1"),
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("gemini", "gemini-2.5-pro-latest", "gemini-2.5-pro"),
    ],
)
def test_a_snapshot_is_known_as_its_model(provider: str, snapshot: str, model_id: str) -> None:
    found = facts(ModelRef(provider, snapshot))
    assert found is not None
    assert found == models(provider)[model_id]
    assert presets()[provider].window(snapshot) == found.context_window


def test_a_snapshot_with_an_entry_of_its_own_is_known_by_that() -> None:
    first, usual = (facts(ModelRef("openai", name)) for name in ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"))
    assert first is not None
    assert usual is not None
    assert first.price != usual.price


@pytest.mark.parametrize(
    ("provider", "model_id"),
    [
        ("openai", "gpt-5.1-preview"),
        ("openai", "gpt-5.1-2025"),
        ("openai", "gpt-5.1-2025-11"),
        ("openai", "gpt-5.1-2025-11-13-eu"),
        ("openai", "gpt-5.1-latest\n"),
        ("openai", "gpt-latest-5.1"),
        ("openai", "GPT-5.1"),
        ("openai", "openai/gpt-5.1"),
        ("openrouter", "gpt-5.1"),
        ("openrouter", "anthropic/claude-haiku-4.5-20251001"),
        ("custom", "gpt-5.1"),
        ("nobody", "gpt-5.1"),
        ("../models/openai", "gpt-5.1"),
    ],
)
def test_no_other_name_is_guessed(provider: str, model_id: str) -> None:
    assert facts(ModelRef(provider, model_id)) is None


def test_the_window_of_what_nobody_described_is_the_providers() -> None:
    assert presets()["openai"].window("gpt-99") == presets()["openai"].context_window
    assert Preset("openai_chat", 1234).window("gpt-5.1") == 1234


def test_quirks_are_those_of_the_vendors() -> None:
    assert [name for name, preset in presets().items() if preset.reasoning == "required"] == ["deepseek", "moonshot"]
    assert presets()["openai"].max_tokens_field == "max_completion_tokens"
    assert all(preset.key_variables for preset in presets().values())
    assert key_variables() >= {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (ModelFacts, {"prise": {"input": 1.0}}),
        (ModelFacts, {"price": {"input": "1", "output": "2", "cached": "3"}}),
        (ModelFacts, {"price": {"input": "1", "output": "2", "above": {"tokens": 1, "input": "2", "outputs": "3"}}}),
        (ModelFacts, {"thinking": {"extreme": "max"}}),
        (Preset, {"reasoning": "sometimes"}),
    ],
)
def test_a_word_that_nobody_knows_is_refused(kind: type[Any], change: dict[str, Any]) -> None:
    sound = {"checked": "2026-12-01", "source": "x", "client_type": "openai_chat", "context_window": 1}
    fields = {name: sound[name] for name in sound if name in kind.__struct_fields__}
    msgspec.convert(fields, kind)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields | change, kind)


def test_nothing_is_parsed_before_somebody_asks_and_then_only_one_provider() -> None:
    code = (
        "import sys, penguin_harness.llm.catalog as c; assert 'tomllib' not in sys.modules; "
        "c.presets()['openai'].window('gpt-5.1'); print(c.models.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


PRICE = Price(input=Decimal(3), cache_read=Decimal("0.30"), cache_write=Decimal("3.75"), output=Decimal(15))
FLAT = Price(input=Decimal("0.2"), output=Decimal("1.25"))
LONG = Price(
    input=Decimal(2),
    output=Decimal(12),
    above=LongPrompt(tokens=200_000, input=Decimal(4), cache_read=Decimal("0.4"), output=Decimal(18)),
)


@pytest.mark.parametrize(
    ("price", "counts", "dollars"),
    [
        (PRICE, TokenCounts.of(cache_read=1_000_000), "0.30"),
        (PRICE, TokenCounts.of(cache_write=1_000_000), "3.75"),
        (PRICE, TokenCounts.of(cache_read=1, cache_write=1, output=1), "0.00001905"),
        (FLAT, TokenCounts.of(cache_read=500_000, cache_write=500_000), "0.2"),
        (LONG, TokenCounts.of(cache_read=150_000, cache_write=50_000, output=1000), "0.412"),
        (LONG, TokenCounts.of(cache_read=150_000, cache_write=50_001, output=1000), "0.278004"),
    ],
)
def test_costs_worked_out_by_hand(price: Price, counts: TokenCounts, dollars: str) -> None:
    assert cost(price, counts) == Decimal(dollars)
