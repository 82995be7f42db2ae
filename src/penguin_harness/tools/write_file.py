"""The tool `write_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.files import (
    changing,
    describe_missing,
    locate,
    read_text,
    replace_file,
    require_file,
    unified_diff,
)
from penguin_harness.tools.tool import tool


@tool
def write_file(
    context: ToolContext,
    path: Annotated[str, Meta(description="Absolute, or relative to the workspace.")],
    content: Annotated[str, Meta(description="The whole content of the file.")],
) -> str:
    """Write a file, with the folders above it if they are missing. An existing file is replaced."""
    file = locate(context, path)
    data = content.encode()
    with changing:
        before = _text_before(file)
        if before is not None and file.read_bytes() == data:
            return f"{file} has this content already."
        try:
            replace_file(file, data)
        except (FileExistsError, NotADirectoryError):
            raise ToolFailed(describe_missing(file)) from None
    if before:
        return unified_diff(file, before, content)
    count = content.count("\n") + (content[-1:] not in {"", "\n"})
    return f"{'Created' if before is None else 'Replaced'} {file}: {count} line{'' if count == 1 else 's'}."


def _text_before(file: Path) -> str | None:
    """The text that is to be replaced: None when there is no file, "" when it has no text."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    require_file(file)
    try:
        return read_text(file)[0]
    except ToolFailed:  # binary or very large: there is nothing to compare
        return ""
