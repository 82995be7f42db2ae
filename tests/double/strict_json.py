"""JSON as a strict server reads it: UTF-8, no NaN, no repeated keys, no half characters."""

from __future__ import annotations

import json
import unicodedata
from typing import NoReturn

_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_BLANK_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError(f"repeated key in {[key for key, _ in pairs]}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def loads(data: bytes | str) -> object:
    """The value; ValueError says what is wrong with the text."""
    text = data.decode() if isinstance(data, bytes) else data
    value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def is_visible(text: str) -> bool:
    """Whether the text has a character that a reader can see."""
    return any(c not in _BLANK_LETTERS and unicodedata.category(c) not in _BLANK_CATEGORIES for c in text)
