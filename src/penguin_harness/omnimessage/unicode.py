"""Text that is not valid Unicode, made valid before it enters a message."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def clean(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def ends_with_high_surrogate(text: str) -> bool:
    """Whether the second half of a character may follow."""
    return bool(text) and "\ud800" <= text[-1] <= "\udbff"


def clean_json(data: bytes) -> bytes:
    """JSON text as valid UTF-8 whose escapes name whole characters; everything else stays byte for byte."""

    def mend(match: re.Match[bytes]) -> bytes:
        return rb"\ufffd" if match["lone"] else match[0]

    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode(errors="replace").encode()
    return _ESCAPE.sub(mend, data) if b"\\" in data else data


_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be seen: providers refuse such a block."""
    return not text.strip() or all(char in _FILLERS or unicodedata.category(char) in _INVISIBLE for char in text)
