"""An output too long for the model: the part that is shown, and the file that keeps all of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class RecoveryFile:
    """A file made with the first write; keeps at most `limit` bytes and never raises."""

    def __init__(self, folder: Callable[[], Path], name: str, limit: int) -> None:
        self.path: Path | None = None
        self.size = 0
        self.full = False
        self.error: OSError | None = None
        self._folder = folder
        self._name = _UNSAFE.sub("_", name)[:80]
        self._limit = limit
        self._file: BinaryIO | None = None

    def write(self, text: str) -> None:
        """Add text, up to the limit and never a part of a character."""
        if self.full or self.error:
            return
        data = text.encode()
        if self.size + len(data) > self._limit:
            self.full = True
            data = data[: self._limit - self.size].decode(errors="ignore").encode()
        try:
            self._file = self._file or self._create()
            self._file.write(data)
            self.size += len(data)
        except OSError as error:
            self.error = error
            self.close()

    def close(self) -> None:
        """Nothing follows."""
        file, self._file = self._file, None
        try:
            if file:
                file.close()
        except OSError as error:
            self.error = error

    def _create(self) -> BinaryIO:
        folder = self._folder()
        for number in range(1, 1000):
            self.path = folder / (f"{self._name}.txt" if number == 1 else f"{self._name}-{number}.txt")
            try:
                return self.path.open("xb")
            except FileExistsError:
                continue
        raise FileExistsError(f"too many files named {self._name} in {folder}")


class Excerpt:
    """The beginning and the end of an output: all of it while that is within the limit, else the file has the whole.

    Three quarters of the limit are the beginning, which is shown as it comes in; the rest is known at the end only.
    """

    def __init__(self, limit: int, file: RecoveryFile) -> None:
        self._limit = limit
        self._file = file
        self._head: list[str] = []
        self._room = limit - limit // 4
        self._tail: deque[str] = deque()
        self._held = 0
        self._total = 0

    @property
    def is_empty(self) -> bool:
        """Whether there was no text at all."""
        return self._total == 0

    @property
    def tail(self) -> str:
        """The end of the output, as far as it is not in what `feed` returned."""
        text = "".join(self._tail)
        return text if self._total <= self._limit else text[len(text) - self._limit // 4 :]

    def feed(self, text: str) -> str:
        """The part of the text that is shown."""
        shown, rest = text[: self._room], text[self._room :]
        if shown:
            self._room -= len(shown)
            self._head.append(shown)
        if self._total <= self._limit < self._total + len(text):
            self._file.write("".join([*self._head, *self._tail]))
        self._total += len(text)
        if self._total > self._limit:
            self._file.write(rest)
        if rest:
            self._hold(rest)
        return shown

    def finish(self) -> str:
        """What is shown behind the beginning: the rest, or what is left out of it and the end."""
        self._file.close()
        if self._total <= self._limit:
            return self.tail
        head = "".join(self._head)
        gap = "\n" if head and not head.endswith("\n") else ""
        return f"{gap}{self._cut(head)}\n{self.tail}"

    def _hold(self, text: str) -> None:
        self._tail.append(text)
        self._held += len(text)
        while self._tail and self._total > self._limit and self._held - len(self._tail[0]) >= self._limit // 4:
            self._held -= len(self._tail.popleft())

    def _cut(self, head: str) -> str:
        left_out = self._total - len(head) - self._limit // 4
        cut = f"output cut: {left_out} of {self._total} characters are left out here"
        file = self._file
        if file.error:
            return f"[{cut}; they could not be kept: {file.error}]"
        place = f"offset={head.count(chr(10)) + 1}, column={len(head) - head.rfind(chr(10))}"
        part = f"only its first {file.size} bytes were kept, in" if file.full else f"all {file.size} bytes of it are in"
        return f"[{cut}; {part} {file.path}: go on there with read_file, {place}]"
