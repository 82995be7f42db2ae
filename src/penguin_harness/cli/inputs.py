"""What goes to the model without being said by it: the person's words, and those that are said for them."""

from __future__ import annotations

from penguin_harness.cli.cards import shortened
from penguin_harness.cli.terminal.neutral import neutral
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import Text, content_of

_HEAD, _END = 6, 2


def input_lines(text: Text) -> list[Line]:
    """The lines of a text on the user's side. What opens a context is shortened: it was on the page before."""
    summary = content_of("context_summary", text.text)
    if summary is not None:
        rows = shortened([[Span(row, "dim")] for row in _rows(summary)], _HEAD, _END)
        return [[Span("◇ the context begins with:", "dim")], *([Span("  │ ", "dim"), *row] for row in rows)]
    if text.sender in {"harness", "server"}:
        return [[Span(f"ℹ {row}", "dim")] for row in _rows(text.text)]
    steering = content_of("user_steering", text.text)
    mark = "› " if steering is None else "↪ "
    first, *more = _rows(steering or text.text)
    style = "dim" if text.carried else "bold"
    return [[Span(mark, "bold cyan"), Span(first, style)], *([Span("  "), Span(row, style)] for row in more)]


def is_spoken(text: Text) -> bool:
    """Whether the person speaks, in whatever place."""
    return text.sender not in {"harness", "server"}


def _rows(text: str) -> list[str]:
    return neutral(text).strip().split("\n")
