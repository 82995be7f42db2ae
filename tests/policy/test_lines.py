"""A table of shell lines, each with the factory rule that forbids it, or with none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from msgspec import Struct

from penguin_harness.policy import UNPARSED, Judgement, RuleBook
from penguin_harness.policy.factory import FACTORY

ENVIRONMENT = {"HOME": "/home/me", "TMPDIR": "/tmp", "PATH": "/usr/bin:/bin"}
WORKSPACE = "/home/me/code/project"


class Row(Struct, frozen=True):
    theme: str
    line: str
    rule: str


def rows() -> list[Row]:
    tables = tomllib.loads((Path(__file__).parent / "lines.toml").read_text(encoding="utf-8"))
    return [Row(theme, row["line"], row["rule"]) for theme, found in tables.items() for row in found]


ROWS = rows()
FORBIDDEN = [row for row in ROWS if row.rule and row.rule != UNPARSED]
HARMLESS = [row for row in ROWS if not row.rule]


def judge(line: str, book: RuleBook | None = None) -> Judgement:
    return (book or RuleBook()).judge(line, environment=ENVIRONMENT, workspace=WORKSPACE)


def rule_of(judgement: Judgement) -> str:
    """The rule that forbids a line, or nothing."""
    if judgement.decision is None:
        return ""
    return UNPARSED if judgement.hit is None or judgement.hit.rule is None else judgement.hit.rule.name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.theme}: {row.line}")
def test_a_line_is_forbidden_by_its_rule_or_left_to_the_person(row: Row) -> None:
    judgement = judge(row.line)
    assert rule_of(judgement) == row.rule
    if row.rule and row.rule != UNPARSED:
        assert judgement.reason is not None
        assert f"(rule {row.rule})" in judgement.reason


def test_the_table_is_large_and_shows_every_rule() -> None:
    assert len(ROWS) >= 100
    assert len({row.line for row in ROWS}) == len(ROWS)
    assert {rule.name for rule in FACTORY} | {UNPARSED, ""} == {row.rule for row in ROWS}
