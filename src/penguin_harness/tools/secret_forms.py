"""How a secret value looks in what programs print: as it is, escaped, or encoded."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

ENCODED_FROM = 8
"""Bytes of a value from which on its encoded forms are looked for: those of shorter ones are too short to mean it."""
_PART = re.compile(r"[A-Za-z0-9+/=_-]{20,}")
_RANDOM = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_ANSI_C = {"\\": r"\\", "'": r"\'", "\n": r"\n", "\t": r"\t", "\r": r"\r", "\x1b": r"\E"}
_SHELL_SPECIAL = re.compile(r"[^A-Za-z0-9_@%+=:,./-]")


def plain_forms(value: str) -> set[str]:
    """The value, and as JSON, URLs, HTML, Python and shells write it; of a key file also each line of the key."""
    forms = {value, value.strip(), *_parts(value)}
    return forms if len(value.encode()) < ENCODED_FROM else forms.union(_escaped(value))


def encoded_forms(value: str) -> set[str]:
    """The value in base64, wherever it stands in what was encoded, and in hexadecimal; programs wrap such lines.

    Of the value as it is, and as it stands in a file of JSON or TOML, the vault's own for one.
    """
    written = {value, json.dumps(value, ensure_ascii=False)[1:-1]}
    found = (_encoded(text.encode()) for text in written if len(text.encode()) >= ENCODED_FROM)
    return {form for forms in found for form in forms}


def _parts(value: str) -> Iterator[str]:
    for part in _PART.findall(value.replace(r"\n", "\n")):
        if all(kind.search(part) for kind in _RANDOM):
            yield part


def _escaped(value: str) -> Iterator[str]:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        yield text[1:-1]
        yield text[1:-1].replace("/", r"\/")
        yield json.dumps(text)[3:-3]  # JSON in JSON, as arguments of calls are
    for text in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield text
        yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), text)
    yield html.escape(value)
    yield html.escape(value, quote=False)
    yield repr(value)[1:-1]
    yield repr(value.encode())[2:-1]
    yield re.sub(r'([$`"\\])', r"\\\1", value)  # declare -p
    yield _SHELL_SPECIAL.sub(lambda char: f"\\{char[0]}", value)  # printf %q
    yield _ansi_c(value, str)
    yield _ansi_c(value, lambda char: "".join(f"\\{byte:03o}" for byte in char.encode()))
    yield value.replace("'", r"'\''")  # set -x
    yield value.replace("'", "'\"'\"'")


def _ansi_c(value: str, foreign: Callable[[str], str]) -> str:
    """As a shell quotes what is no plain text: $'…', where the locale says how other characters than ASCII look."""
    return "".join(_ANSI_C.get(char) or (char if " " <= char <= "~" else foreign(char)) for char in value)


def _encoded(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield data.hex().upper()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        inner = encoded[first:last]  # without the characters that hold bits of what stands around
        yield inner
        yield inner.replace("+", "-").replace("/", "_")
