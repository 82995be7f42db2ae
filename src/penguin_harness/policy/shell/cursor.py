"""A place in a text that is read from left to right."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from penguin_harness.policy.shell.syntax import Unreadable

DEEPEST = 40
LONGEST = 200_000
TOO_DEEP = "it is nested too deeply"
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")


class Cursor:
    """The text, how far it is read, and how deep that is."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if len(text) > LONGEST:
            raise Unreadable("it is too long")
        self.text = text
        self.at: int = 0
        self.depth = depth
        if depth > DEEPEST:
            raise Unreadable(TOO_DEEP)

    def fail(self, what: str) -> NoReturn:
        """It cannot be read from here."""
        raise Unreadable(f"{what} at character {self.at + 1}")

    @contextmanager
    def nesting(self) -> Generator[None, None, None]:
        """One level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(TOO_DEEP)
        yield
        self.depth -= 1

    def starts(self, *texts: str) -> bool:
        """Whether one of the texts stands here."""
        return self.text.startswith(texts, self.at)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def skip_blanks(self) -> None:
        """Go over spaces, joined lines, and a comment."""
        if found := _BLANK.match(self.text, self.at):
            self.at = found.end()
        if self.starts("#") and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()`"):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
