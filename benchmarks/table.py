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
    if results.growth[PENGUIN]:
        lines += [
            "| growth: a late turn of a 100-turn session ÷ of a 10-turn one | harness | baseline | sketch | budget |",
            "| --- | ---: | ---: | ---: | --- |",
            "| | " + " | ".join(f"{median(results.growth[d]):.2f}" for d in (PENGUIN, BASELINE, SKETCH)) + " | ≤ 1.5 |",
            "",
        ]
    if results.resume:
        ratio = f"{median(results.resume):.2f} ({min(results.resume):.2f}–{max(results.resume):.2f})"
        lines += [f"Resume of a 100,000-line Trace: {ratio} × bare decoding of the file (budget ≤ 1.5 ×).", ""]
    return "\n".join(lines)


def line(row: Row) -> str:
    figures = [f"{row.median(driver):.1f} {row.unit}" for driver in (PENGUIN, BASELINE, SKETCH)]
    ratios = ["{:.2f} ({:.2f}–{:.2f})".format(*row.ratio(PENGUIN, base)) for base in (BASELINE, SKETCH)]
    return f"| {row.title} | {' | '.join([*figures, *ratios, row.budget])} |"
