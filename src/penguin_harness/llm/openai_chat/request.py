"""Payloads to the body of a request. Request n+1 begins, byte for byte, with the messages of request n.

Each text and each image of the user is a message of its own and stays one: merging neighbours would change bytes that
were sent before. Chat templates that refuse two user messages in a row therefore need a server that merges them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, Literal, TypeAlias, assert_never

import msgspec
from msgspec import Raw, Struct, UnsetType

from penguin_harness.contracts import Request, ThinkingLevel
from penguin_harness.llm.endpoint import MaxTokensField
from penguin_harness.llm.ids import provider_id
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    ToolSchema,
)
from penguin_harness.omnimessage.unicode import clean_json

Wire: TypeAlias = dict[str, Any]
"""One JSON object of the request."""

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put the reasoning text, and the only names under which it is sent back."""

NO_OUTPUT = "[no output]"
EFFORT: dict[ThinkingLevel, str] = {"low": "low", "medium": "medium", "high": "high", "max": "high"}
"""`reasoning_effort` for a thinking level; `none` sends nothing, because models that cannot think refuse the field."""

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')
_encode = msgspec.json.Encoder().encode
_object = msgspec.json.Decoder(dict[str, Raw])


class ThinkingFidelity(Struct, omit_defaults=True):
    """What a thinking segment must remember of its wire form."""

    reasoning_field: str | None = None
    reasoning_details: list[Raw] | None = None
    """OpenRouter's structured form, with signatures and encrypted parts."""


class CallFidelity(Struct):
    """What a call must remember of its wire form."""

    extra_content: Raw
    """Where Gemini's endpoint keeps the call's thought signature."""


_thinking_fidelity = msgspec.json.Decoder(ThinkingFidelity)
_call_fidelity = msgspec.json.Decoder(CallFidelity)


def body(request: Request, model_id: str, messages: Sequence[bytes], max_tokens_field: MaxTokensField) -> bytes:
    """The whole body. What changes from request to request stands behind the messages."""
    tail: Wire = {}
    if request.max_output_tokens is not None:
        tail[max_tokens_field] = request.max_output_tokens
    if request.thinking_level is not None and request.thinking_level in EFFORT:
        tail["reasoning_effort"] = EFFORT[request.thinking_level]
    closing = b"]," + _encode(tail)[1:] if tail else b"]}"
    if request.system_prompt.strip():
        messages = (_encode({"role": "system", "content": request.system_prompt}), *messages)
    return b"".join((_head(model_id, request.tools), b",".join(messages), closing))


def _head(model_id: str, tools: Sequence[ToolSchema]) -> bytes:
    head: Wire = {"model": model_id, "stream": True, "stream_options": {"include_usage": True}}
    if tools:
        head["tools"] = [tool(schema) for schema in tools]
    return _encode(head)[:-1] + b',"messages":['


def tool(schema: ToolSchema) -> Wire:
    """A tool as the model is told of it; its JSON Schema byte for byte."""
    parameters = _NO_PARAMETERS if isinstance(schema.parameters, UnsetType) else schema.parameters
    function: Wire = {"name": schema.name, "description": schema.description, "parameters": parameters}
    return {"type": "function", "function": function}


class MessageCache:
    """The wire form of one growing conversation: what was encoded for the last request is not encoded again."""

    def __init__(self) -> None:
        self._settled: tuple[CompletePayload, ...] = ()
        self._encoded = b""  # the messages of what is settled, joined

    def encode(self, payloads: Sequence[CompletePayload]) -> list[bytes]:
        """The conversation as encoded messages, in pieces that are joined by commas."""
        payloads = tuple(payloads)
        if not self._is_settled_in(payloads):
            self._settled, self._encoded = (), b""
        runs = [list(run) for _, run in groupby(payloads[len(self._settled) :], _speaker)]
        last = runs.pop() if runs else []  # it may grow, and with it its last message
        if runs:
            self._encoded = b",".join(_pieces(self._encoded, *runs))
            self._settled = payloads[: len(payloads) - len(last)]
        return list(_pieces(self._encoded, last))

    def _is_settled_in(self, payloads: tuple[CompletePayload, ...]) -> bool:
        settled = self._settled
        size = len(settled)
        if payloads[:size] != settled:
            return False
        return size in {0, len(payloads)} or _speaker(payloads[size]) != _speaker(payloads[size - 1])


def _pieces(encoded: bytes, *runs: Sequence[CompletePayload]) -> Iterator[bytes]:
    if encoded:
        yield encoded
    for run in runs:
        yield from map(_encode, messages_of(run))


