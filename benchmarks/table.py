"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks.measures import BASELINE, PENGUIN, SKETCH
from benchmarks.results import Results, Row

HEAD = """# Benchmarks

What the harness costs, in CPU time of its process, beside two programs that do the same work by hand and store
nothing: a **baseline** of httpx, `aiter_lines` and `json.loads`, and a **sketch** of aiohttp and typed msgspec
decoding, each written once for every wire protocol. The harness runs as its users run it: SDK, approvals, tools in
threads, every record on disk. Ratios are taken within a round; absolute times depend on the machine.

    pip install -e '.[dev]' && python -m benchmarks --write
"""


def render(results: Results) -> str:
    """The page for the docs."""
    sections = (rows(results), tail(results), imports(results), growth(results), resume(results))
    head = f"{HEAD}\n{results.where}, median (least–greatest) of {results.rounds} rounds.\n"
    return "\n".join([head, *("\n".join([*lines, ""]) for section in sections if (lines := [*section]))])


def rows(results: Results) -> Iterator[str]:
    if results.rows:
        yield "| CPU time of … | protocol | harness | baseline | sketch | ÷ baseline | ÷ sketch | budget |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
        yield from map(line, results.rows)


def line(row: Row) -> str:
    figures = [f"{row.median(driver):.1f} {row.unit}" for driver in (PENGUIN, BASELINE, SKETCH)]
    ratios = [spread(*row.ratio(PENGUIN, base)) for base in (BASELINE, SKETCH)]
    return f"| {row.title} | {row.protocol} | {' | '.join([*figures, *ratios, row.budget])} |"


def tail(results: Results) -> Iterator[str]:
    bursts = [row.median(BASELINE) / 2 for row in results.rows if row.title.startswith("a delta, burst")]
    if bursts:
        share = results.tail / min(bursts) * 100
        yield f"The tail journal adds {results.tail:.2f} µs to a delta of a burst, a write behind every read:"
        yield f"{share:.0f} % of the smallest budget, {min(bursts):.1f} µs (≤ 15 %)."


def imports(results: Results) -> Iterator[str]:
    if results.imports:
        seconds = [cost.seconds for cost in results.imports]
        adapters = sorted({name for cost in results.imports for name in cost.adapters})
        loaded = ", ".join(adapters) or "none"
        yield f"`import penguin_harness` takes {spread(median(seconds), min(seconds), max(seconds))} s of CPU time"
        yield f"(≤ 0.15 s). Adapters that it loads: {loaded}."


def growth(results: Results) -> Iterator[str]:
    if results.growth:
        yield "| a late turn ÷ one of a 10-turn session | protocol | harness | baseline | sketch | budget |"
        yield "| --- | --- | ---: | ---: | ---: | --- |"
        yield from map(growth_line, results.growth)


def growth_line(row: Row) -> str:
    shown = [f"{row.median(driver):.2f}" if driver in row.figures else "" for driver in (PENGUIN, BASELINE, SKETCH)]
    return f"| {row.title} | {row.protocol} | {' | '.join([*shown, row.budget])} |"


def resume(results: Results) -> Iterator[str]:
    if results.resume:
        yield "| resume of a Trace of … lines | ÷ bare decoding of the file | budget |"
        yield "| ---: | ---: | --- |"
        for count, ratios in results.resume.items():
            yield f"| {count:,} | {spread(median(ratios), min(ratios), max(ratios))} | ≤ 1.5 |"
        yield ""
        yield f"Time a line of the longest ÷ of the shorter: {results.linear:.2f} (linear is 1)."


def spread(middle: float, least: float, greatest: float) -> str:
    return f"{middle:.2f} ({least:.2f}–{greatest:.2f})"
