"""A small model of a terminal: what a person sees after the bytes that a screen wrote."""

from __future__ import annotations

import io
import re

from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.screen import Screen

_PIECE = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|\n|\r|[^\x1b\n\r]+")
WIDTH = 60


class Paper:
    """Knows the sequences that the screen uses, and fails on any other."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self._row = 0
        self._column = 0

    def write(self, text: str) -> None:
        """Take what was written."""
        position = 0
        for piece in _PIECE.finditer(text):
            assert piece.start() == position, f"unknown sequence at {text[position : position + 20]!r}"
            position = piece.end()
            self._take(piece)
        assert position == len(text)

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(row.rstrip() for row in self.rows)

    def _take(self, piece: re.Match[str]) -> None:
        match piece[0], piece[3]:
            case "\n", _:  # the terminal driver adds the carriage return
                self._row, self._column = self._row + 1, 0
                self.rows += [""] * (self._row + 1 - len(self.rows))
            case "\r", _:
                self._column = 0
            case _, "A":
                assert self._row >= int(piece[2])
                self._row -= int(piece[2])
            case _, "J":
                self.rows[self._row] = self.rows[self._row][: self._column]
                del self.rows[self._row + 1 :]
            case _, "m" | "h" | "l":
                pass
            case text, None:
                row = self.rows[self._row].ljust(self._column)
                self.rows[self._row] = row[: self._column] + text + row[self._column + len(text) :]
                self._column += len(text)
            case sequence, _:
                raise AssertionError(f"unknown sequence {sequence!r}")


class Live:
    """A renderer on a live terminal, with the paper to look at."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.renderer = Renderer(Screen(self.out, styled=True, live=True, width=WIDTH))

    @property
    def seen(self) -> str:
        """What a person sees now."""
        self.renderer.screen.flush()
        paper = Paper()
        paper.write(self.out.getvalue())
        return paper.text


class Plain:
    """A renderer that writes into a file."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.renderer = Renderer(Screen(self.out, styled=False, live=False, width=None))

    @property
    def seen(self) -> str:
        """What was written."""
        self.renderer.screen.flush()
        return self.out.getvalue()
