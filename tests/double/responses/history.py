"""The conversation in a request: its items as values and as the bytes that were sent."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from tests.double import strict_json
from tests.double.refusal import as_list, as_object

_MARKER = rb'"prompt_cache_breakpoint"\s*:\s*(?:\{[^{}]*\}|null)'
_MARKERS = re.compile(rb"\s*,\s*" + _MARKER + rb"|" + _MARKER + rb"\s*,\s*")


class Head(msgspec.Struct):
    """What the vendor's prompt cache looks at, byte for byte, without the markers that move."""

    input: msgspec.Raw = msgspec.Raw(b"[]")
    instructions: msgspec.Raw = msgspec.Raw(b"null")
    tools: msgspec.Raw = msgspec.Raw(b"[]")

    @property
    def items(self) -> list[bytes]:
        """Each item of the input."""
        items = msgspec.json.decode(self.input, type=list[msgspec.Raw] | str)
        return [self.whole_input] if isinstance(items, str) else [_unmarked(bytes(item)) for item in items]

    @property
    def whole_input(self) -> bytes:
        """The input in one piece."""
        return _unmarked(bytes(self.input))


@lru_cache(maxsize=256)
def head_of(body: bytes) -> Head:
    """The bytes of a body that is known to be a JSON object."""
    return msgspec.json.decode(body, type=Head)


@lru_cache(maxsize=256)
def value_of(body: bytes) -> dict[str, object]:
    """The body as a value; nothing where it cannot be read."""
    try:
        return as_object(strict_json.loads(body)) or {}
    except ValueError:
        return {}


def items_of(body: dict[str, object]) -> list[object]:
    """The items of the input; a text is one message of the user."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given) or []


def _unmarked(data: bytes) -> bytes:
    """A quote inside a JSON string is escaped, so what looks like a marker is one."""
    return _MARKERS.sub(b"", data) if b"prompt_cache_breakpoint" in data else data
