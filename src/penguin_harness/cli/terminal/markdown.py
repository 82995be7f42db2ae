"""Markdown as it streams, appended to the page word by word: what stands there is final.

The structure of a line is known from its first characters; only a table waits until all its rows are there.
"""

from __future__ import annotations

import re

from penguin_harness.cli.terminal.flow import Flow
from penguin_harness.cli.terminal.inline import Inline
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Line, Span, cells
from penguin_harness.cli.terminal.table import table_lines

_FENCE = re.compile(r"( {0,12})(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6}) +")
_ITEM = re.compile(r"( {0,24})([-*+]|\d{1,3}[.)]) +(?:(\[[ xX]\]) +)?")
_QUOTE = re.compile(r" {0,3}((?:> ?)+)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *")
_UNDECIDED = re.compile(
    r" {0,24}(?:#{1,6} *|[-*+] *(?:\[[ xX]?\]? *)?|\d{1,3}[.)]? *(?:\[[ xX]?\]? *)?|(?:> ?)+|([-*_])(?: *\1)* *)?"
)
_HELD = re.compile(r" {0,12}(?:[`~]{1,3}$|`{3}|~{3}|\|)")


class Markdown:
    """Renders one text. Feed it in any pieces; the page is the same."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._flow = Flow(screen)
        self._inline = Inline()
        self._held = ""
        self._style = ""
        self._in_line = False
        self._fence: str | None = None
        self._fence_indent = 0
        self._table: list[str] = []

    def feed(self, text: str) -> None:
        """Take more of the text, which holds no control characters but newlines."""
        for piece in re.findall(r"[^\n]+|\n", text):
            if piece == "\n":
                self._end_line()
            elif self._in_line:
                self._put(piece)
            else:
                self._held += piece
                self._decide()

    def close(self) -> None:
        """The text is over: write what is held back and end the line."""
        if self._in_line or self._held:
            self._end_line()
        self._end_table()
        self._flow.close()

    def _decide(self) -> None:
        """Begin the line once its kind is certain."""
        held = self._held
        if self._fence is not None or _HELD.match(held) or _UNDECIDED.fullmatch(held):
            return
        self._begin(held)

    def _begin(self, held: str) -> None:
        self._end_table()
        self._held = ""
        self._in_line = True
        self._style = ""
        if heading := _HEADING.match(held):
            self._style = "bold" if len(heading[1]) > 2 else "bold magenta"
            held = held[heading.end() :]
        elif item := _ITEM.match(held):
            self._flow.begin(*_item_marks(item))
            held = held[item.end() :]
        elif quote := _QUOTE.match(held):
            bar = [Span("│ " * quote[1].count(">"), "dim")]
            self._flow.begin(bar, bar)
            self._style = "dim"
            held = held[quote.end() :]
        else:
            indent = [Span(" " * min(len(held) - len(held.lstrip(" ")), 12))]
            self._flow.begin(indent, indent)
            held = held.lstrip(" ")
        self._put(held)

    def _put(self, text: str) -> None:
        for span in self._inline.feed(text, self._style):
            self._flow.put(*span)

    def _end_line(self) -> None:
        held, self._held = self._held, ""
        if self._in_line:
            self._in_line = False
            for span in self._inline.end(self._style):
                self._flow.put(*span)
            self._flow.newline()
        elif self._fence is not None:
            self._code_line(held)
        elif fence := _FENCE.fullmatch(held):
            self._end_table()
            self._fence, self._fence_indent = fence[2], len(fence[1])
        elif held.lstrip().startswith("|"):
            self._table.append(held)
        else:
            self._short_line(held)

    def _short_line(self, held: str) -> None:
        """A line that ended before its kind was certain."""
        self._end_table()
        if not held.strip():
            self._flow.newline()
        elif _RULE.fullmatch(held):
            self._flow.verbatim([Span("─" * min((self._screen.width or 40), 40), "dim")])
        else:
            self._begin(held)
            self._end_line()

    def _code_line(self, code: str) -> None:
        assert self._fence is not None
        closing = code.strip()
        if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            self._fence = None
            return
        indent = len(code) - len(code.lstrip(" "))
        code = code[min(indent, self._fence_indent) :]
        self._flow.verbatim([Span("    "), Span(code, "cyan")] if code else [])

    def _end_table(self) -> None:
        rows, self._table = self._table, []
        for spans in table_lines(rows, self._screen.width):
            self._flow.verbatim(spans)


def _item_marks(item: re.Match[str]) -> tuple[Line, Line]:
    indent, bullet, box = item[1], item[2], item[3]
    mark = "•" if bullet in "-*+" else bullet
    tick = {None: "", "[ ]": "☐ "}.get(box, "☑ ")
    first = f"{indent}{mark} {tick}"
    return [Span(indent), Span(f"{mark} ", "cyan"), Span(tick)], [Span(" " * cells(first))]
