"""The events of an answer: a fast typed decoding, and a tolerant one for what does not fit it."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.failure import malformed
from penguin_harness.llm.tolerance import as_raw, fitted, read_json, with_raw


class Function(Struct, gc=False):
    """The part of a call that the model writes."""

    name: str | None = None
    arguments: str | None = None


class Call(Struct, gc=False):
    """A fragment of a call, as the provider labels it."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: Raw | UnsetType = UNSET


class Delta(Struct, gc=False):
    """What a choice adds."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    reasoning_details: Raw | UnsetType = UNSET


class PromptDetails(Struct, gc=False):
    """A breakdown of the prompt's tokens."""

    cached_tokens: int | None = None


class Usage(Struct, gc=False):
    """Token counts; a field that is absent or null says nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    prompt_cache_hit_tokens: int | None = None


class Choice(Struct, gc=False):
    """One alternative; never more than one is asked for."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


class Chunk(Struct, gc=False):
    """One event. Everything is optional: heartbeats come in any shape."""

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None


_OPAQUE = frozenset({"reasoning_details", "extra_content"})
_decode = msgspec.json.Decoder(Chunk).decode


def decode(data: bytes) -> Chunk:
    """One event's data. Raises TransportError when it is no JSON, or a choice makes no sense."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return _decode_tolerantly(data)


def _decode_tolerantly(data: bytes) -> Chunk:
    fields = read_json(data)
    try:
        return fitted(fields, Chunk, _OPAQUE)
    except msgspec.ValidationError:
        return _mended(fields)


def _mended(fields: dict[str, Any]) -> Chunk:
    choices: object = fields.get("choices")
    usage, error = _usage(fields.get("usage")), fields.get("error")
    if not isinstance(choices, list) or not choices:
        return Chunk(None, usage, error)
    choice: object = cast(list[object], choices)[0]
    if isinstance(choice, dict):
        choice = _mend_choice(cast(dict[str, Any], choice))
    try:
        return Chunk([msgspec.convert(with_raw(choice, _OPAQUE), Choice, strict=False)], usage, error)
    except msgspec.ValidationError as invalid:
        raise malformed(f"an event has an unknown shape: {invalid}") from None


def _mend_choice(choice: dict[str, Any]) -> dict[str, Any]:
    """Content as a list of parts becomes text, arguments as an object become a string."""
    mended = choice | {"usage": None}
    for name in ("delta", "message"):
        if isinstance(delta := choice.get(name), dict):
            mended[name] = _mend_delta(cast(dict[str, Any], delta))
    if not isinstance(mended.get("finish_reason"), str | None):
        mended["finish_reason"] = str(mended["finish_reason"])
    return mended


def _mend_delta(delta: dict[str, Any]) -> dict[str, Any]:
    mended = {name: value for name, value in delta.items() if name != "reasoning_details"}
    if isinstance(parts := delta.get("content"), list):
        texts = (cast(dict[str, Any], part).get("text") for part in cast(list[Any], parts) if isinstance(part, dict))
        mended["content"] = "".join(text for text in texts if isinstance(text, str))
    if isinstance(calls := delta.get("tool_calls"), list):
        mended["tool_calls"] = [_mend_call(call) for call in cast(list[object], calls)]
    return mended


def _mend_call(call: object) -> object:
    match call:
        case {"function": {"arguments": dict() | list()}}:
            mended = cast(dict[str, dict[str, Any]], call)
            arguments = bytes(as_raw(mended["function"]["arguments"])).decode()
            return mended | {"function": mended["function"] | {"arguments": arguments}}
        case _:
            return call


def _usage(value: object) -> Usage | None:
    try:
        return msgspec.convert(value, Usage | None, strict=False)
    except msgspec.ValidationError:
        return None
