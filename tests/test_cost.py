"""What sessions cost: exact rates, and sums that match at every level, over generated Traces."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from penguin_harness import omnimessage as om
from penguin_harness.contracts import ModelRef
from penguin_harness.cost import Cost, Mismatch, session_cost
from penguin_harness.errors import TraceError
from penguin_harness.llm.prices import NO_TOKENS, LongPrompt, Price, cost_of
from penguin_harness.omnimessage import OmniMessage, SessionMeta, TokenCounts, encode
from penguin_harness.verify import check_files

PRICE = Price(input=Decimal(3), cache_read=Decimal("0.30"), cache_write=Decimal("3.75"), output=Decimal(15))
FLAT = Price(input=Decimal("0.2"), output=Decimal("1.25"))
FLOOR = Price(input=Decimal("0.66"), cache_read=Decimal("0.022"), output=Decimal("1.98"), at_least=True)
LONG = Price(
    input=Decimal(2),
    output=Decimal(12),
    above=LongPrompt(tokens=200_000, input=Decimal(4), cache_read=Decimal("0.4"), output=Decimal(18)),
)
PRICES = {"priced": PRICE, "flat": FLAT, "floor": FLOOR, "long": LONG}
TOOL = om.ToolSchema("t", "A tool.", om.opaque(b'{"type":"object"}'))

tokens = st.integers(0, 400_000)
counted = st.builds(TokenCounts.of, cache_read=tokens, cache_write=tokens, output=tokens)
steps = st.one_of(counted, st.tuples(st.none() | counted))
"""A turn by what it took, or an attempt that failed, in a tuple."""


def price_of(ref: ModelRef) -> Price | None:
    return PRICES.get(ref.model_id)


@dataclass
class Plan:
    """A session to be written: its models, one for each context, and what each request takes."""

    session_id: str
    contexts: list[tuple[str, list[TokenCounts | tuple[TokenCounts | None]], TokenCounts]]
    """The model, the steps, and the compaction that ends all but the last."""
    children: list[Plan] = field(default_factory=lambda: list[Plan]())


@st.composite
def plans(draw: st.DrawFn, depth: int = 2, numbers: Iterator[int] | None = None) -> Plan:
    numbers = numbers or count(1)
    session_id = f"session-2026-12-01-09-00-00-{next(numbers):08x}"
    models = st.sampled_from([*PRICES, "nobody knows"])
    contexts = draw(st.lists(st.tuples(models, st.lists(steps, max_size=4), counted), min_size=1, max_size=3))
    below = draw(st.integers(0, 2)) if depth else 0
    return Plan(session_id, contexts, [draw(plans(depth - 1, numbers)) for _ in range(below)])


def written(plan: Plan, traces: Path) -> list[Path]:
    """Write the session and its children; the paths of its own files."""
    total, paths = NO_TOKENS, list[Path]()
    for number, (model, requests, compaction) in enumerate(plan.contexts, 1):
        usage = total if number > 1 else None
        meta = SessionMeta(plan.session_id, "p", model, 1000, "prompt", "/state", "/work", session_usage=usage)
        opening = om.user_text("go") if number == 1 else om.user_text("It was so.", sender="harness")
        head = (opening, om.tool_list_ready([TOOL])) if number == 1 else (om.tool_list_ready([TOOL]), opening)
        lines: list[OmniMessage] = [om.session_meta(meta), *head]
        for step in requests:
            lines += failed(*step) if isinstance(step, tuple) else turn(step, total + step)
            total += (step[0] or NO_TOKENS) if isinstance(step, tuple) else step
        if number == 1:
            lines += [om.subagent(child.session_id) for child in plan.children]
        if number < len(plan.contexts):
            total += compaction
            lines += [
                om.compaction_begin("manual", "summarize", context=1, turns=1),
                om.user_text("Sum it up.", sender="harness"),
                *turn(compaction, total),
                om.compaction_end("manual", "summarize", "completed"),
            ]
        paths.append(traces / plan.session_id[8:18] / f"{plan.session_id}_{number:03d}.jsonl")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        stamped = (replace(line, timestamp=f"2026-12-01T09:0{number}:{at:06.3f}Z") for at, line in enumerate(lines))
        paths[-1].write_bytes(b"".join(encode(line) + b"\n" for line in stamped))
    for child in plan.children:
        written(child, traces)
    return paths


def turn(request: TokenCounts, session: TokenCounts) -> list[OmniMessage]:
    return [om.request_begin(), om.assistant_text("So."), om.token_usage(session, request), om.request_end()]


def failed(usage: TokenCounts | None) -> list[OmniMessage]:
    end = om.request_end("retryable", error_code="network", error_message="cut", attempt=1, usage=usage)
    return [om.request_begin(), end]


def exact(model: str, counts: TokenCounts) -> Fraction:
    """The price list read once more, in other numbers."""
    price = PRICES[model]
    rates = price if price.above is None or counts.cache_read + counts.cache_write <= 200_000 else price.above
    read, write = (rates.input if rate is None else rate for rate in (rates.cache_read, rates.cache_write))
    shares = ((counts.cache_read, read), (counts.cache_write, write), (counts.output, rates.output))
    return sum((Fraction(number) * Fraction(rate) / 1_000_000 for number, rate in shares), Fraction(0))


def requests_of(plan: Plan) -> list[tuple[str, TokenCounts]]:
    found: list[tuple[str, TokenCounts]] = []
    for number, (model, requests, compaction) in enumerate(plan.contexts, 1):
        steps = [step[0] if isinstance(step, tuple) else step for step in requests]
        found += [(model, each) for each in (*steps, *([compaction] if number < len(plan.contexts) else [])) if each]
    return found


def below(plan: Plan) -> list[tuple[str, TokenCounts]]:
    return [*requests_of(plan), *(each for child in plan.children for each in below(child))]


def added(requests: list[tuple[str, TokenCounts]]) -> tuple[TokenCounts, Fraction, bool]:
    counts = sum((each for _, each in requests), NO_TOKENS)
    dollars = sum((exact(model, each) for model, each in requests if model in PRICES), Fraction(0))
    whole = all(model in {"priced", "flat", "long"} for model, each in requests if each != NO_TOKENS)
    return counts, dollars, whole


def shown(spent: Cost) -> tuple[TokenCounts, Fraction, bool]:
    return spent.counts, Fraction(spent.dollars or 0), spent.complete


@settings(max_examples=200, deadline=None)
@given(plans())
def test_the_sums_match_at_every_level(plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = written(plan, Path(folder) / "agents" / "one" / "traces")
        assert [finding for finding in check_files(paths, "strict") if finding.rule] == []
        found = session_cost(paths, price_of=price_of)
        alone = session_cost(paths, tree=False, price_of=price_of)
    assert (found.mismatches, found.missing, found.skipped, found.before) == ((), (), (), NO_TOKENS)
    assert shown(found.own) == added(requests_of(plan))
    assert shown(found.total) == added(below(plan))
    assert found.own == sum((context.total for context in found.contexts), Cost())
    assert found.total == sum((child.total for child in found.children), found.own)
    assert (alone.own, alone.total, alone.children) == (found.own, found.own, ())
    kinds = [request.kind for context in found.contexts for request in context.requests]
    assert kinds.count("compaction") == len(plan.contexts) - 1


@settings(max_examples=200, deadline=None)
@given(plans(depth=0), st.data())
def test_a_total_that_does_not_fit_is_told_once_and_at_its_place(plan: Plan, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = written(plan, Path(folder))
        stated = [
            (path, number)
            for path in paths
            for number, line in enumerate(path.read_bytes().splitlines())
            if b'"token_usage"' in line
        ]
        if not stated:
            return
        path, number = data.draw(st.sampled_from(stated))
        lines = path.read_bytes().splitlines(keepends=True)
        message = om.decode(lines[number])
        usage = message.payload
        assert isinstance(message, om.EventMessage)
        assert isinstance(usage, om.TokenUsage)
        wrong = replace(usage, session=usage.session + TokenCounts.of(output=7))
        lines[number] = encode(replace(message, payload=wrong)) + b"\n"
        path.write_bytes(b"".join(lines))
        found = session_cost(paths, price_of=price_of)
    first = found.mismatches[0]
    assert (first.path, first.stated, first.computed) == (str(path), wrong.session, usage.session)
    is_last = (path, number) == stated[-1] and path == paths[-1]
    assert len(found.mismatches) == (1 if is_last else 2)  # the next total does not know of it
    assert shown(found.own) == added(requests_of(plan))


def test_a_sum_with_an_unknown_part_is_at_least_the_known_part() -> None:
    some = TokenCounts.of(output=1_000_000)
    known, unknown, floor = (cost_of(price, some) for price in (FLAT, None, FLOOR))
    assert (unknown.dollars, unknown.complete) == (None, False)
    assert known + unknown == Cost(some + some, Decimal("1.25"), complete=False)
    assert (floor.dollars, floor.complete) == (Decimal("1.98"), False)
    assert cost_of(None, NO_TOKENS) + known == known


USAGE = TokenCounts.of(cache_write=10, output=2)
PARENT, CHILD = (f"session-2026-12-01-09-00-00-{number:08x}" for number in (1, 2))


@pytest.mark.parametrize("agent", ["one", "two"])
@pytest.mark.parametrize("child", [CHILD, CHILD.replace("12-01", "12-02")])
def test_a_child_is_found_with_any_agent_of_the_project_and_counts_once(tmp_path: Path, agent: str, child: str) -> None:
    written(Plan(child, [("flat", [USAGE], NO_TOKENS)]), tmp_path / "agents" / agent / "traces")
    [path] = written(Plan(PARENT, [("priced", [USAGE], NO_TOKENS)]), tmp_path / "agents" / "one" / "traces")
    named = [om.subagent(child), om.subagent(child), om.subagent(PARENT)]
    path.write_bytes(path.read_bytes() + b"".join(encode(message) + b"\n" for message in named))
    found = session_cost([path], price_of=price_of)
    assert [each.session_id for each in found.walk()] == [PARENT, child]
    assert (found.missing, found.total.counts, found.total.complete) == ((), USAGE + USAGE, True)


@pytest.mark.parametrize("child", [CHILD, "no session id"])
def test_a_child_without_a_trace_is_told_and_leaves_the_total_open(tmp_path: Path, child: str) -> None:
    [path] = written(Plan(PARENT, [("priced", [USAGE], NO_TOKENS)], [Plan(CHILD, [])]), tmp_path)
    path.write_bytes(path.read_bytes().replace(CHILD.encode(), child.encode()))
    found = session_cost([path], price_of=price_of)
    assert [each.session_id for each in found.missing] == [child]
    assert (found.own.complete, found.total.complete) == (True, False)


def test_a_later_file_alone_says_what_is_not_in_the_sum(tmp_path: Path) -> None:
    plan = Plan(PARENT, [("priced", [USAGE, USAGE], USAGE), ("flat", [(None,), USAGE], NO_TOKENS)])
    _, later = written(plan, tmp_path)
    found = session_cost([later], price_of=price_of)
    assert (found.before, found.own.counts, found.mismatches) == (USAGE + USAGE + USAGE, USAGE, ())
    assert [(context.model, context.uncounted) for context in found.contexts] == [(ModelRef("p", "flat"), 1)]


def test_a_later_file_that_does_not_go_on_from_the_one_before_is_told(tmp_path: Path) -> None:
    first, later = written(Plan(PARENT, [("flat", [USAGE], USAGE), ("flat", [USAGE], NO_TOKENS)]), tmp_path)
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(line for line in lines if b"request_end" in line or b"token_usage" not in line))
    found = session_cost([first, later], price_of=price_of)
    assert found.mismatches == (Mismatch(str(later), "session_meta", USAGE + USAGE, NO_TOKENS),)
    assert found.own.counts == USAGE


def test_what_cannot_be_read_is_told_and_the_rest_counts(tmp_path: Path) -> None:
    [path] = written(Plan(PARENT, [("flat", [USAGE], NO_TOKENS)]), tmp_path)
    path.write_bytes(b"{\n" + b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    found = session_cost([path], price_of=price_of)
    assert [skipped.line for skipped in found.skipped] == [1]
    assert [(context.model, context.price) for context in found.contexts] == [(None, None)]
    assert found.own == Cost(USAGE, None, complete=False)
    with pytest.raises(TraceError, match="nowhere"):
        session_cost([tmp_path / "nowhere.jsonl"])
