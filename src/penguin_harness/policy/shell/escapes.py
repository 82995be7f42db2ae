"""Backslash escapes, as `$'…'`, `echo -e` and `printf` read them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|0?([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_NAMED = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HIGHEST = 0x10FFFF


def unescape(text: str) -> str:
    """The text with its escapes replaced; a backslash before anything else stays."""
    return _ESCAPE.sub(_character, text)


def unescape_quoted(text: str) -> str:
    """As in `$'…'`, where a backslash also makes a quote or a backslash plain."""
    return _ESCAPE.sub(lambda found: found[6] if found[6] in {"'", '"', "\\", "?"} else _character(found), text)


def _character(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal:
        code = int(hexadecimal, 16)
        return chr(code) if code <= _HIGHEST else ""
    if found[4]:
        return chr(int(found[4], 8) & 0xFF)
    if found[5]:
        return chr(ord(found[5]) & 0x1F)
    return "\\" if found[6] == "\\" else _NAMED.get(found[6], found[0])
