"""The tool `edit_file`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.content import changing, read_content, refuse_marks, replace_content
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.diff import unified_diff
from penguin_harness.tools.encoding import has_foreign_bytes, has_windows_endings, with_windows_endings
from penguin_harness.tools.files import locate_existing
from penguin_harness.tools.tool import tool

_PLACES = 20
_COMPARED = 5_000


@tool
def edit_file(
    context: ToolContext,
    path: Annotated[str, Meta(description="Absolute, or relative to the workspace.")],
    old_text: Annotated[str, Meta(description="The text to replace, exactly as in the file, without line numbers.")],
    new_text: Annotated[str, Meta(description="What stands there afterwards.")],
    replace_all: Annotated[bool, Meta(description="Replace every occurrence instead of the only one.")] = False,
) -> str:
    """Replace an exact text in a file and return what changed as a diff. Line endings and encoding stay."""
    file = locate_existing(context, path)
    if not old_text:
        raise ToolFailed("old_text is empty: name the text to replace, or use write_file for the whole file.")
    with changing:
        before, encoding = read_content(context, file).text()
        refuse_marks(context, file, before, old_text, new_text)
        if has_foreign_bytes(before) and not new_text.isascii():
            raise ToolFailed(
                f"{file} is no UTF-8, and how it writes other characters than ASCII is not known; nothing was changed."
                " Use a command that knows its encoding, as iconv."
            )
        old, new = _with_line_endings(before, old_text, new_text)
        if old == new:
            raise ToolFailed("old_text and new_text are the same: nothing to change.")
        count = before.count(old)
        if count == 0:
            raise ToolFailed(_not_found(file, before, old_text))
        if count > 1 and not replace_all:
            raise ToolFailed(_ambiguous(file, before, old, count))
        after = before.replace(old, new)
        replace_content(context, file, encoding.encode(after))
    return unified_diff(file, before, after)


def _with_line_endings(text: str, old: str, new: str) -> tuple[str, str]:
    """The two texts with the file's line endings: the model does not see them."""
    if has_windows_endings(text) or ("\r\n" in text and old not in text):
        return with_windows_endings(old), with_windows_endings(new)
    return old, new


def _not_found(file: Path, text: str, old: str) -> str:
    lines, wanted = ([" ".join(line.split()) for line in each.split("\n")] for each in (text, old.strip()))
    size = len(wanted)
    alike = [n + 1 for n in range(len(lines) - size + 1) if lines[n : n + size] == wanted]
    if alike:
        hint = f"It differs only in white space from the text at {_at(alike, len(alike))}."
    else:
        close = difflib.get_close_matches(wanted[0], lines[:_COMPARED], n=3)
        found = [f"{lines.index(line) + 1}: {line[:200]}" for line in close if line]
        hint = "The closest lines to its first:\n" + "\n".join(found) if found else "No line is like its first."
    return f"old_text is not in {file}; nothing was changed. {hint}"


def _ambiguous(file: Path, text: str, old: str, count: int) -> str:
    lines: list[int] = []
    position = -1
    while len(lines) < _PLACES and (position := text.find(old, position + 1)) != -1:
        lines.append(text.count("\n", 0, position) + 1)
        position += len(old) - 1
    return (
        f"old_text is {count} times in {file}, at {_at(lines, count)}; nothing was changed."
        " Add lines around it to make it unique, or set replace_all."
    )


def _at(lines: list[int], count: int) -> str:
    more = f" and {count - _PLACES} more" if count > _PLACES else ""
    return f"line{'s' if count > 1 else ''} {', '.join(map(str, lines[:_PLACES]))}{more}"
