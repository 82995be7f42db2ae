"""Run every benchmark and print its table:  python -m benchmarks [--rounds 5] [--only burst,anthropic] [--write]

Each round plays every scenario once with every driver, one process at a time, the server on one core and the driver on
another; the first round is thrown away. Ratios are taken within a round, so that a drifting machine meets all alike.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.measures import Plan
from benchmarks.runner import run
from benchmarks.table import render

DOCS = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the harness costs.")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds, behind one that is thrown away")
    parser.add_argument("--only", default="", help="comma-separated measures and protocols, as burst,tools,anthropic")
    parser.add_argument("--write", action="store_true", help=f"write the table to {DOCS.name} too")
    options = parser.parse_args()
    try:
        plan = Plan.of(options.rounds, only=[name for name in str(options.only).split(",") if name])
    except ValueError as error:
        parser.error(f"argument --only: {error}")
    table = render(run(plan))
    sys.stdout.write(table)
    if options.write:
        DOCS.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
