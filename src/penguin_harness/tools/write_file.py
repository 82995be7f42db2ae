"""The tool `write_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.content import Content, changing, read_content, refuse_marks, replace_content
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.diff import unified_diff
from penguin_harness.tools.encoding import (
    PLAIN,
    Encoding,
    has_foreign_bytes,
    has_windows_endings,
    with_windows_endings,
)
from penguin_harness.tools.files import locate
from penguin_harness.tools.tool import tool


@tool
def write_file(
    context: ToolContext,
    path: Annotated[str, Meta(description="Absolute, or relative to the workspace.")],
    content: Annotated[str, Meta(description="The whole content of the file.")],
) -> str:
    """Write a file, with the folders above it if they are missing. An existing file is replaced, which is shown as a
    diff; its encoding and its line endings stay.
    """
    file = locate(context, path)
    with changing:
        there = read_content(context, file) if _is_there(file) else None
        before, encoding = _text_before(there)
        _refuse_losses(context, file, before, content)
        text, kept = _as_before(before, encoding, content)
        data = encoding.encode(text)
        if there is not None and there.data == data:
            return f"{file} has this content already."
        replace_content(context, file, data)
    if before:
        return unified_diff(file, before, text) + kept
    count = text.count("\n") + (text[-1:] not in {"", "\n"})
    return f"{'Created' if there is None else 'Replaced'} {file}: {count} line{'' if count == 1 else 's'}.{kept}"


def _is_there(file: Path) -> bool:
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ToolFailed(f"{file} cannot be reached: {error.strerror}.") from None
    return True


def _text_before(there: Content | None) -> tuple[str, Encoding]:
    """The text that is to be replaced: "" when there is none to compare, as in a binary or a very large file."""
    if there is None:
        return "", PLAIN
    try:
        return there.text()
    except ToolFailed:
        return "", PLAIN


def _refuse_losses(context: ToolContext, file: Path, before: str, content: str) -> None:
    refuse_marks(context, file, before, content)
    if "\ufffd" in content and has_foreign_bytes(before):
        raise ToolFailed(
            f"{file} holds bytes that are no UTF-8, which you are shown as U+FFFD: writing that would destroy them."
            " Nothing was changed. Use edit_file on the other parts."
        )


def _as_before(before: str, encoding: Encoding, content: str) -> tuple[str, str]:
    """The text with the line endings that the file has, and what is said of what was kept."""
    kept = [encoding.name] if encoding.name else []
    text = content.removeprefix("\ufeff") if encoding.mark else content
    if has_windows_endings(before) and "\r\n" not in text:
        text = with_windows_endings(text)
        kept.append("CR LF line endings")
    return text, f"\n[kept: {', '.join(kept)}]" if kept else ""
