"""`penguin trace cost`: what a session and its children took, in tokens and dollars."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from cyclopts import Parameter

from penguin_harness.cli.console import say
from penguin_harness.cli.opening import trace_files
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span, width_of
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.contracts import ModelRef
from penguin_harness.cost import ContextCost, Mismatch, RequestKind, SessionCost, session_cost, total
from penguin_harness.llm.catalog import facts
from penguin_harness.llm.prices import NO_TOKENS, Cost
from penguin_harness.omnimessage import TokenCounts
from penguin_harness.verify import session_and_number

_COLUMNS = ("session", "model", "requests", "cached", "not cached", "output", "cost")
_NUMBERS = (3, 4, 5, 6)
_KINDS: dict[RequestKind, str] = {"turn": "turn", "compaction": "compaction", "failed": "failed attempt"}
_SHORT = 8
_SMALLEST = Decimal("0.0001")

Tree: TypeAlias = Annotated[bool, Parameter(help="Count the sessions of subagents too; they are, by default.")]


def trace_cost(trace: str, *, tree: Tree = True, as_json: Json = False) -> None:
    """Say what a Trace file, or the whole session that has this in its id, has cost.

    Prices are the public ones; where none is known the tokens count all the same, and a sum is the least it can be.
    """
    found = session_cost(trace_files(trace), tree=tree)
    if as_json:
        report = msgspec.to_builtins(found, enc_hook=str)
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(report)).decode()}\n")
        return
    screen = screen_for(sys.stdout)
    head: list[Line] = [[Span(name, "dim")] for name in _COLUMNS]
    screen.lines(aligned(_to_the_right([head, *table(found)]), screen.width))
    if said := [*notes(found)]:
        screen.gap()
        screen.lines(said, whole=True)
    screen.close()
    for skipped in (skipped for session in found.walk() for skipped in session.skipped):
        say(f"skipped {skipped}")


def money(cost: Cost) -> str:
    """Dollars for people, or that nobody knows them."""
    if cost.dollars is None and cost.counts != NO_TOKENS:
        return "price unknown"
    dollars = cost.dollars or Decimal(0)
    text = f"{dollars:,.4f}" if not 0 < dollars < _SMALLEST else f"{dollars.normalize():f}"
    return f"{'' if cost.complete else 'at least '}${text}"


def table(found: SessionCost) -> Iterator[list[Line]]:
    """The rows: each context by kinds of requests, each session, everything."""
    sessions = [*found.walk()]
    for session in sessions:
        yield from _session(session)
    if len(sessions) > 1 or found.missing:
        yield _row("all", _counted(len(sessions), "session"), "", found.total, "bold")


def notes(found: SessionCost) -> Iterator[Line]:
    """What the numbers do not say: what is wrong with them, what is not in them, where the prices are from."""
    models: dict[ModelRef, None] = {}
    for session in found.walk():
        yield from (_mismatch(each) for each in session.mismatches)
        for child in session.missing:
            words = f"✗ the child {one_line(child.session_id)} is not counted: {one_line(child.reason)}"
            yield [Span(words, "yellow")]
        if session.before != NO_TOKENS:
            yield [Span(f"ℹ the files before are not counted: {session.before.total:,} tokens", "cyan")]
        yield from _uncertain(session.contexts)
        models |= {context.model: None for context in session.contexts if context.model and context.price}
    yield from (_price(ref) for ref in models)


def _session(session: SessionCost) -> Iterator[list[Line]]:
    rows = [row for context in session.contexts for row in _context(session, context)]
    yield from rows
    if len(rows) > 1:
        yield _row(session.session_id[-_SHORT:], "total", "", session.own, "bold")


def _context(session: SessionCost, context: ContextCost) -> Iterator[list[Line]]:
    number = session_and_number(Path(context.path))[1]
    name = f"{session.session_id[-_SHORT:]} #{number}"
    model = f"{context.model.provider} / {context.model.model_id}" if context.model else "unknown"
    for kind, word in _KINDS.items():
        group = [request.cost for request in context.requests if request.kind == kind]
        if group:
            yield _row(name, model, _counted(len(group), word), total(group))
            name = model = ""
    if not context.requests:
        yield _row(name, model, "none", Cost())


def _row(name: str, model: str, requests: str, cost: Cost, style: str = "") -> list[Line]:
    counts = cost.counts
    numbers = [f"{count:,}" for count in (counts.cache_read, counts.cache_write, counts.output)]
    texts = (name, model, requests, *numbers, money(cost))
    styles = (style or "bold", style, style, "dim", "dim", "dim", style or ("" if cost.complete else "yellow"))
    return [[Span(one_line(text), each)] for text, each in zip(texts, styles, strict=True)]


def _to_the_right(rows: Sequence[list[Line]]) -> list[list[Line]]:
    """The columns of numbers end where their widest cell does."""
    widest = {column: max(width_of(row[column]) for row in rows) for column in _NUMBERS}
    return [
        [
            [Span(" " * (widest[column] - width_of(cell))), *cell] if column in widest else cell
            for column, cell in enumerate(row)
        ]
        for row in rows
    ]


def _mismatch(mismatch: Mismatch) -> Line:
    file = one_line(mismatch.path).rpartition("/")[2]
    words = f" states {_tokens(mismatch.stated)}; the requests add up to {_tokens(mismatch.computed)}"
    return [Span("✗ ", "red"), Span(f"{file}, {mismatch.where}", "dim"), Span(words, "red")]


def _uncertain(contexts: Sequence[ContextCost]) -> Iterator[Line]:
    estimated = sum(request.estimated for context in contexts for request in context.requests)
    if estimated:
        yield [Span(f"ℹ the tokens of {_counted(estimated, 'request')} are estimated", "cyan")]
    if uncounted := sum(context.uncounted for context in contexts):
        yield [Span(f"ℹ nobody said what {_counted(uncounted, 'more failed attempt')} cost", "cyan")]


def _price(ref: ModelRef) -> Line:
    known = facts(ref)
    assert known is not None
    assert known.price is not None, "only a described model has a price"
    more = "; more at some hours" if known.price.at_least else ""
    model = f"{one_line(ref.provider)} / {one_line(ref.model_id)}"
    return [Span(f"{model}: prices of {known.checked}, {known.source}{more}", "dim")]


def _tokens(counts: TokenCounts) -> str:
    return f"{counts.cache_read:,} + {counts.cache_write:,} + {counts.output:,} = {counts.total:,} tokens"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
