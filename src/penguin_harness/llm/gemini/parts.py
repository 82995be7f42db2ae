"""Payloads to the parts of a content."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, assert_never

from msgspec import UNSET, Raw

from penguin_harness.llm.arguments import object_json
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gemini.fidelity import SIGNATURE, PartFidelity, read_part
from penguin_harness.llm.gemini.generation import is_older
from penguin_harness.llm.gemini.names import sent
from penguin_harness.llm.images import data_of
from penguin_harness.llm.notes import NO_IMAGE, of_data
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)

Wire: TypeAlias = dict[str, Any]
Part: TypeAlias = Wire | Raw
"""A part of a content; raw where it goes back exactly as it came."""

UNSIGNED = "skip_thought_signature_validator"
"""The vendor's own word for a call that none of its models made: newer models refuse a step without a signature."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
DATA = IMAGES | frozenset({
    *("application/pdf", "text/plain", "text/html", "text/css", "text/csv", "text/xml", "text/rtf", "text/markdown"),
    *("audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"),
    *("video/mp4", "video/mpeg", "video/mov", "video/quicktime", "video/webm", "video/x-flv", "video/wmv"),
})  # fmt: skip
"""Types that the vendor takes: a single other one makes it refuse the request."""

_ALIASES = {"image/jpg": "image/jpeg"}


def model_parts(run: Sequence[CompletePayload], endpoint: Endpoint) -> list[Part]:
    """What the model said, part by part as it came; nothing when that is thoughts alone."""
    parts: list[Part] = []
    speaks = False
    for payload in run:
        for part in _model_part(payload, endpoint):
            parts.append(part)
            speaks = speaks or not isinstance(payload, Thinking | InlineThinking)
    if not is_older(endpoint):
        _sign_first_call(parts)
    return parts if speaks else []


def _sign_first_call(parts: Sequence[Part]) -> None:
    """Of each step the vendor looks for a signature at the first call only, and only in the current turn.

    A placeholder stays when the turn is over: taking it away would change what was sent before.
    """
    first = next((part for part in parts if isinstance(part, dict) and "functionCall" in part), None)
    if first is not None:
        first.setdefault(SIGNATURE, UNSIGNED)


def _model_part(payload: CompletePayload, endpoint: Endpoint) -> Iterator[Part]:
    match payload:
        case Text():
            yield from _said(payload.text, read_part(payload))
        case Thinking():
            own = read_part(payload)
            if own is not None and (SIGNATURE in own.part or _is_whole(payload)):
                yield {"text": payload.thinking, "thought": True, **own.part}
        case ToolCall():
            own = read_part(payload) or PartFidelity({})
            call = {**own.content, "name": sent(payload.name), "args": object_json(payload.arguments)}
            yield {"functionCall": call, **own.part}
        case InlineData():
            yield _made(payload, endpoint)
        case InlineThinking():
            if (own := read_part(payload)) is not None:
                yield {"inlineData": _blob(payload, own), "thought": True, **own.part}
        case ToolCallOutput() | ImageUrl():
            raise TypeError(f"{payload.type} cannot be the assistant's")
        case _:
            assert_never(payload)


def _is_whole(payload: Thinking) -> bool:
    """Whether thinking that no signature vouches for can be sent: it streams, so it may have broken off."""
    return payload.stop_reason == "completed" and bool(payload.thinking.strip())


def _said(text: str, own: PartFidelity | None) -> Iterator[Part]:
    own = own or PartFidelity({})
    if own.whole is not UNSET:
        yield own.whole
        return
    if text.strip() or SIGNATURE in own.part:
        yield {"text": text, **own.part}
    if own.after:
        yield {"text": "", **own.after}


def _made(payload: InlineData, endpoint: Endpoint) -> Wire:
    """Data that the model made; in another model's words only a note of it can be sent."""
    own = read_part(payload)
    if own is None:
        return text_part(of_data(payload))
    if payload.mime_type.startswith("image/") and not endpoint.quirks.images:
        return text_part(NO_IMAGE)
    return {"inlineData": _blob(payload, own), **own.part}


def _blob(payload: InlineData | InlineThinking, own: PartFidelity) -> Wire:
    return {**own.content, "mimeType": payload.mime_type, "data": payload.data}


def user_part(payload: CompletePayload, endpoint: Endpoint) -> Wire | None:
    """What the user says or shows; None for a blank text."""
    match payload:
        case Text():
            return text_part(payload.text) if payload.text.strip() else None
        case ImageUrl():
            return image_part(payload.image_url) if endpoint.quirks.images else text_part(NO_IMAGE)
        case InlineData():
            if payload.mime_type.startswith("image/") and not endpoint.quirks.images:
                return text_part(NO_IMAGE)
            return data_part(payload)
        case Thinking() | InlineThinking() | ToolCall() | ToolCallOutput():
            raise TypeError(f"{payload.type} cannot be the user's")
        case _:
            assert_never(payload)


def image_part(url: str) -> Wire:
    """An image by its data, or by an address from which the vendor fetches it."""
    if (data := data_of(url)) is not None:
        mime_type, encoded = data
        return data_part(InlineData("user", encoded, mime_type))
    guess = mimetypes.guess_type(url.partition("?")[0])[0]
    return {"fileData": {"mimeType": guess if guess in IMAGES else "image/jpeg", "fileUri": url}}


def data_part(payload: InlineData) -> Wire:
    """Binary content, or a note of it where the vendor does not take its type."""
    mime_type = _ALIASES.get(payload.mime_type, payload.mime_type)
    if mime_type not in DATA:
        return text_part(of_data(payload))
    return {"inlineData": {"mimeType": mime_type, "data": payload.data}}


def text_part(text: str) -> Wire:
    """Text of the user or of the harness."""
    return {"text": text}
