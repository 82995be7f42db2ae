"""Texts on their way to the page: Markdown on a terminal, plain where styles are ours, verbatim in pipes and files."""

from __future__ import annotations

from typing import Protocol

from penguin_harness.cli.terminal.flow import Flow
from penguin_harness.cli.terminal.markdown import Markdown
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Line, Span


class Prose(Protocol):
    """A text on its way to the page."""

    def feed(self, text: str) -> None:
        """Take more of it, without control characters."""
        ...

    def close(self) -> None:
        """It is over."""
        ...


class Verbatim:
    """Writes what it is given, unwrapped."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def feed(self, text: str) -> None:
        """Write it."""
        first, *rest = text.split("\n")
        self._screen.put(Span(first))
        for row in rest:
            self._screen.newline()
            self._screen.put(Span(row))

    def close(self) -> None:
        """End the line."""
        self._screen.fresh()


class Plain:
    """Wrapped text in one style, without Markdown."""

    def __init__(self, screen: Screen, style: str, margin: Line = ()) -> None:
        self._flow = Flow(screen, margin=margin)
        self._style = style

    def feed(self, text: str) -> None:
        """Write it, its last word when that is whole."""
        self._flow.put(text, self._style)

    def close(self) -> None:
        """End the line."""
        self._flow.close()


def prose_for(screen: Screen) -> Prose:
    """Markdown on a terminal, the text itself elsewhere."""
    return Verbatim(screen) if screen.width is None else Markdown(screen)
