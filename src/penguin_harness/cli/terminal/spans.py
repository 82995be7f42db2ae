"""Styled text as values: a line is a sequence of spans, measured in terminal cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size

_SGR = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "strike": "9",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Span(NamedTuple):
    """A piece of text in one style: words of the palette, as `bold red`."""

    text: str
    style: str = ""


Line: TypeAlias = Sequence[Span]


RESET = "\x1b[0m"


def switch(before: str, after: str) -> str:
    """The escape sequences that lead from one style to another."""
    if before == after:
        return ""
    codes = ";".join(_SGR[word] for word in after.split())
    return (RESET if before else "") + (f"\x1b[{codes}m" if codes else "")


def paint(spans: Line) -> str:
    """The line with its escape sequences."""
    style, pieces = "", list[str]()
    for span in spans:
        if span.text:
            pieces += (switch(style, span.style), span.text)
            style = span.style
    return "".join((*pieces, switch(style, "")))


def cells(text: str) -> int:
    """Columns that the text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(spans: Iterable[Span]) -> int:
    """Columns that the line takes."""
    return sum(cells(span.text) for span in spans)


def text_of(spans: Iterable[Span]) -> str:
    """The line without its styles."""
    return "".join(span.text for span in spans)


def crop(spans: Line, width: int | None) -> Line:
    """The line in at most so many columns; what is cut leaves an ellipsis."""
    if width is None or width_of(spans) <= width:
        return spans
    kept: list[Span] = []
    left = max(width - 1, 0)
    for span in spans:
        size = cells(span.text)
        if size > left:
            kept.append(Span(set_cell_size(span.text, left).rstrip(), span.style))
            break
        kept.append(span)
        left -= size
    return [*kept, Span("…", "dim")] if width > 0 else []


def wrap(spans: Line, width: int) -> list[Line]:
    """The line in rows of at most so many columns, nothing left out."""
    rows: list[list[Span]] = [[]]
    used = 0
    for span in spans:
        row = ""
        for character in span.text:
            size = cells(character)
            if used + size > width and used:
                rows[-1].append(Span(row, span.style))
                rows.append([])
                row, used = "", 0
            row += character
            used += size
        rows[-1].append(Span(row, span.style))
    return list[Line](rows)
