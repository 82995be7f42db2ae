"""The output of a command that no call has shown yet."""

from __future__ import annotations

from collections.abc import Callable

from penguin_harness.tools.recovery import Excerpt, RecoveryFile
from penguin_harness.tools.redact import CleanStream, Redactor

LIMIT = 15_000
"""Characters that wait to be shown; more are cut to their beginning and end. A call shows so many without a cut."""
ROOM = 100_000_000
"""Bytes that all files of one command may have together."""


class Backlog:
    """Keeps what comes in until it is taken: all of it while it is short, else an excerpt, and the whole in a file."""

    def __init__(self, redactor: Redactor, new_file: Callable[[int], RecoveryFile]) -> None:
        """`new_file` makes a file that keeps so many bytes."""
        self._redactor = redactor
        self._new_file = new_file
        self._room = ROOM
        self._pieces: list[str] = []
        self._cut: _Cut | None = None
        self.size = 0
        """Characters that came in since the last were taken."""

    @property
    def is_cut(self) -> bool:
        """Whether more came in than is shown."""
        return self._cut is not None

    def feed(self, text: str, *, bounded: bool) -> None:
        """Take more; the limit holds when it is bounded."""
        self.size += len(text)
        if self._cut is not None:
            self._cut.feed(text)
            return
        self._pieces.append(text)
        if bounded and self.size > LIMIT:
            self._cut = _Cut(CleanStream(self._redactor), self._new_file(self._room))
            for piece in self._pieces:
                self._cut.feed(piece)
            self._pieces = []

    def take(self) -> str:
        """All that was not taken yet."""
        text, self._pieces, self.size = "".join(self._pieces), [], 0
        if self._cut is not None:
            text = self._cut.finish()
            self._room -= self._cut.file.size
            self._cut = None
        return text

    def last(self, count: int) -> str:
        """The end of what was not taken yet."""
        return (self._cut.last() if self._cut is not None else "".join(self._pieces))[-count:]

    def close(self) -> None:
        """Drop what nobody will take, and give the file back."""
        self.take()


class _Cut:
    def __init__(self, stream: CleanStream, file: RecoveryFile) -> None:
        self.file = file
        self._stream = stream
        self._excerpt = Excerpt(LIMIT, file)
        self._head: list[str] = []

    def feed(self, text: str) -> None:
        self._head.append(self._excerpt.feed(self._stream.feed(text)))

    def finish(self) -> str:
        self._head.append(self._excerpt.feed(self._stream.flush()))
        return "".join(self._head) + self._excerpt.finish()

    def last(self) -> str:
        return self._excerpt.tail
