"""Appending to a Trace: one write for each record, and never a claim that something is saved when it is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from penguin_harness.errors import TraceError

Durability: TypeAlias = Literal["process", "power"]
"""`process`: a record survives the death of the process. `power`: commit points survive the loss of power too."""


class TraceWriter:
    """Appends to the Trace file at `path`, which is made with the first record."""

    def __init__(self, path: Path, durability: Durability = "process", guard: Callable[[], None] | None = None) -> None:
        """`guard` raises when this writer must not write any more; it is asked before each record."""
        self.path = path
        self._guard = guard
        self._sync = durability == "power"
        self._file = -1
        self._torn = False

    def append(self, line: bytes, *, commit: bool = False) -> None:
        """Write one record. Raises TraceError when it could not be written whole; the next record stands apart."""
        if self._guard is not None:
            self._guard()
        try:
            if self._file < 0:
                self._open()
            record = (b"\n" + line + b"\n") if self._torn else (line + b"\n")
            self._torn = True
            written = os.write(self._file, record)
            while written < len(record):
                written += os.write(self._file, record[written:])
            self._torn = False
            if commit and self._sync:
                os.fsync(self._file)
        except OSError as error:
            raise TraceError(f"cannot write the Trace {self.path}: {error.strerror or error}") from None

    def move(self, path: Path) -> None:
        """Go on in another file."""
        self.close()
        self.path = path
        self._torn = False

    def close(self) -> None:
        """Close the file; a later append opens it again."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        size = os.fstat(self._file).st_size
        self._torn = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        if is_new and self._sync:
            _sync_folder(self.path.parent)


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
