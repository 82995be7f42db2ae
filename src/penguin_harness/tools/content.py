"""The content of a file that is to be changed: read whole, compared with what was seen before, replaced at once."""

from __future__ import annotations

import os
import secrets
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.encoding import Encoding, encoding_of
from penguin_harness.tools.files import describe_missing, open_file, refuse_guarded
from penguin_harness.tools.redact import MARK

EDIT_LIMIT = 20_000_000
"""Bytes of a file that is changed, or remembered by what it holds."""

changing = threading.Lock()
"""Held from reading a file to replacing it: parallel edits of one file must not lose each other."""


class Content(Struct, frozen=True):
    """A file as it is now."""

    path: Path
    state: os.stat_result
    data: bytes | None
    """None when there is too much of it."""

    def text(self) -> tuple[str, Encoding]:
        """As text. Raises ToolFailed when that is not possible."""
        if self.data is None:
            size = self.state.st_size
            raise ToolFailed(f"{self.path} is too large ({size} bytes, at most {EDIT_LIMIT}): use a command instead.")
        encoding = encoding_of(self.data)
        if encoding is None:
            raise ToolFailed(f"{self.path} is a binary file ({len(self.data)} bytes): it cannot be edited as text.")
        try:
            return encoding.decode(self.data), encoding
        except UnicodeDecodeError as error:
            raise ToolFailed(f"{self.path} cannot be read as {encoding.codec}: {error.reason}.") from None


def read_content(context: ToolContext, path: Path) -> Content:
    """The file as it is now. Raises ToolFailed when it cannot be opened, or is not what was seen of it before."""
    with open_file(context, path) as file:
        state, data = os.fstat(file.fileno()), whole_of(file)
    if context.versions.has_changed(path, state, data):
        raise ToolFailed(
            f"{path} has changed since it was last read or written here; nothing was changed now."
            " Read it again with read_file, then make the change to what it is now."
        )
    return Content(path, state, data)


def whole_of(file: BinaryIO) -> bytes | None:
    """All that the file holds, from its beginning; None when it is too much to read at once."""
    if os.fstat(file.fileno()).st_size > EDIT_LIMIT:
        return None
    data = file.read(EDIT_LIMIT + 1)
    file.seek(0)
    return data if len(data) <= EDIT_LIMIT else None


def refuse_marks(context: ToolContext, path: Path, before: str, *given: str) -> None:
    """Raises ToolFailed when a mark would take the place of the secret value that it hides."""
    is_marked = any(MARK in text for text in given) and MARK not in before
    if is_marked and context.redactor.redact(before) != before:
        raise ToolFailed(
            f"{path} holds secret values, which you are shown as {MARK}: that text is not in the file, and writing it"
            " would destroy them. Nothing was changed. Use edit_file on the other parts."
        )


def replace_content(context: ToolContext, path: Path, data: bytes) -> None:
    """Give a file new content at once, through a temporary file; a link stays and its target changes.

    Folders that are missing are made. Raises ToolFailed when it cannot be written.
    """
    try:
        target = path.resolve()
    except RuntimeError:  # until Python 3.13
        raise ToolFailed(f"{path} is a symbolic link that leads back to itself.") from None
    _require_writable(context, path, target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileExistsError, NotADirectoryError):
        raise ToolFailed(describe_missing(path)) from None
    except OSError as error:
        raise ToolFailed(f"{path} cannot be written: {error.strerror}.") from None
    try:
        if context.sandbox is not None:  # what counts is the folder that was opened, as on reading
            _require_writable(context, path, Path(f"/proc/self/fd/{folder}").readlink() / target.name)
        state = _replace(context, path, folder, target.name, data)
    except OSError as error:
        raise ToolFailed(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        os.close(folder)
    context.versions.note(path, state, data if len(data) <= EDIT_LIMIT else None)


def _require_writable(context: ToolContext, path: Path, target: Path) -> None:
    sandbox = context.sandbox
    if sandbox is not None and not sandbox.may_write(target):
        raise ToolFailed(f"{path} cannot be written: the sandbox ({sandbox.mode}) allows no changes there.")


def _replace(context: ToolContext, path: Path, folder: int, name: str, data: bytes) -> os.stat_result:
    before: os.stat_result | None = None
    with suppress(FileNotFoundError):
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
        refuse_guarded(context, path, before)
        if not os.access(name, os.W_OK, dir_fd=folder):
            raise ToolFailed(f"{path} is write-protected.")
    mode = 0o666 if before is None else 0o600
    temporary = f".penguin-{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb", opener=lambda file, flags: os.open(file, flags, mode, dir_fd=folder)) as file:
            file.write(data)
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.flush()
            os.fsync(file.fileno())
            state = os.fstat(file.fileno())
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    with suppress(OSError):  # some file systems do not sync folders
        os.fsync(folder)
    return state
