"""How the session last saw each file, so that nobody overwrites what somebody else has changed since."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import NamedTuple

REMEMBERED = 4_096
"""Files; the one that was seen longest ago is forgotten first."""


class _Version(NamedTuple):
    size: int
    modified: int
    digest: bytes | None


class Versions:
    """Files by their resolved paths. Used from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, _Version] = {}
        self._changing = threading.Lock()

    def note(self, path: Path, state: os.stat_result, data: bytes | None) -> None:
        """The file is seen now; `data` is its whole content, None when that was too much to read at once."""
        place, version = os.path.realpath(path), _version(state, data)
        with self._changing:
            self._known.pop(place, None)
            self._known[place] = version
            if len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]

    def has_changed(self, path: Path, state: os.stat_result, data: bytes | None) -> bool:
        """Whether the file is another than when it was last seen here; what was never seen has not changed."""
        known, now = self._known.get(os.path.realpath(path)), _version(state, data)
        if known is None:
            return False
        if known.digest and now.digest:  # the clock may be coarse, and a touched file is the same file
            return known.digest != now.digest
        return (known.size, known.modified) != (now.size, now.modified)


def _version(state: os.stat_result, data: bytes | None) -> _Version:
    digest = None if data is None else hashlib.blake2b(data, digest_size=16).digest()
    return _Version(state.st_size, state.st_mtime_ns, digest)
