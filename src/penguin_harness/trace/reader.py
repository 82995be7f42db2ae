"""Reading Traces: by block at the speed of the decoder, tolerant of whatever lies in the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from penguin_harness.errors import TraceError
from penguin_harness.omnimessage import DecodeError, OmniMessage, decode, decode_lines

BLOCK = 256 * 1024


class Skipped(Struct, frozen=True):
    """A line that was passed over, and why."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


def read_messages(path: Path, skipped: list[Skipped] | None = None) -> Iterator[OmniMessage]:
    """The messages of a Trace file, in order. Unreadable lines are reported in `skipped` and passed over.

    Raises TraceError when the file cannot be opened or read at all.
    """
    return chain.from_iterable(_decoded(path, skipped if skipped is not None else []))


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, split at LF only, without it; a blank last line is none."""
    for block in _blocks(path):
        yield from block.removesuffix(b"\n").split(b"\n")


def _decoded(path: Path, skipped: list[Skipped]) -> Iterator[Iterable[OmniMessage]]:
    number = 1
    for block in _blocks(path):
        try:
            yield decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            yield _tolerant(path, number, block, skipped)
        number += block.count(b"\n")


def _tolerant(path: Path, number: int, block: bytes, skipped: list[Skipped]) -> Iterator[OmniMessage]:
    for offset, line in enumerate(block.split(b"\n")):
        if not line.strip():
            continue
        try:
            yield decode(line)
        except DecodeError as error:
            skipped.append(Skipped(path, number + offset, str(error)))


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces that end with a newline, except that the last one may not."""
    try:
        with path.open("rb") as file:
            rest: list[bytes] = []
            while piece := file.read(BLOCK):
                end = piece.rfind(b"\n") + 1
                if end == 0:
                    rest.append(piece)
                    continue
                yield b"".join([*rest, piece[:end]])
                rest = [piece[end:]] if end < len(piece) else []
            if rest:
                yield b"".join(rest)
    except OSError as error:
        raise TraceError(f"cannot read the Trace {path}: {error.strerror or error}") from None
