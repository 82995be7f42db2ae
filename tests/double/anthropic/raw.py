"""A request's bytes as they were sent, without the cache markers, which may move from request to request."""

from __future__ import annotations

import re

import msgspec

# Inside a JSON string the quotes would be escaped, so only a key is found.
_VALUE = rb'"cache_control"\s*:\s*(?:null|\{[^{}]*\})'
_MARKER = re.compile(rb",\s*" + _VALUE + rb"|" + _VALUE + rb"\s*,?\s*")


class _Head(msgspec.Struct):
    messages: list[msgspec.Raw]
    system: msgspec.Raw = msgspec.Raw(b"")
    tools: msgspec.Raw = msgspec.Raw(b"")


class Parts(msgspec.Struct, frozen=True):
    """What a prompt is made of, in the order in which the vendor caches it."""

    tools: bytes
    system: bytes
    messages: tuple[bytes, ...]


def parts_of(body: bytes) -> Parts:
    """The parts of a well-formed request."""
    head = msgspec.json.decode(body, type=_Head)
    return Parts(_unmarked(head.tools), _unmarked(head.system), tuple(map(_unmarked, head.messages)))


def _unmarked(raw: msgspec.Raw) -> bytes:
    return _MARKER.sub(b"", bytes(raw))
