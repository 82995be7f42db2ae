"""Opaque provider data on its way into `fidelity` and out again: never parsed further than needed, byte for byte."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from penguin_harness.omnimessage import CompletePayload, InlineData, InlineThinking, Text, Thinking, ToolCall, opaque

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


def read(fidelity: Raw | UnsetType, decoder: msgspec.json.Decoder[T]) -> T | None:
    """The fidelity in this shape; None where there is none, or another protocol's adapter recorded it."""
    if isinstance(fidelity, UnsetType):
        return None
    try:
        return decoder.decode(fidelity)
    except (msgspec.MsgspecError, RecursionError):
        return None


def written(value: Any) -> Raw:
    """A struct, or a dict with raw members, as fidelity."""
    return opaque(_encode(value))


def is_signed(payload: CompletePayload) -> bool:
    """Whether the payload carries anything opaque."""
    match payload:
        case Text() | Thinking() | ToolCall() | InlineData() | InlineThinking():
            return payload.fidelity is not UNSET
        case _:
            return False


def unsigned(payload: CompletePayload) -> CompletePayload:
    """The payload without anything opaque."""
    match payload:
        case Text() | Thinking() | ToolCall() | InlineData() | InlineThinking():
            return replace(payload, fidelity=UNSET)
        case _:
            return payload
