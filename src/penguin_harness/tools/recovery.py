"""The head of an output, and the file that keeps all of it when it is too long for the model."""

from __future__ import annotations

import re
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


class Head:
    """The first `limit` characters of an output; once there are more, everything goes to the file."""

    def __init__(self, limit: int, file: RecoveryFile) -> None:
        self._limit = limit
        self._file = file
        self._shown: list[str] = []
        self._room = limit
        self._total = 0

    @property
    def is_empty(self) -> bool:
        """Whether there was no text at all."""
        return self._total == 0

    def feed(self, text: str) -> str:
        """The part of the text that is shown."""
        shown, rest = text[: self._room], text[self._room :]
        self._total += len(text)
        if shown:
            self._room -= len(shown)
            self._shown.append(shown)
        if rest:
            if self._total - len(rest) == self._limit:
                self._file.write("".join(self._shown))
            self._file.write(rest)
        return shown

    def finish(self) -> str:
        """What the model is told about the rest; "" when everything was shown."""
        self._file.close()
        if self._total <= self._limit:
            return ""
        cut = f"output cut: the first {self._limit} of {self._total} characters"
        file = self._file
        if file.error:
            return f"[{cut}; the rest could not be kept: {file.error}]"
        text = "".join(self._shown)
        place = f"offset={text.count(chr(10)) + 1}, column={len(text) - text.rfind(chr(10))}"
        part = f"only its first {file.size} bytes were kept, in" if file.full else f"all {file.size} bytes of it are in"
        return f"[{cut}; {part} {file.path}: go on there with read_file, {place}]"
