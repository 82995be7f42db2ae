"""Tables with their columns in line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penguin_harness.cli.terminal.inline import inline
from penguin_harness.cli.terminal.spans import Line, Span, crop, width_of

_CELL = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"\s*:?-+:?\s*")
_BETWEEN = 2
_NARROWEST = 6


def table_lines(rows: Sequence[str], width: int | None) -> list[Line]:
    """The rows of a Markdown table in line, the head bold; as they are when they are no table, or too wide."""
    cut = [_CELL.split(row.strip().removeprefix("|").removesuffix("|")) for row in rows]
    if len(cut) < 2 or not all(map(_DELIMITER.fullmatch, cut[1])):
        return [[Span(row)] for row in rows]
    head, *body = (cut[0], *cut[2:])
    lines = aligned([_cells(head, "bold"), *(_cells(row) for row in body)], rule=True)
    if width is not None and max(map(width_of, lines)) > width:
        return [[Span(row)] for row in rows]
    return lines


def _cells(row: Sequence[str], style: str = "") -> list[Line]:
    return [inline(cell.strip().replace("\\|", "|"), style) for cell in row]


def aligned(rows: Sequence[Sequence[Line]], width: int | None = None, *, rule: bool = False) -> list[Line]:
    """Rows of cells as lines, columns too wide for the page cropped; with a rule below the first."""
    if not rows:
        return []
    columns = max(map(len, rows))
    sizes = [max((width_of(row[column]) for row in rows if column < len(row)), default=0) for column in range(columns)]
    if width is not None:
        _fit(sizes, width - _BETWEEN * (columns - 1))
    lines = [_row(row, sizes) for row in rows]
    if rule:
        lines.insert(1, [Span("─" * (sum(sizes) + _BETWEEN * (columns - 1)), "dim")])
    return lines


def _fit(sizes: list[int], room: int) -> None:
    while sum(sizes) > room and max(sizes) > _NARROWEST:
        widest = sizes.index(max(sizes))
        sizes[widest] -= 1


def _row(row: Sequence[Line], sizes: Sequence[int]) -> Line:
    spans: list[Span] = []
    for number, cell in enumerate(row):
        shown = crop(cell, sizes[number])
        spans += shown
        if number < len(row) - 1:
            spans.append(Span(" " * (sizes[number] - width_of(shown) + _BETWEEN)))
    return spans
