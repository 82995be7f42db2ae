"""What the file tools share: finding a file, reading its text whole, replacing it at once, showing what changed."""

from __future__ import annotations

import codecs
import difflib
import os
import secrets
import stat
import threading
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.context import ToolContext

EDIT_LIMIT = 20_000_000
DIFF_LIMIT = 20_000
SNIFF = 8_192
_LISTED = 20
_SEARCHED = 200
_COMPARED = 2_000
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

changing = threading.Lock()
"""Held from reading a file to replacing it: parallel edits of one file must not lose each other."""


class Encoding(Struct, frozen=True):
    """How a text file is written."""

    mark: bytes
    codec: str

    @property
    def reader(self) -> str:
        """The codec that skips the mark itself."""
        return "utf-8-sig" if self.codec == "utf-8" else self.codec.removesuffix("-le").removesuffix("-be")

    def decode(self, data: bytes) -> str:
        """The text behind the mark; bytes that are no UTF-8 survive the way there and back."""
        return data[len(self.mark) :].decode(self.codec, "surrogateescape")

    def encode(self, text: str) -> bytes:
        """The bytes of a file that holds the text."""
        return self.mark + text.encode(self.codec, "surrogateescape")


def encoding_of(start: bytes) -> Encoding | None:
    """What the first bytes of a file say; None when it is binary."""
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return Encoding(mark, codec)
    return None if b"\0" in start else Encoding(b"", "utf-8")


def locate(context: ToolContext, path: str) -> Path:
    """The path, absolute or relative to the workspace. Raises ToolFailed for a file that is guarded."""
    located = Path.home() / path[2:] if path.startswith("~/") else context.workspace / path
    if any(_same(located, guarded) for guarded in context.guarded):
        raise ToolFailed(f"{located} holds credentials: the file tools do not open it.")
    return located


def _same(path: Path, guarded: Path) -> bool:
    with suppress(OSError):
        return path.samefile(guarded)
    return False


def require_file(path: Path) -> os.stat_result:
    """The state of an existing regular file. Raises ToolFailed that says what is there instead."""
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFailed(describe_missing(path)) from None
    if stat.S_ISDIR(state.st_mode):
        raise ToolFailed(f"{path} is a folder. It holds: {_listing(path)}.")
    if not stat.S_ISREG(state.st_mode):
        raise ToolFailed(f"{path} is no regular file (a device, pipe or socket): it cannot be read or written here.")
    return state


def describe_missing(path: Path) -> str:
    """Which part of a path is missing, what is there, and what it may have meant."""
    missing = path
    for folder in path.parents:
        if folder.is_dir():
            break
        if folder.exists():
            return f"{path} does not exist: {folder} is a file, not a folder."
        missing = folder
    else:
        return f"{path} does not exist."
    if missing.is_symlink():
        return f"{missing} is a symbolic link to {missing.readlink()}, which does not exist."
    names = _names(folder)
    close = difflib.get_close_matches(missing.name, [name.rstrip("/") for name in names[:_COMPARED]], n=3)
    folders = [name for name in names[:_SEARCHED] if name.endswith("/")]
    deeper = [name + missing.name for name in folders if (folder / name / missing.name).exists()]
    hint = f" Did you mean: {', '.join(close + deeper)}?" if close or deeper else ""
    return f"{path} does not exist: the folder {folder} has no {missing.name!r}. It holds: {_listing(folder)}.{hint}"


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)


def _listing(folder: Path) -> str:
    names = _names(folder)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "nothing") + more


def read_text(path: Path) -> tuple[str, Encoding]:
    """The whole text of a file that is to be changed. Raises ToolFailed when that is not possible."""
    size = require_file(path).st_size
    if size > EDIT_LIMIT:
        raise ToolFailed(f"{path} is too large ({size} bytes, at most {EDIT_LIMIT}): use a command instead.")
    data = path.read_bytes()
    encoding = encoding_of(data[:SNIFF])
    if encoding is None:
        raise ToolFailed(f"{path} is a binary file ({size} bytes): it cannot be edited as text.")
    try:
        return encoding.decode(data), encoding
    except UnicodeDecodeError as error:
        raise ToolFailed(f"{path} cannot be read as {encoding.codec}: {error.reason}.") from None


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new content at once, through a temporary file; a link stays and its target changes.

    Folders that are missing are made.
    """
    try:
        target = path.resolve()
    except RuntimeError:  # until Python 3.13
        raise ToolFailed(f"{path} is a symbolic link that leads back to itself.") from None
    before = target.stat() if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):
        raise ToolFailed(f"{path} is write-protected.")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".penguin-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        if before is not None:
            with suppress(PermissionError):
                os.chown(temporary, before.st_uid, before.st_gid)
            temporary.chmod(stat.S_IMODE(before.st_mode))
        temporary.replace(target)
    except OSError as error:
        raise ToolFailed(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def unified_diff(path: Path, before: str, after: str) -> str:
    """What changed, with three lines around; for very large texts only how many lines there are."""
    old, new = (text.replace("\r\n", "\n").split("\n") for text in (before, after))
    if max(len(old), len(new)) > DIFF_LIMIT:
        return f"Changed {path}: {len(old)} lines before, {len(new)} now."
    diff = list(difflib.unified_diff(old, new, str(path), str(path), lineterm=""))
    return "\n".join(diff) or f"Changed only the line endings of {path}."
