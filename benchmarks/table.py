"""The results as Markdown."""

from __future__ import annotations

from statistics import median

from benchmarks.runner import BASELINE, PENGUIN, SKETCH, Results, Row

HEAD = """# Benchmarks

What the harness costs, in CPU time of its process, beside two programs that do the same work by hand and store
nothing: a **baseline** of httpx, `aiter_lines` and `json.loads`, and a **sketch** of aiohttp and typed msgspec
decoding. The harness runs as its users run it: SDK, approvals, tools in threads, every record on disk. Ratios are
taken within a round; absolute times depend on the machine.

    pip install -e '.[dev]' && python -m benchmarks --write
"""


def render(results: Results) -> str:
    """The page for the docs."""
    lines = [
        HEAD,
        f"{results.where}, median (least–greatest) of {results.rounds} rounds.",
        "",
        "| CPU time of … | harness | baseline | sketch | harness ÷ baseline | harness ÷ sketch | budget |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        *map(line, results.rows),
        "",
    ]
    burst = next((row for row in results.rows if row.title.startswith("a delta, burst")), None)
    if burst is not None:
        budget = burst.median(BASELINE) / 2
        share = median(results.tail) / budget * 100
        lines += [
            f"The tail journal adds {median(results.tail):.2f} µs to a delta of a burst, a write behind every read: "
            f"{share:.0f} % of the budget of {budget:.1f} µs (≤ 15 %).",
            "",
        ]
    if results.growth:
        lines += [
            "| a late turn of a long session ÷ one of a 10-turn session | harness | baseline | sketch | budget |",
            "| --- | ---: | ---: | ---: | --- |",
            *(growth_line(turns, figures) for turns, figures in results.growth.items()),
            "",
        ]
    if results.resume:
        lines += [
            "| resume of a Trace of … lines | ÷ bare decoding of the file | budget |",
            "| ---: | ---: | --- |",
            *(resume_line(count, ratios) for count, ratios in results.resume.items()),
            "",
            f"Time a line of the longest ÷ of the shorter: {results.linear:.2f} (linear is 1).",
            "",
        ]
    return "\n".join(lines)


def line(row: Row) -> str:
    figures = [f"{row.median(driver):.1f} {row.unit}" for driver in (PENGUIN, BASELINE, SKETCH)]
    ratios = ["{:.2f} ({:.2f}–{:.2f})".format(*row.ratio(PENGUIN, base)) for base in (BASELINE, SKETCH)]
    return f"| {row.title} | {' | '.join([*figures, *ratios, row.budget])} |"


def growth_line(turns: int, figures: dict[str, list[float]]) -> str:
    shown = " | ".join(f"{median(figures[driver]):.2f}" for driver in (PENGUIN, BASELINE, SKETCH))
    return f"| {turns} turns | {shown} | ≤ 1.5 |"


def resume_line(count: int, ratios: list[float]) -> str:
    return f"| {count:,} | {median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) | ≤ 1.5 |"
