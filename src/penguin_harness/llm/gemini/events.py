"""The events of an answer: a fast typed decoding for plain text, an exact one for all other parts, a tolerant one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from penguin_harness.llm.failure import malformed
from penguin_harness.llm.tolerance import read_json, with_raw

P = TypeVar("P")

Members: TypeAlias = dict[str, Raw]
NULL = Raw(b"null")


class Plain(Struct, forbid_unknown_fields=True, gc=False):
    """A part that is text and nothing else: nearly all are."""

    text: str = ""
    thought: bool = False


class Part(Struct):
    """Any other part."""

    text: str | None
    members: Members
    """All but the text, nulls aside."""


class Usage(Struct, rename="camel", gc=False):
    """Token counts so far; a field that is absent or null says nothing."""

    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class Feedback(Struct, rename="camel"):
    """Why there is no answer to this prompt."""

    block_reason: str | None = None
    block_reason_message: str | None = None


class Content(Struct, Generic[P], gc=False):
    """The parts that a chunk adds."""

    parts: list[P] | None = None


class Candidate(Struct, Generic[P], rename="camel", gc=False):
    """One alternative; never more than one is asked for."""

    content: Content[P] | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class Chunk(Struct, Generic[P], rename="camel", gc=False):
    """One event, or a whole answer. Everything is optional: heartbeats come in any shape."""

    candidates: list[Candidate[P]] | None = None
    usage_metadata: Usage | None = None
    prompt_feedback: Feedback | None = None
    error: Any = None


_plain = msgspec.json.Decoder(Chunk[Plain]).decode
_exact = msgspec.json.Decoder(Chunk[Members]).decode
_members = msgspec.json.Decoder(Members).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_text = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


def decode(data: bytes) -> Chunk[Plain] | Chunk[Part]:
    """One event's data. Raises TransportError when it is no JSON."""
    try:
        return _plain(data)
    except (msgspec.MsgspecError, RecursionError):
        data = _utf8(data)
    try:
        chunk = _exact(data)
    except (msgspec.MsgspecError, RecursionError):
        return _tolerant(read_json(data))
    candidate = chunk.candidates[0] if chunk.candidates else Candidate[Members]()
    parts = candidate.content.parts if candidate.content is not None else None
    found = [_part(text_of(members.pop("text", None)), members) for members in parts or ()]
    return _chunk(found, candidate.finish_reason, candidate.finish_message, chunk)


def items_of(data: bytes) -> list[bytes]:
    """The answer of an endpoint that does not know `alt=sse`: its chunks in one list."""
    try:
        return [bytes(item) for item in _items(data)]
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(f"an event is no JSON ({error}): {data[:200].decode(errors='replace')}") from None


def members_of(value: Raw) -> Members | None:
    """The members of an object, nulls aside; None for any other value."""
    try:
        members = _members(value)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return {name: member for name, member in members.items() if member != NULL}


def text_of(value: Raw | None) -> str | None:
    """A string; None for any other value."""
    try:
        return None if value is None else _text(value)
    except msgspec.MsgspecError:
        return None


def _utf8(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data


def _part(text: str | None, members: Members) -> Part:
    return Part(text, {name: member for name, member in members.items() if member != NULL})


def _chunk(parts: list[Part], reason: str | None, message: str | None, frame: Chunk[Any]) -> Chunk[Part]:
    candidate = Candidate(Content(parts), reason, message)
    return Chunk([candidate], frame.usage_metadata, frame.prompt_feedback, frame.error)


def _tolerant(fields: dict[str, Any]) -> Chunk[Part]:
    """What can be made out of an event with half characters, or of an unknown shape."""
    candidate = next(_objects(fields.get("candidates")), dict[str, Any]())
    content: object = candidate.get("content")
    parts = cast(dict[str, object], content).get("parts") if isinstance(content, dict) else None
    reason, message = candidate.get("finishReason"), candidate.get("finishMessage")
    usage, feedback = _shaped(fields.get("usageMetadata"), Usage), _shaped(fields.get("promptFeedback"), Feedback)
    frame = Chunk[Any](None, usage, feedback, fields.get("error"))
    found = [_loose_part(part) for part in _objects(parts)]
    return _chunk(found, str(reason) if reason else None, message if isinstance(message, str) else None, frame)


def _loose_part(part: dict[str, Any]) -> Part:
    text = part.pop("text", None)
    raw = _encode(with_raw(part, part.keys()))
    try:
        members = _members(raw)
    except (msgspec.MsgspecError, RecursionError) as error:  # numbers that are none, which Python reads
        raise malformed(f"an event is no JSON ({error}): {raw[:200].decode(errors='replace')}") from None
    return _part(text if isinstance(text, str) else None, members)


def _shaped(value: object, kind: type[P]) -> P | None:
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        return None


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    for item in cast(list[object], value) if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield cast(dict[str, Any], item)
