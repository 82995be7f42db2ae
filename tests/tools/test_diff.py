"""A diff is right wherever the change is, and small whatever the change is."""

from __future__ import annotations

import re
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.tools.diff import LONGEST_LINE, SHOWN, unified_diff

PATH = Path("/w/a.txt")
texts = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "d\r"]), max_size=30).map("\n".join)


def applied(before: str, diff: str) -> str:
    """The text after the diff, as `patch` would make it."""
    old = before.replace("\r\n", "\n").split("\n")
    new: list[str] = []
    position = 0
    for line in diff.split("\n")[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            new += old[position:start]
            position = start
            assert len(new) == int(hunk[3]) - 1
        elif line[:1] != "+":
            assert old[position] == line[1:]
            new += [line[1:]] if line[:1] == " " else []
            position += 1
        else:
            new.append(line[1:])
    return "\n".join(new + old[position:])


@given(texts, texts)
def test_a_diff_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    diff = unified_diff(PATH, before, after)
    if before == after:
        assert diff == f"Changed only the line endings of {PATH}."
    else:
        assert applied(before, diff) == after


def test_a_small_change_of_a_large_file_is_shown_with_its_place() -> None:
    lines = [f"line {n}" for n in range(200_000)]
    before = "\n".join(lines)
    lines[150_000] = "changed"
    diff = unified_diff(PATH, before, "\n".join(lines))
    assert diff.split("\n")[2:] == [
        "@@ -149998,7 +149998,7 @@",
        *(f" line {n}" for n in range(149_997, 150_000)),
        "-line 150000",
        "+changed",
        *(f" line {n}" for n in range(150_001, 150_004)),
    ]


def test_a_change_of_everything_is_told_in_words_and_at_once() -> None:
    before, after = ("\n".join(f"{word} {n % 90}" for n in range(20_000)) for word in ("old", "new"))
    began = time.monotonic()
    assert unified_diff(PATH, f"a\n{before}", f"a\n{after}\nb") == (
        f"Changed {PATH}: 20001 lines before, 20002 now; lines 2-20001 became lines 2-20002."
    )
    assert time.monotonic() - began < 2


def test_a_long_diff_and_a_long_line_are_cut() -> None:
    diff = unified_diff(PATH, "x" * 100_000, "y" * 100_000)
    assert f"+{'y' * (LONGEST_LINE - 1)}… [100001 characters]" in diff
    diff = unified_diff(PATH, "", "\n".join(f"{n:04}" for n in range(3_000)))
    assert len(diff) < SHOWN + 100
    left = re.search(r"\[(\d+) more lines of this diff]$", diff)
    assert left
    assert diff.count("\n+") + int(left[1]) == 3_001
