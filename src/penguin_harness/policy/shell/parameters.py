"""What `${name…}` does to a value."""

from __future__ import annotations

import re
from fnmatch import translate

LONGEST = 4_000
_PLACE = re.compile(r"\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?")
_WILD = re.compile(r"[*?\[\\]")


def changed(value: str, operator: str, argument: str) -> str | None:
    """The value after the operation; None when it is not worked out here."""
    match operator:
        case ":":
            return _part(value, argument)
        case "#" | "##" | "%" | "%%":
            return _stripped(value, operator, argument)
        case "/" | "//":
            return _replaced(value, operator, argument)
        case "^^" | ",,":
            return value.upper() if operator == "^^" else value.lower()
        case "^" | ",":
            return (value[:1].upper() if operator == "^" else value[:1].lower()) + value[1:]
        case _:
            return None


def _part(value: str, argument: str) -> str | None:
    found = _PLACE.fullmatch(argument)
    if found is None:
        return None
    start = int(found[1])
    start = max(start + len(value), 0) if start < 0 else start
    end = len(value) if found[2] is None else int(found[2]) + (len(value) if int(found[2]) < 0 else start)
    return value[start:end]


def _stripped(value: str, operator: str, pattern: str) -> str | None:
    if len(value) > LONGEST:
        return None
    matches = re.compile(translate(pattern)).match
    cuts = range(len(value) + 1) if operator in {"#", "%%"} else range(len(value), -1, -1)
    for cut in cuts:
        if operator[0] == "#" and matches(value[:cut]):
            return value[cut:]
        if operator[0] == "%" and matches(value[cut:]):
            return value[:cut]
    return value


def _replaced(value: str, operator: str, argument: str) -> str | None:
    pattern, _, replacement = argument.partition("/")
    if not pattern or pattern[0] in "#%" or _WILD.search(pattern):
        return None
    return value.replace(pattern, replacement, -1 if operator == "//" else 1)
