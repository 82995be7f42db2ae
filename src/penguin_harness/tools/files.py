"""Finding and opening files for the file tools: what is not there is explained, what holds credentials stays shut."""

from __future__ import annotations

import difflib
import os
import re
import stat
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.context import ToolContext

_LISTED = 20
_SEARCHED = 200
_COMPARED = 2_000


def locate(context: ToolContext, path: str) -> Path:
    """The path, absolute or relative to the workspace. Raises ToolFailed for what is guarded or hidden."""
    if "\0" in path:
        raise ToolFailed("The path has a NUL character in it, which no path can have.")
    located = Path.home() / path[2:] if path.startswith("~/") else context.workspace / path
    if context.sandbox is not None:
        located = context.sandbox.outside(located)
    _require_visible(context, located, located)
    if any(_same(located, guarded) for guarded in context.guarded):
        raise ToolFailed(_guarded(located))
    return located


def locate_existing(context: ToolContext, path: str) -> Path:
    """As `locate`, and a name that only looks the same as that of an existing file means that file.

    File names hold characters that nobody can tell apart, as composed and decomposed accents or kinds of space.
    """
    located = locate(context, path)
    if not os.path.lexists(located):
        with suppress(OSError):
            alike = [name for name in os.listdir(located.parent) if _look(name) == _look(located.name)]  # noqa: PTH208
            if len(alike) == 1:
                return locate(context, str(located.with_name(alike[0])))
    return located


def open_file(context: ToolContext, path: Path) -> BinaryIO:
    """An existing regular file, open to be read. Raises ToolFailed that says what is there instead.

    What counts is the file that was opened: its path may lead elsewhere by now.
    """
    _require_regular(path, _state(path))
    try:
        file = open(path, "rb", opener=_at_once)  # noqa: SIM115 - a Path takes no opener; the caller closes it
    except OSError as error:
        raise ToolFailed(f"{path} cannot be read: {error.strerror}.") from None
    try:
        state = os.fstat(file.fileno())
        _require_regular(path, state)
        refuse_guarded(context, path, state)
        if context.sandbox is not None:
            _require_visible(context, path, Path(f"/proc/self/fd/{file.fileno()}"))
    except BaseException:
        file.close()
        raise
    return file


def refuse_guarded(context: ToolContext, path: Path, state: os.stat_result) -> None:
    """Raises ToolFailed when what has this state is a guarded file."""
    for guarded in context.guarded:
        with suppress(OSError):
            if os.path.samestat(state, guarded.stat()):
                raise ToolFailed(_guarded(path))


def _at_once(path: str, flags: int) -> int:
    """A pipe without a writer would be waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def _require_visible(context: ToolContext, path: Path, opened: Path) -> None:
    if context.sandbox is not None and not context.sandbox.may_read(opened):
        raise ToolFailed(f"{path} is hidden by the sandbox.")


def _guarded(path: Path) -> str:
    return f"{path} holds credentials: the file tools do not open it."


def _same(path: Path, guarded: Path) -> bool:
    """Whether it is that file, or would become it."""
    with suppress(OSError):
        if path.exists() and guarded.exists():
            return path.samefile(guarded)
        real = Path(os.path.realpath(path))
        return real.name.casefold() == guarded.name.casefold() and real.parent.samefile(guarded.parent)
    return False


def _look(name: str) -> str:
    return re.sub(r"\s", " ", unicodedata.normalize("NFC", name))


def _state(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFailed(describe_missing(path)) from None
    except OSError as error:
        raise ToolFailed(f"{path} cannot be reached: {error.strerror}.") from None


def _require_regular(path: Path, state: os.stat_result) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise ToolFailed(f"{path} is a folder. It holds: {_listing(path)}.")
    if not stat.S_ISREG(state.st_mode):
        raise ToolFailed(f"{path} is no regular file (a device, pipe or socket): it cannot be read or written here.")


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
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)
    except PermissionError:
        return []


def _listing(folder: Path) -> str:
    names = _names(folder)
    if not names and not os.access(folder, os.R_OK):
        return "what you may not list"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "nothing") + more
