"""What changed in a text, shown in bounded time and space."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

SHOWN = 8_000
"""Characters of a diff."""
LONGEST_LINE = 500
_AROUND = 3
_COMPARABLE = 1_000_000
"""Old lines times new lines: difflib needs about that many steps, and for some texts many more."""
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def unified_diff(path: Path, before: str, after: str) -> str:
    """What changed, with three lines around; a long diff is cut, of a very large change only its place is told."""
    old, new = (text.replace("\r\n", "\n").split("\n") for text in (before, after))
    if old == new:
        return f"Changed only the line endings of {path}."
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    start, ends = max(0, first - _AROUND), (len(old) - last, len(new) - last)
    if (ends[0] - first) * (ends[1] - first) > _COMPARABLE:
        return (
            f"Changed {path}: {len(old)} lines before, {len(new)} now;"
            f" lines {first + 1}-{ends[0]} became lines {first + 1}-{ends[1]}."
        )
    old, new = old[start : ends[0] + _AROUND], new[start : ends[1] + _AROUND]
    return "\n".join(_shown(_moved(difflib.unified_diff(old, new, str(path), str(path), lineterm=""), start)))


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines are the same at the beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _moved(diff: Iterator[str], start: int) -> Iterator[str]:
    """With the line numbers of the whole text."""

    def number(hunk: re.Match[str]) -> str:
        return f"@@ -{int(hunk[1]) + start}{hunk[2] or ''} +{int(hunk[3]) + start}{hunk[4] or ''} @@"

    return (_HUNK.sub(number, line) if line.startswith("@@ ") else line for line in diff)


def _shown(diff: Iterator[str]) -> Iterator[str]:
    room, left_out = SHOWN, 0
    for line in diff:
        shown = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… [{len(line)} characters]"
        room -= len(shown) + 1
        if room < 0:
            left_out += 1
        else:
            yield shown
    if left_out:
        yield f"[{left_out} more lines of this diff]"