def messages_of(payloads: Sequence[CompletePayload]) -> Iterator[Wire]:
    """The wire messages of any payloads."""
    for speaker, run in groupby(payloads, _speaker):
        match speaker:
            case "assistant":
                yield from _assistant(run)
            case "tool":
                yield from _outputs([payload for payload in run if isinstance(payload, ToolCallOutput)])
            case "user":
                for payload in run:
                    yield from _user(payload)


def _speaker(payload: CompletePayload) -> Literal["assistant", "tool", "user"]:
    return "tool" if isinstance(payload, ToolCallOutput) else payload.role


def _assistant(run: Iterator[CompletePayload]) -> Iterator[Wire]:
    text, reasoning, calls = "", dict[str, Any](), list[Wire]()
    for payload in run:
        match payload:
            case Text():
                text += payload.text
            case Thinking():
                _add_reasoning(reasoning, payload)
            case ToolCall():
                calls.append(_call(payload))
            case InlineData():
                text += _note(payload)
            case InlineThinking():
                pass  # has no place in this protocol, as all thinking whose field is not on record
            case ToolCallOutput() | ImageUrl():
                raise TypeError(f"{payload.type} cannot be the assistant's")
            case _:
                assert_never(payload)
    spoken = bool(text.strip())
    if not spoken and not calls:
        return
    message: Wire = {"role": "assistant", "content": text if spoken else None, **reasoning}
    if calls:
        message["tool_calls"] = calls
    yield message


def _add_reasoning(reasoning: Wire, payload: Thinking) -> None:
    if payload.stop_reason != "completed" or isinstance(payload.fidelity, UnsetType):
        return
    try:
        fidelity = _thinking_fidelity.decode(payload.fidelity)
    except msgspec.MsgspecError:
        return  # recorded by another protocol's adapter
    if fidelity.reasoning_details:
        reasoning.setdefault("reasoning_details", []).extend(fidelity.reasoning_details)
    if (field := fidelity.reasoning_field) in REASONING_FIELDS and payload.thinking.strip():
        reasoning[field] = reasoning.get(field, "") + payload.thinking


def _call(payload: ToolCall) -> Wire:
    name = _NOT_IN_NAMES.sub("_", payload.name)[:64] or "unknown"  # a name that was made up must not block the session
    function = {"name": name, "arguments": _arguments(payload.arguments)}
    call: Wire = {"id": provider_id(payload.tool_call_id), "type": "function", "function": function}
    if not isinstance(payload.fidelity, UnsetType):
        with suppress(msgspec.MsgspecError):  # recorded by another protocol's adapter
            call["extra_content"] = _call_fidelity.decode(payload.fidelity).extra_content
    return call


def _arguments(arguments: str) -> str:
    """What the model wrote, or `{}` where that is no JSON object.

    Many servers parse the arguments of earlier calls and refuse the whole request over a bad one. The output of such a
    call tells the model what was wrong with it.
    """
    cleaned = clean_json(arguments.encode()).decode()
    try:
        _object.decode(cleaned)
    except (msgspec.MsgspecError, RecursionError):
        return "{}"
    return cleaned


def _outputs(outputs: Sequence[ToolCallOutput]) -> Iterator[Wire]:
    for payload in outputs:
        content = payload.output if payload.output.strip() else NO_OUTPUT
        yield {"role": "tool", "tool_call_id": provider_id(payload.tool_call_id), "content": content}
    # Only text may stand in a tool message, and nothing may stand between the messages of one batch.
    if images := [_image(url) for payload in outputs for url in payload.images or ()]:
        yield {"role": "user", "content": images}


def _user(payload: CompletePayload) -> Iterator[Wire]:
    match payload:
        case Text():
            if payload.text.strip():
                yield {"role": "user", "content": payload.text}
        case ImageUrl():
            yield {"role": "user", "content": [_image(payload.image_url)]}
        case InlineData() if payload.mime_type.startswith("image/"):
            yield {"role": "user", "content": [_image(f"data:{payload.mime_type};base64,{payload.data}")]}
        case InlineData():
            yield {"role": "user", "content": _note(payload)}
        case Thinking() | InlineThinking() | ToolCall() | ToolCallOutput():
            raise TypeError(f"{payload.type} cannot be the user's")
        case _:
            assert_never(payload)


def _image(url: str) -> Wire:
    return {"type": "image_url", "image_url": {"url": url}}


def _note(payload: InlineData) -> str:
    return f"[{payload.mime_type} data, {len(payload.data) * 3 // 4} bytes, cannot be shown here]"
