"""Two folders change places, so that nobody ever finds neither of them."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE
_UNABLE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def swap(one: Path, other: Path) -> bool:
    """Exchange two folders of one file system, in one step where that can be: whether it was. Raises OSError."""
    exchange = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if exchange is not None and _exchanged(exchange, one, other):
        return True
    swap_by_renames(one, other)
    return False


def swap_by_renames(one: Path, other: Path) -> None:
    """Exchange two folders on systems without an exchange; when the second rename fails, the first is undone."""
    aside = one.with_name(f".{one.name}.{os.urandom(4).hex()}.aside")
    one.rename(aside)
    try:
        other.rename(one)
    except OSError:
        aside.rename(one)
        raise
    aside.rename(other)


def _exchanged(exchange: Callable[..., int], one: Path, other: Path) -> bool:
    """Whether the file system could do it."""
    if exchange(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
