"""Runs the suite and prints what it shows: each scenario by each protocol, and the field cases that tests hold."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.providers.dialects import DIALECTS

TESTS = Path(__file__).parents[1]
CASES = TESTS.parents[1] / "shared" / "cases" / "field-cases.md"
NAMES = [dialect.client_type for dialect in DIALECTS]
MARKS = {"passed": "✓", "failed": "✗", "skipped": "-"}
_CASE = re.compile(r"(?<![a-z0-9])b(\d{3})(?!\d)", re.IGNORECASE)


class Collected:
    """What became of each scenario in each protocol."""

    def __init__(self) -> None:
        self.outcomes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for each phase of each test."""
        if report.when != "call" and report.outcome == "passed":
            return
        scenario, _, parameters = report.nodeid.partition("[")
        named = next((name for name in NAMES if parameters.startswith(name)), "all")
        self.outcomes[scenario.rpartition("::")[2]][named].append(report.outcome)


def cell(outcomes: list[str]) -> str:
    """One field of the matrix: how many cases, and the worst that came of them."""
    if not outcomes:
        return "·"
    worst = next(kind for kind in ("failed", "skipped", "passed") if kind in outcomes)
    mark = MARKS["passed" if worst == "skipped" and "passed" in outcomes else worst]
    return f"{mark} {len(outcomes)}" if len(outcomes) > 1 else mark


def print_matrix(collected: Collected) -> None:
    width = max(map(len, collected.outcomes), default=0) - len("test_")
    sys.stdout.write(f"\n{'':{width}}  {'  '.join(f'{name:16}' for name in NAMES)}\n")
    for scenario, by_protocol in collected.outcomes.items():
        row = [cell(by_protocol.get(name, by_protocol.get("all", []))) for name in NAMES]
        sys.stdout.write(f"{scenario.removeprefix('test_'):{width}}  {'  '.join(f'{one:16}' for one in row)}\n")


def held_cases() -> set[str]:
    """The ids of field cases that tests name."""
    return {f"B{number}" for path in TESTS.rglob("test_*.py") for number in _CASE.findall(path.read_text("utf-8"))}


def print_cases() -> None:
    held = held_cases()
    sys.stdout.write(f"\n{len(held)} field cases are held by tests: {', '.join(sorted(held))}\n")
    if not CASES.exists():
        return
    known = dict(re.findall(r"### (B\d{3}) .*?- theme: (\S+)", CASES.read_text("utf-8"), re.DOTALL))
    themes: dict[str, list[str]] = defaultdict(list)
    for case, theme in known.items():
        themes[theme].append(case)
    for theme, cases in themes.items():
        missing = [case for case in cases if case not in held]
        rest = f"; not yet: {', '.join(missing)}" if missing else ""
        sys.stdout.write(f"  {theme:16} {len(cases) - len(missing)} of {len(cases)}{rest}\n")


def main() -> int:
    collected = Collected()
    code = pytest.main(["-q", "-n0", "-p", "no:cacheprovider", str(Path(__file__).parent)], plugins=[collected])
    print_matrix(collected)
    print_cases()
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
