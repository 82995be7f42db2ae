"""The tool `read_file`."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated, TextIO

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.files import SNIFF, encoding_of, locate, require_file
from penguin_harness.tools.tool import ToolResult, tool

PAGE = 15_000
"""Characters in one page: it fits in an output, so that nothing of it is cut."""
LONGEST_LINE = 2_000
IMAGE_LIMIT = 5_000_000
_PIECE = 65_536
_IMAGES = ((b"\x89PNG\r\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


@tool(permission="r")
def read_file(
    context: ToolContext,
    path: Annotated[str, Meta(description="Absolute, or relative to the workspace.")],
    offset: Annotated[int, Meta(description="First line to read, counted from 1.", ge=1)] = 1,
    limit: Annotated[int, Meta(description="Number of lines to read.", ge=1, le=2_000)] = 2_000,
    column: Annotated[int, Meta(description="Where to begin in the first line, for a line that was cut.", ge=1)] = 1,
) -> ToolResult:
    """Read a text file in pages of numbered lines, or show an image."""
    file = locate(context, path)
    size = require_file(file).st_size
    with file.open("rb") as data:
        start = data.read(SNIFF)
    if (mime_type := _image_type(start)) is not None:
        return _image(file, mime_type, size)
    encoding = encoding_of(start)
    if encoding is None:
        raise ToolFailed(f"{file} is a binary file ({size} bytes): it cannot be read as text.")
    with file.open(encoding=encoding.reader, errors="replace", newline="\n") as text:
        return ToolResult(_Pages(text).page(offset, limit, column))


def _image_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((mime_type for magic, mime_type in _IMAGES if start.startswith(magic)), None)


def _image(file: Path, mime_type: str, size: int) -> ToolResult:
    if size > IMAGE_LIMIT:
        raise ToolFailed(f"{file} is an image of {size} bytes: at most {IMAGE_LIMIT} can be shown.")
    data = base64.b64encode(file.read_bytes()).decode()
    return ToolResult(f"[{mime_type}, {size} bytes]", (f"data:{mime_type};base64,{data}",))


class _Pages:
    """Reads with bounded memory, however long a line is."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._total = _count_lines(text)
        text.seek(0)

    def page(self, offset: int, limit: int, column: int) -> str:
        if self._total == 0:
            return "[empty file]"
        if offset > self._total:
            raise ToolFailed(f"Line {offset} is past the end: the file has {self._total} lines.")
        for _ in range(offset - 1):
            self._take_line(0, 0)
        rows: list[str] = []
        room = PAGE
        for number in range(offset, min(offset + limit, self._total + 1)):
            row = self._row(number, column if number == offset else 1)
            if len(row) > room and rows:
                break
            rows.append(row)
            room -= len(row) + 1
        last = offset + len(rows) - 1
        if last < self._total:
            rows.append(f"[lines {offset}-{last} of {self._total}; go on with offset={last + 1}]")
        return "\n".join(rows)

    def _row(self, number: int, column: int) -> str:
        text, is_cut = self._take_line(column - 1, PAGE if column > 1 else LONGEST_LINE)
        then = f"… [line cut; go on with offset={number}, column={column + len(text)}]" if is_cut else ""
        return f"{number:>6}\t{text}{then}"

    def _take_line(self, skip: int, room: int) -> tuple[str, bool]:
        """Read to the end of a line: `room` characters of it after the first `skip`, and whether there were more."""
        kept, position = "", 0
        while piece := self._text.readline(_PIECE):
            text = piece.removesuffix("\n").removesuffix("\r")
            kept += text[max(0, skip - position) :][: room - len(kept)]
            position += len(text)
            if piece.endswith("\n"):
                break
        return kept, position > skip + len(kept)


def _count_lines(text: TextIO) -> int:
    count, last = 0, "\n"
    while piece := text.read(1 << 20):
        count += piece.count("\n")
        last = piece[-1]
    return count + (last != "\n")
