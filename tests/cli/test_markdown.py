"""Markdown is written word by word, and what stands on the page does not depend on the pieces."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.cli.terminal.markdown import Markdown
from penguin_harness.cli.terminal.neutral import neutral, neutral_output
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import cells

SAMPLE = """# Heading
Some **bold text**, `code`, *emph*, a_snake_case, 2 * 3 ** 4 and **kwargs.

## A [link](http://x.y/z), an ![image](a.png)! [no link] [x]( y)
- an item that is long enough to wrap over the edge of the page
  - nested `x` **b**
12) ordered with 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 and 👩‍💻
> quoted
- [x] done

```python
def f(x):
    return **x   # not bold

```
| a | b |
|---|---|
| **1** | long `x` |

---
***both*** __strong__ `` a`b `` \\*escaped\\* **unclosed
averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword
|no table
end*"""


def page(*pieces: str, width: int = 40, styled: bool = False) -> str:
    out = io.StringIO()
    screen = Screen(out, styled=styled, live=False, width=width)
    markdown = Markdown(screen)
    for piece in pieces:
        markdown.feed(piece)
    markdown.close()
    screen.flush()
    return out.getvalue()


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces: list[str] = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@given(st.lists(st.integers(1, 12), max_size=80))
def test_pieces_do_not_show(sizes: list[int]) -> None:
    assert page(*cut(SAMPLE, sizes), styled=True) == page(SAMPLE, styled=True)


@given(st.text(alphabet="a *_`[]()!|#->~\n1.\\漢", max_size=60), st.lists(st.integers(1, 5), max_size=30))
def test_pieces_do_not_show_in_any_text(text: str, sizes: list[int]) -> None:
    assert page(*cut(text, sizes), styled=True) == page(text, styled=True)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), max_size=200))
def test_rows_keep_to_the_width(text: str) -> None:
    assert all(cells(row) <= 40 for row in page(neutral(text)).split("\n"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold** and `code`", "bold and code\n"),
        ("def f(*args, **kwargs)", "def f(*args, **kwargs)\n"),
        ("2 * 3 * 4", "2 * 3 * 4\n"),
        ("a_snake_case_name", "a_snake_case_name\n"),
        ("[text](http://x)", "text (http://x)\n"),
        ("# Title", "Title\n"),
        ("- one\n- two", "• one\n• two\n"),
        ("a\n\n\n\nb", "a\n\nb\n"),
        ("```\n**raw**\n```", "    **raw**\n"),
        ("| a | b |\n|---|---|\n| 1 | 22 |", "a  b\n─────\n1  22\n"),
        ("| not | a table |", "| not | a table |\n"),
    ],
)
def test_marks_become_styles_and_everything_else_stays(text: str, shown: str) -> None:
    assert page(text) == shown


def test_long_items_hang_below_their_text() -> None:
    assert page("- one two three four five six seven eight", width=20) == (
        "• one two three four\n  five six seven\n  eight\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\x07b\x7f", "a␇b␡"),
        ("\x9b31m", "�31m"),
        ("abc\u202edcba", "abc�dcba"),
        ("a\r\nb\tc", "a\nb    c"),
        ("\udcb2", "�"),
    ],
)
def test_control_characters_are_pictures(text: str, shown: str) -> None:
    assert neutral(text) == shown


@given(st.text(max_size=50), st.integers(0, 50))
def test_neutral_text_is_the_same_in_pieces(text: str, at: int) -> None:
    assert neutral(text[:at]) + neutral(text[at:]) == neutral(text)


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("\x1b[1;32mok\x1b[0m\n", "ok\n"),
        ("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "textlink"),
        (" 10%\r 50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("half\x1b[3", "half␛[3"),
    ],
)
def test_output_looks_as_a_terminal_would_have_left_it(output: str, shown: str) -> None:
    assert neutral_output(output) == shown
