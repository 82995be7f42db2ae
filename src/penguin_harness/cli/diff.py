"""Changes of files in colour."""

from __future__ import annotations

import difflib
import re

from penguin_harness.cli.terminal.neutral import neutral
from penguin_harness.cli.terminal.spans import Line, Span

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_STYLES = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}


def is_diff(text: str) -> bool:
    """Whether the text is a unified diff."""
    return text.startswith("--- ") and _HUNK.search(text) is not None


def diff_lines(text: str) -> list[Line]:
    """A unified diff in colour, without its two lines of file names."""
    rows = neutral(text).rstrip("\n").split("\n")
    body = rows[2:] if is_diff(text) else rows
    return [[Span(row, _STYLES.get(row[:1], ""))] for row in body]


def change_lines(before: str, after: str) -> list[Line]:
    """What changes between two texts, with two lines around it."""
    rows = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2)
    return diff_lines("\n".join([*rows][3:]))


def changed(text: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes."""
    rows = text.split("\n")[2:]
    return sum(row.startswith("+") for row in rows), sum(row.startswith("-") for row in rows)
