"""The ids of an answer's items: they tell which reasoning an item cannot be sent without."""

from __future__ import annotations

import re

_NONE = 0xFFFF
_ID = re.compile(r"(?:msg|fc)_([0-9a-f]{16})[0-9a-f]{4}([0-9a-f]{4})")


def item_id(prefix: str, *, answer: int, index: int, needs: int | None = None) -> str:
    """The id of an answer's item, which `needs` the reasoning at that index."""
    return f"{prefix}_{answer:016x}{index:04x}{_NONE if needs is None else needs:04x}"


def needed_by(given: object) -> str | None:
    """The id of the reasoning without which this item is refused."""
    match = _ID.fullmatch(given) if isinstance(given, str) else None
    if match is None or int(match[2], 16) == _NONE:
        return None
    return item_id("rs", answer=int(match[1], 16), index=int(match[2], 16))
