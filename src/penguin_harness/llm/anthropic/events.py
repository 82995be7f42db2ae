"""The events of an answer: a fast typed decoding, and a tolerant one for what does not fit it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.failure import malformed
from penguin_harness.llm.tolerance import fitted, read_json


class Usage(Struct, gc=False):
    """Token counts so far; a field that is absent or null says nothing."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class Delta(Struct, gc=False):
    """What an event adds to a block, or says about the end of the message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: Raw | UnsetType = UNSET
    stop_reason: str | None = None


class Block(Struct, gc=False):
    """The known members of a block at its start, or of a whole one."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: Raw | UnsetType = UNSET
    id: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET


class Message(Struct):
    """The frame at the start; a whole answer where the endpoint does not stream."""

    usage: Usage | None = None
    content: list[Raw] | None = None
    stop_reason: str | None = None


class Event(Struct):
    """One event. Everything is optional: heartbeats come in any shape."""

    type: str | None = None
    index: int = 0
    delta: Delta | None = None
    content_block: Raw | UnsetType = UNSET
    message: Message | None = None
    usage: Usage | None = None
    error: Any = None
    content: Raw | UnsetType = UNSET
    stop_reason: str | None = None


_OPAQUE = frozenset({"signature", "content_block", "content", "input"})
_event = msgspec.json.Decoder(Event).decode
_block = msgspec.json.Decoder(Block).decode
_blocks = msgspec.json.Decoder(list[Raw]).decode


def decode(data: bytes) -> Event:
    """One event's data. Raises TransportError when it is no JSON, or a known event makes no sense."""
    try:
        return _event(data)
    except (msgspec.MsgspecError, RecursionError):
        fields = read_json(data)
    try:
        return fitted(fields, Event, _OPAQUE)
    except msgspec.ValidationError as error:
        raise malformed(f"an event has an unknown shape: {error}") from None


def decode_block(raw: Raw | UnsetType) -> Block:
    """A block's known members. Raises TransportError when they make no sense."""
    if isinstance(raw, UnsetType):
        return Block()
    try:
        return _block(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(f"a content block has an unknown shape: {error}") from None


def decode_blocks(raw: Raw) -> list[Raw]:
    """The blocks of a whole answer."""
    try:
        return _blocks(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(f"the content has an unknown shape: {error}") from None
