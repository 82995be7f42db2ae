"""What a person types while a run is under way: words for the model, or the beginning of them."""

from __future__ import annotations

from penguin_harness.cli.terminal.keys import ALT_ENTER, Chunk
from penguin_harness.cli.terminal.neutral import neutral
from penguin_harness.cli.terminal.spans import Line, Span, cells
from penguin_harness.omnimessage import is_blank

_ERASE, _CLEAR, _WORD = "\x7f\b", "\x15", "\x17"


class Draft:
    """A line editor of the simplest kind. A pasted text keeps its line ends, and Alt-Enter makes one."""

    def __init__(self) -> None:
        self.text = ""
        self.touched = float("-inf")

    def take(self, chunk: Chunk, now: float) -> str | None:
        """One key, a few that came together, or a pasted text. Returns the line that Enter sends, if any."""
        self.touched = now
        if chunk == ALT_ENTER:
            self.text += "\n"
            return None
        typed = chunk.replace("\r\n", "\n").replace("\r", "\n")
        is_line = typed.find("\n") == len(typed) - 1
        for character in typed.removesuffix("\n") if is_line else typed:
            self._take_character(character)
        if not is_line:
            return None
        line, self.text = self.text, ""
        return None if is_blank(line) else line

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
        """What is being written, as much of its end as fits."""
        if not self.text:
            return []
        shown = neutral(self.text).replace("\n", "⏎")
        while cells(shown) > width - 4:
            shown = shown[1:]
        return [[Span("› ", "cyan"), Span(shown), Span("▏", "cyan")]]
