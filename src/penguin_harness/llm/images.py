"""Images as data URLs."""

from __future__ import annotations

import re

_DATA_URL = re.compile(r"data:([a-zA-Z0-9.+/-]+);base64,(.+)\Z", re.DOTALL)


def data_of(url: str) -> tuple[str, str] | None:
    """Media type and base64 of a data URL; None for a web URL."""
    found = _DATA_URL.match(url)
    return None if found is None else (found[1], found[2])
