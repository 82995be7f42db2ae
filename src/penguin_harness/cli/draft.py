"""What a person types while a run is under way: the next message, or the beginning of it."""

from __future__ import annotations

from collections import deque

from penguin_harness.cli.terminal.keys import Chunk
from penguin_harness.cli.terminal.neutral import neutral, one_line
from penguin_harness.cli.terminal.spans import Line, Span, cells

_ERASE, _CLEAR, _WORD = "\x7f\b", "\x15", "\x17"


class Draft:
    """A line editor of the simplest kind. Return queues the line; a pasted text keeps its line ends."""

    def __init__(self) -> None:
        self.text = ""
        self.queued: deque[str] = deque()
        self.touched = float("-inf")

    def take(self, chunk: Chunk, now: float) -> None:
        """One key, a few that came together, or a pasted text."""
        self.touched = now
        typed = chunk.replace("\r\n", "\n").replace("\r", "\n")
        is_line = typed.find("\n") == len(typed) - 1
        for character in typed.removesuffix("\n") if is_line else typed:
            self._take_character(character)
        if is_line:
            if self.text.strip():
                self.queued.append(self.text)
            self.text = ""

    def _take_character(self, character: str) -> None:
        if character in _ERASE:
            self.text = self.text[:-1]
        elif character == _CLEAR:
            self.text = ""
        elif character == _WORD:
            head, space, _ = self.text.rstrip().rpartition(" ")
            self.text = head + space
        elif character == "\n" or character.isprintable():
            self.text += character

    def lines(self, width: int) -> list[Line]:
        """What waits, and what is being written."""
        waiting: list[Line] = [[Span("  next: ", "dim"), Span(one_line(text), "dim")] for text in self.queued]
        if not self.text:
            return waiting
        shown = neutral(self.text).replace("\n", "⏎")
        while cells(shown) > width - 4:
            shown = shown[1:]
        return [*waiting, [Span("› ", "cyan"), Span(shown), Span("▏", "cyan")]]
