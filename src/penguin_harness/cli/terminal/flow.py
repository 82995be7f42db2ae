"""Prose on a growing page: wrapped at words, indented, never rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import get_character_cell_size

from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Line, Span, cells, width_of

_PIECE = re.compile(r"\n| +|[^ \n]+")


class Flow:
    """Takes text in any pieces; a word is written when it is whole, so the pieces do not show."""

    def __init__(self, screen: Screen, *, margin: Line = ()) -> None:
        self._screen = screen
        self._margin = margin
        self._first: Line = ()
        self._rest: Line = ()
        self._word: list[Span] = []
        self._spaces = 0
        self._style = ""
        self._blank_lines = 0
        self._wrote = False
        self._begun = False

    def begin(self, first: Line = (), rest: Line = ()) -> None:
        """The marks of the next line: before its first row, and before the rows that it wraps into."""
        self._first, self._rest = first, rest
        if first and not self._begun:
            self._start_line()

    def put(self, text: str, style: str = "") -> None:
        """Add text in one style."""
        for piece in _PIECE.findall(text):
            if piece == "\n":
                self.newline()
            elif piece[0] == " ":
                self._end_word()
                self._spaces += len(piece)
            else:
                for part in _breakable(piece):
                    self._add(part, style)

    def newline(self) -> None:
        """End the line; blank lines wait for what follows them, two in a row count as one."""
        self._end_word()
        self._spaces = 0
        if self._begun:
            self._begun = False
            self._screen.newline()
        else:
            self._blank_lines += 1
        self._first = self._rest = ()

    def close(self) -> None:
        """Write what is held back and end the line."""
        self._end_word()
        self._screen.fresh()
        self._begun = False
        self._blank_lines = 0

    def verbatim(self, spans: Line) -> None:
        """A whole line as it is, wrapped at the edge."""
        self._start_line()
        for span in spans:
            self._write_broken(span)
        self.newline()

    def _add(self, part: str, style: str) -> None:
        if _is_wide(part[0]):
            self._end_word()
            self._word.append(Span(part, style))
            self._end_word()
        else:
            self._word.append(Span(part, style))

    def _end_word(self) -> None:
        word, self._word = self._word, []
        if not word:
            return
        spaces, self._spaces = self._spaces, 0
        self._start_line()
        width = self._screen.width
        if width is not None and self._has_words and self._screen.column + spaces + width_of(word) > width:
            self._wrap()
            spaces = 0
        if spaces:
            self._screen.put(Span(" " * spaces, self._style if self._style == word[0].style else ""))
        for span in word:
            self._write_broken(span)
        self._style = word[-1].style

    @property
    def _has_words(self) -> bool:
        """Whether the open row holds more than its marks."""
        return self._screen.column > width_of(self._margin) + max(width_of(self._rest), width_of(self._first))

    def _start_line(self) -> None:
        if self._begun:
            return
        self._begun = True
        if self._blank_lines and self._wrote:
            self._screen.newline()
        self._blank_lines = 0
        self._wrote = True
        self._put_all((*self._margin, *self._first))

    def _wrap(self) -> None:
        self._screen.newline()
        self._put_all((*self._margin, *self._rest))

    def _put_all(self, spans: Line) -> None:
        for span in spans:
            self._screen.put(span)

    def _write_broken(self, span: Span) -> None:
        """A word longer than a row goes on in the next one."""
        width = self._screen.width
        text = span.text
        while width is not None and self._screen.column + cells(text) > width:
            head = _head(text, max(width - self._screen.column, 0))
            if head:
                self._screen.put(Span(head, span.style))
                text = text[len(head) :]
            elif not self._has_words:
                break
            if not text:
                return
            self._wrap()
        self._screen.put(Span(text, span.style))


def put_line(screen: Screen, spans: Line, *, margin: int = 2) -> None:
    """A line by itself, wrapped at words; the rows behind its first one are indented."""
    flow = Flow(screen)
    flow.begin((), [Span(" " * margin)])
    for span in spans:
        flow.put(*span)
    flow.close()


def _is_wide(character: str) -> bool:
    return not character.isascii() and get_character_cell_size(character) == 2


def _breakable(piece: str) -> Iterator[str]:
    """The piece, cut at both sides of each wide character, where lines may break."""
    if piece.isascii():
        yield piece
        return
    start = 0
    for index, character in enumerate(piece):
        if index > start and (_is_wide(character) or _is_wide(piece[start])) and get_character_cell_size(character):
            yield piece[start:index]
            start = index
    yield piece[start:]


def _head(text: str, room: int) -> str:
    """As much of the text as fits in so many columns."""
    used = 0
    for index, character in enumerate(text):
        used += cells(character)
        if used > room:
            return text[:index]
    return text
