"""The tool `read_file`."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Annotated, TextIO

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.content import whole_of
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.encoding import SNIFF, encoding_of
from penguin_harness.tools.files import locate_existing, open_file
from penguin_harness.tools.picture import Picture, picture_of
from penguin_harness.tools.tool import ToolResult, tool

PAGE = 15_000
"""Characters in one page: it fits in an output, so that nothing of it is cut."""
LONGEST_LINE = 2_000
IMAGE_LIMIT = 3_932_160
"""Bytes: providers take 5 MiB of base64."""
LONGEST_SIDE = 8_000
"""Pixels; more is refused by providers."""
_PIECE = 65_536


@tool(permission="r")
def read_file(
    context: ToolContext,
    path: Annotated[str, Meta(description="Absolute, or relative to the workspace.")],
    offset: Annotated[int, Meta(description="First line to read, counted from 1.", ge=1)] = 1,
    limit: Annotated[int, Meta(description="Number of lines to read.", ge=1, le=2_000)] = 2_000,
    column: Annotated[int, Meta(description="Where to begin in the first line, for a line that was cut.", ge=1)] = 1,
) -> ToolResult:
    """Read a text file in pages of numbered lines, or show an image."""
    file = locate_existing(context, path)
    with open_file(context, file) as source:
        state, whole = os.fstat(source.fileno()), whole_of(source)
        context.versions.note(file, state, whole)
        start = source.read(SNIFF)
        if (picture := picture_of(start)) is not None:
            return _image(file, picture.mime_type, state.st_size, whole)
        encoding = encoding_of(start)
        if encoding is None:
            raise ToolFailed(f"{file} is a binary file ({state.st_size} bytes): it cannot be read as text.")
        source.seek(0)
        data = source if whole is None else io.BytesIO(whole)
        with io.TextIOWrapper(data, encoding.reader, errors="replace", newline="\n") as text:
            return ToolResult(_page(text, offset, limit, column))


def _image(file: Path, mime_type: str, size: int, data: bytes | None) -> ToolResult:
    if data is None or len(data) > IMAGE_LIMIT:
        raise ToolFailed(
            f"{file} is an image of {size} bytes: at most {IMAGE_LIMIT} can be shown. Make a smaller copy of it."
        )
    match picture_of(data):
        case Picture(size=(width, height)) if min(width, height) >= 1 and max(width, height) <= LONGEST_SIDE:
            note = f"[{mime_type}, {width} x {height} pixels, {len(data)} bytes]"
            return ToolResult(note, (f"data:{mime_type};base64,{base64.b64encode(data).decode()}",))
        case Picture(size=(width, height)):
            raise ToolFailed(
                f"{file} is an image of {width} x {height} pixels: each side may have 1 to {LONGEST_SIDE}."
                " Make a smaller copy of it."
            )
        case _:
            raise ToolFailed(f"{file} is no whole image ({mime_type}, {size} bytes): it is cut off or damaged.")


def _page(text: TextIO, offset: int, limit: int, column: int) -> str:
    total = _count_lines(text)
    if total == 0:
        return "[empty file]"
    if offset > total:
        raise ToolFailed(f"Line {offset} is past the end: the file has {total} lines.")
    text.seek(0)
    lines = _Lines(text)
    lines.skip(offset - 1)
    rows: list[str] = []
    room = PAGE
    for number in range(offset, min(offset + limit, total + 1)):
        row = _row(lines, number, column if number == offset else 1)
        if len(row) > room and rows:
            break
        rows.append(row)
        room -= len(row) + 1
    last = offset + len(rows) - 1
    if last < total:
        rows.append(f"[lines {offset}-{last} of {total}; go on with offset={last + 1}]")
    return "\n".join(rows)


def _row(lines: _Lines, number: int, column: int) -> str:
    text, is_cut = lines.take(column - 1, PAGE if column > 1 else LONGEST_LINE)
    then = f"… [line cut; go on with offset={number}, column={column + len(text)}]" if is_cut else ""
    return f"{number:>6}\t{text}{then}"


def _count_lines(text: TextIO) -> int:
    count, last = 0, "\n"
    while piece := text.read(_PIECE):
        count += piece.count("\n")
        last = piece[-1]
    return count + (last != "\n")


class _Lines:
    """Goes through a text with bounded memory, however long a line is, and skips at the speed of counting."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._piece = ""
        self._at = 0

    def skip(self, count: int) -> None:
        while count and self._more():
            here = self._piece.count("\n", self._at)
            if here < count:
                self._at = len(self._piece)
            else:
                here = count
                for _ in range(count):
                    self._at = self._piece.index("\n", self._at) + 1
            count -= here

    def take(self, skip: int, room: int) -> tuple[str, bool]:
        """Read to the end of a line: `room` characters of it after the first `skip`, and whether there were more."""
        kept, position, end = "", 0, -1
        while end < 0 and self._more():
            end = self._piece.find("\n", self._at)
            text = self._piece[self._at : len(self._piece) if end < 0 else end]
            self._at += len(text) + (end >= 0)
            kept += text[max(0, skip - position) :][: room - len(kept)]
            position += len(text)
        is_cut = position > skip + len(kept)
        return (kept if is_cut else kept.removesuffix("\r")), is_cut

    def _more(self) -> bool:
        if self._at == len(self._piece):
            self._piece, self._at = self._text.read(_PIECE), 0
        return bool(self._piece)
