"""Permanent text that only grows, and below it a live area that is redrawn.

What is permanent is written once and belongs to the terminal's own scrollback. One frame is one write, so that nothing
flickers; without a terminal there is no live area, and with styles off no escape sequence at all.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO, TypeAlias

from penguin_harness.cli.terminal.spans import Line, Span, cells, crop, paint, switch, text_of, width_of

Live: TypeAlias = Callable[[int], Sequence[Line]]
"""The live area's lines, for a width."""

FRAME = 1 / 30
WIDEST = 120
_BEGIN, _END = "\x1b[?2026h\x1b[?25l", "\x1b[?2026l"
_SHOW_CURSOR = "\x1b[?25h"


class Screen:
    """One output stream as a page that is written from top to bottom."""

    def __init__(self, out: TextIO, *, styled: bool, live: bool, width: int | None) -> None:
        self.live: Live | None = None
        self._out = out
        self._styled = styled
        self._can_live = live
        self._width = width
        self._pending: list[str] = []
        self._row = self._shown_row = ""
        self._row_cells = 0
        self._style = ""
        self._blank = True
        self._drawn: list[int] = []
        self._last_frame = 0.0

    @property
    def is_live(self) -> bool:
        """Whether there is a terminal that can redraw."""
        return self._can_live

    @property
    def is_styled(self) -> bool:
        """Whether styles show."""
        return self._styled

    @property
    def width(self) -> int | None:
        """Columns for text; None when nothing bounds it."""
        if self._width is not None or not self._can_live:
            return self._width
        return min(max(shutil.get_terminal_size().columns - 1, 20), WIDEST)

    @property
    def column(self) -> int:
        """Columns taken on the open line."""
        return self._row_cells

    @property
    def at_gap(self) -> bool:
        """Whether what comes next stands below a blank line, or at the top."""
        return self._blank and not self._row

    def put(self, span: Span) -> None:
        """Add to the open line. The text holds no newline."""
        if not span.text:
            return
        self._switch(span.style)
        self._add(span.text)
        self._row_cells += cells(span.text)
        self._blank = False

    def newline(self) -> None:
        """End the open line; on a fresh one, leave it blank."""
        self._switch("")
        self._pending.append("\n")
        self._blank = not self._row
        self._row, self._row_cells = "", 0

    def gap(self) -> None:
        """Make sure that a blank line stands before what comes next, except at the very top."""
        if self._row:
            self.newline()
        if not self._blank:
            self.newline()
            self._blank = True

    def fresh(self) -> None:
        """Make sure that what comes next begins a line."""
        if self._row:
            self.newline()

    def lines(self, lines: Sequence[Line], *, whole: bool = False) -> None:
        """Lines, each cropped to the width, unless they are wanted whole: then the terminal wraps them."""
        self.fresh()
        for spans in lines:
            for span in spans if whole else crop(spans, self.width):
                self.put(span)
            self.newline()

    def flush(self, *, force: bool = True) -> None:
        """Write what is new and redraw the live area; unforced, at most once a frame."""
        now = time.monotonic()
        if not force and now - self._last_frame < FRAME:
            return
        self._last_frame = now
        self._switch("")
        new = "".join(self._pending)
        self._pending.clear()
        if not self._can_live:
            self._write(new)
            return
        lines = self._live_lines()
        if new or lines or self._drawn:
            body = self._erase() + new
            joint = "\n" if lines and self._row else ""
            area = "\n".join(map(paint if self._styled else text_of, lines))
            self._write(f"{_BEGIN}{body}{joint}{area}{'' if lines else _SHOW_CURSOR}{_END}")
        self._shown_row = self._row
        self._drawn = [width_of(spans) for spans in lines]

    def close(self) -> None:
        """Write what is left, with the live area gone and the cursor at the start of a line."""
        self.live = None
        self.fresh()
        self.flush()

    def _live_lines(self) -> list[Line]:
        if self.live is None or self.width is None:
            return []
        width = self.width
        room = max(shutil.get_terminal_size().lines - 2, 1)
        return [crop(spans, width) for spans in self.live(width)][-room:]

    def _erase(self) -> str:
        """Back to the end of the open line, with nothing below it."""
        if not self._drawn:
            return ""
        columns = max(shutil.get_terminal_size().columns, 1)
        rows = sum(max(1, -(-size // columns)) for size in self._drawn)
        up = rows - 1 + (1 if self._shown_row else 0)
        return (f"\x1b[{up}A" if up else "") + "\r\x1b[J" + self._shown_row

    def _switch(self, style: str) -> None:
        if self._styled and style != self._style:
            self._add(switch(self._style, style))
            self._style = style

    def _add(self, text: str) -> None:
        self._pending.append(text)
        self._row += text

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
        self._out.flush()


def screen_for(out: TextIO, environ: Mapping[str, str] = os.environ) -> Screen:
    """The screen for a stream: plain in a pipe, honouring NO_COLOR, FORCE_COLOR and TERM."""
    dumb = environ.get("TERM") == "dumb"
    terminal = out.isatty()
    styled = (terminal and not dumb) or bool(environ.get("FORCE_COLOR"))
    live = terminal and not dumb
    width = shutil.get_terminal_size().columns - 1 if terminal and dumb else None
    return Screen(out, styled=styled and not environ.get("NO_COLOR"), live=live, width=width)
