"""A request taken apart: method and model of its path, its message, and the bytes of its contents."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qs, unquote

import msgspec
from msgspec import Struct

from tests.double import strict_json
from tests.double.gemini.proto import Json, Reader
from tests.double.gemini.shapes import REQUEST
from tests.double.protocol import Asked
from tests.double.refusal import Refusal, as_list, as_object

METHOD = re.compile(r"/v1beta/models/([^/:?]+):([a-zA-Z]+)")


class Target(Struct, frozen=True):
    """What a path asks for."""

    model: str
    method: str
    query: dict[str, list[str]]


class Read(Struct, frozen=True):
    """A body as the vendor reads it: its message with the fields' own names, or why it cannot be read."""

    message: Json
    found: tuple[Refusal, ...]


class Bytes(Struct, frozen=True):
    """Those fields of a body that a prompt cache sees, byte for byte."""

    contents: tuple[bytes, ...] = ()
    instruction: bytes = b""
    tools: bytes = b""


def target_of(asked: Asked) -> Target:
    path, _, query = asked.path.partition("?")
    match = METHOD.fullmatch(path)
    return Target(unquote(match[1]) if match else "", match[2] if match else "", parse_qs(query))


@lru_cache(maxsize=16)
def read(body: bytes, extra_keys: tuple[str, ...] = ()) -> Read:
    """The message in a body; `extra_keys` are left aside."""
    try:
        value = as_object(strict_json.loads(body))
    except ValueError as error:
        text = f"Invalid JSON payload received. Unexpected token. ({error})"
        return Read({}, (Refusal(text, code="invalid_json"),))
    if value is None:
        text = 'Invalid JSON payload received. Unknown name "": Root element must be a message.'
        return Read({}, (Refusal(text, code="invalid_json"),))
    reader = Reader()
    message = reader.read("", REQUEST, {key: one for key, one in value.items() if key not in extra_keys})
    return Read(as_object(message) or {}, tuple(reader.found))


@lru_cache(maxsize=16)
def bytes_of(body: bytes) -> Bytes:
    """The bytes of an accepted body."""
    fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    instruction = fields.get("systemInstruction", fields.get("system_instruction", b""))
    contents = msgspec.json.decode(fields.get("contents", b"[]"), type=list[msgspec.Raw])
    return Bytes(tuple(map(bytes, contents)), bytes(instruction), bytes(fields.get("tools", b"")))


def contents_of(message: Json) -> list[Json]:
    """The contents of a request that was read."""
    return [as_object(content) or {} for content in as_list(message.get("contents")) or ()]
