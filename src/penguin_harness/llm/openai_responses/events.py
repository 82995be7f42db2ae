"""The events of an answer: a fast typed decoding, and a tolerant one for what does not fit it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.failure import malformed
from penguin_harness.llm.opacity import read
from penguin_harness.llm.tolerance import fitted, read_json
from penguin_harness.omnimessage.unicode import clean_json

DELTAS = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "function_call",
}
"""The events that stream, and the type of the item that each belongs to."""

ITEMS = frozenset(DELTAS.values())
"""The types of items that are read; all others come from tools of the vendor that are never offered."""

_FRAMES = ("response.output_item.added", "response.output_item.done")
_OPAQUE = frozenset({"item", "response", "output"})


class Event(Struct, gc=False):
    """One event. Everything is optional: heartbeats come in any shape."""

    type: str | None = None
    delta: str | None = None
    output_index: int | None = None
    item_id: str | None = None
    summary_index: int | None = None
    content_index: int | None = None
    item: Raw | UnsetType = UNSET
    response: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    """Of a whole answer, where the endpoint does not stream."""
    error: Any = None


class Item(Struct):
    """The members of an output item that are read."""

    type: str | None = None
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    summary: Raw | UnsetType = UNSET


class InputDetails(Struct):
    """A breakdown of the input's tokens."""

    cached_tokens: int | None = None


class Usage(Struct):
    """Token counts; a field that is absent or null says nothing."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: InputDetails | None = None


class Incomplete(Struct):
    """Why an answer is not whole."""

    reason: str | None = None


class Response(Struct):
    """The answer as a whole; its opaque members are read only as far as they make sense."""

    status: str | None = None
    usage: Raw | UnsetType = UNSET
    incomplete_details: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Kind(Struct):
    type: str | None = None


_event = msgspec.json.Decoder(Event).decode
_item = msgspec.json.Decoder(Item).decode
_kind = msgspec.json.Decoder(_Kind)
_response = msgspec.json.Decoder(Response)
_usage = msgspec.json.Decoder(Usage | None, strict=False)
_incomplete = msgspec.json.Decoder(Incomplete | None)
_list = msgspec.json.Decoder(list[Raw])
_string = msgspec.json.Decoder(str)


def decode(data: bytes) -> Event:
    """One event's data. Raises TransportError when it is no JSON, or a known event makes no sense."""
    try:
        return _event(data)
    except (msgspec.MsgspecError, RecursionError):
        fields = read_json(data)
    kind = fields.get("type")
    streams = isinstance(kind, str) and kind in DELTAS
    if not streams:  # an item stays byte for byte; of a delta, the next one may bring a character's other half
        with suppress(msgspec.MsgspecError, RecursionError):
            return _event(clean_json(data))
    try:
        return fitted(fields, Event, _OPAQUE)
    except msgspec.ValidationError as error:
        if streams or kind in _FRAMES:
            raise malformed(f"an event has an unknown shape: {error}") from None
        return Event(error=fields.get("error"))


def decode_item(raw: Raw) -> Item:
    """An output item; an empty one for any that is not read. Raises TransportError when it makes no sense."""
    text = clean_json(bytes(raw))
    label = read(Raw(text), _kind)
    if label is None or label.type not in ITEMS:
        return Item()
    try:
        return _item(text)
    except msgspec.MsgspecError as error:
        raise malformed(f"an output item has an unknown shape: {error}") from None


def decode_response(raw: Raw | UnsetType) -> Response:
    """The answer as a whole; an empty one where it makes no sense."""
    return read(raw, _response) or Response()


def decode_usage(response: Response) -> Usage:
    """The token counts of a response, as far as they can be read."""
    return read(response.usage, _usage) or Usage()


def reason_of(response: Response) -> str | None:
    """Why the response is not whole."""
    details = read(response.incomplete_details, _incomplete)
    return None if details is None else details.reason


def output_of(response: Response) -> list[Raw]:
    """The items of a whole response."""
    return read(response.output, _list) or []


def arguments_of(item: Item) -> str:
    """A call's arguments; servers that send an object mean its text."""
    if isinstance(item.arguments, UnsetType) or (given := bytes(item.arguments)) == b"null":
        return ""
    return read(item.arguments, _string) or "" if given.startswith(b'"') else given.decode()
