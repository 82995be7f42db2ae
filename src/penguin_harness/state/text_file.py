"""A text file that a person wrote: read within bounds, and never waited for."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from msgspec import Struct

from penguin_harness.errors import ConfigError

_BYTES_PER_CHARACTER = 4


class TextFile(Struct, frozen=True):
    """What was read of a file."""

    text: str
    """Without a byte order mark, and with plain line ends; what is no UTF-8 is U+FFFD."""
    is_cut: bool = False
    """Whether the file has more than was wanted."""


def read_text_file(path: Path, limit: int) -> TextFile | None:
    """At most `limit` characters of a file; None when it is not there.

    Raises ConfigError for what is no readable text: a folder, a pipe, a binary file.
    """
    wanted = limit * _BYTES_PER_CHARACTER + 1
    try:
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"cannot read {path}: it is a folder, pipe or device; put a text file in its place")
            data = file.read(wanted)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    if b"\0" in data:
        raise ConfigError(f"cannot read {path}: it is no text in UTF-8; save it as UTF-8")
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(data, final=len(data) < wanted)
    return TextFile(text[:limit].replace("\r\n", "\n"), len(text) > limit or len(data) == wanted)


def _open_at_once(path: str, flags: int) -> int:
    """A pipe without a writer would be waited for."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
