"""Payloads to the body of a request. Request n+1 begins, byte for byte, with the messages of request n.

Each text and each image of the user is a message of its own and stays one: merging neighbours would change bytes that
were sent before. Only for endpoints whose chat template wants the two sides to take turns they are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, assert_never

import msgspec

from penguin_harness.contracts import Request, ThinkingLevel
from penguin_harness.llm.arguments import object_text
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.endpoint import Thinking as ThinkingControl
from penguin_harness.llm.ids import fitting_name, provider_id
from penguin_harness.llm.limits import output_limit
from penguin_harness.llm.notes import NO_IMAGE, of_data, output_text
from penguin_harness.llm.openai_chat.fidelity import REASONING_FIELDS, read_call, read_thinking
from penguin_harness.llm.schemas import OPENAI, adapted
from penguin_harness.llm.wire import Encoded
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

Wire: TypeAlias = dict[str, Any]
"""One JSON object of the request."""

UNRECORDED = "(No reasoning is on record for this step.)"
"""Stands in for reasoning where an endpoint demands some: of a time when thinking was off, or of an older file."""

EFFORT: dict[ThinkingLevel, str] = {"low": "low", "medium": "medium", "high": "high", "max": "high"}
"""`reasoning_effort` where nothing is known of the model; `none` sends nothing, as those that cannot think want it."""

_SWITCHES = frozenset({"enabled", "disabled", None})
_encode = msgspec.json.Encoder().encode


def body(request: Request, encoded: Encoded, endpoint: Endpoint) -> bytes:
    """The whole body. What changes from request to request stands behind the messages."""
    head: Wire = {"model": endpoint.ref.model_id, "stream": True}
    if endpoint.quirks.usage_option:
        head["stream_options"] = {"include_usage": True}
    system = b""
    if request.system_prompt.strip():
        system = _encode({"role": "system", "content": request.system_prompt})
    tools = b"" if encoded.tools is None else b',"tools":' + encoded.tools
    messages = b",".join(filter(None, (system, encoded.messages)))
    tail = _encode(_tail(request, endpoint))
    closing = b"]" if tail == b"{}" else b"],"
    return b"".join((_encode(head)[:-1], tools, b',"messages":[', messages, closing, tail[1:]))


def _tail(request: Request, endpoint: Endpoint) -> Wire:
    tail: Wire = {}
    if (limit := output_limit(request, endpoint)) is not None:
        tail[endpoint.quirks.max_tokens_field] = limit
    if request.tools and (choice := request.tool_choice) not in (None, "auto"):
        named = {"type": "function", "function": {"name": choice}}
        tail["tool_choice"] = choice if choice in ("none", "required") else named
    if request.thinking_level is not None and endpoint.quirks.thinking:
        tail |= _thinking(request.thinking_level, endpoint.thinking)
    return tail


def _thinking(level: ThinkingLevel, control: ThinkingControl) -> Wire:
    if control.kind == "switch":
        word = control.levels.get(level)
        switched: Wire = {"thinking": {"type": "disabled" if level == "none" else "enabled"}}
        return switched if word in _SWITCHES else switched | {"reasoning_effort": word}
    word = (EFFORT if control.kind is None else control.levels).get(level)
    return {"reasoning_effort": word} if isinstance(word, str) else {}


def tools(schemas: Sequence[ToolSchema], endpoint: Endpoint) -> bytes:
    """The tools as the model is told of them."""
    return _encode([_tool(schema) for schema in schemas])


def _tool(schema: ToolSchema) -> Wire:
    parameters = adapted(schema.parameters, OPENAI)
    function: Wire = {"name": schema.name, "description": schema.description, "parameters": parameters}
    return {"type": "function", "function": function}


def messages(run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[bytes]:
    """The encoded messages of what one side says."""
    said = _assistant(run, endpoint) if run and run[0].role == "assistant" else _user_side(run, endpoint)
    return map(_encode, said)


def _assistant(run: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[Wire]:
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
                text += of_data(payload)
            case InlineThinking():
                pass  # has no place in this protocol, as all thinking whose field is not on record
            case ToolCallOutput() | ImageUrl():
                raise TypeError(f"{payload.type} cannot be the assistant's")
            case _:
                assert_never(payload)
    spoken = bool(text.strip())
    if not spoken and not calls:
        return
    message: Wire = {"role": "assistant", "content": text if spoken else None}
    message |= _reasoning(reasoning, endpoint, calls=bool(calls))
    if calls:
        message["tool_calls"] = calls
    yield message


def _reasoning(recorded: Wire, endpoint: Endpoint, *, calls: bool) -> Wire:
    match endpoint.quirks.reasoning:
        case "never":
            return {}
        case "required" if calls and not any(field in recorded for field in REASONING_FIELDS):
            return {**recorded, REASONING_FIELDS[0]: UNRECORDED}
        case "required" | "sent":
            return recorded


def _add_reasoning(reasoning: Wire, payload: Thinking) -> None:
    fidelity = read_thinking(payload) if payload.stop_reason == "completed" else None
    if fidelity is None:
        return
    if fidelity.reasoning_details:
        reasoning.setdefault("reasoning_details", []).extend(fidelity.reasoning_details)
    if (field := fidelity.reasoning_field) in REASONING_FIELDS and payload.thinking.strip():
        reasoning[field] = reasoning.get(field, "") + payload.thinking


def _call(payload: ToolCall) -> Wire:
    function = {"name": fitting_name(payload.name), "arguments": object_text(payload.arguments)}
    call: Wire = {"id": provider_id(payload.tool_call_id), "type": "function", "function": function}
    if (fidelity := read_call(payload)) is not None:
        call["extra_content"] = fidelity.extra_content
    return call


def _user_side(run: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[Wire]:
    outputs = [payload for payload in run if isinstance(payload, ToolCallOutput)]
    yield from (_output(payload, endpoint) for payload in outputs)
    contents: list[list[Wire]] = []
    # Only text may stand in a tool message, and nothing may stand between the messages of one batch.
    if endpoint.quirks.images and (images := [_image(url) for payload in outputs for url in payload.images or ()]):
        contents.append(images)
    said = (payload for payload in run if not isinstance(payload, ToolCallOutput))
    contents += [[part] for payload in said if (part := _part(payload, endpoint)) is not None]
    if endpoint.quirks.strict_roles and contents:
        contents = [[part for content in contents for part in content]]
    yield from ({"role": "user", "content": _content(parts)} for parts in contents)


def _output(payload: ToolCallOutput, endpoint: Endpoint) -> Wire:
    content = output_text(payload, images=endpoint.quirks.images)
    return {"role": "tool", "tool_call_id": provider_id(payload.tool_call_id), "content": content}


def _content(parts: list[Wire]) -> str | list[Wire]:
    """Text alone goes as a string, which every server understands."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _part(payload: CompletePayload, endpoint: Endpoint) -> Wire | None:
    match payload:
        case Text():
            return _text(payload.text) if payload.text.strip() else None
        case ImageUrl():
            return _image(payload.image_url) if endpoint.quirks.images else _text(NO_IMAGE)
        case InlineData() if not payload.mime_type.startswith("image/"):
            return _text(of_data(payload))
        case InlineData():
            url = f"data:{payload.mime_type};base64,{payload.data}"
            return _image(url) if endpoint.quirks.images else _text(NO_IMAGE)
        case Thinking() | InlineThinking() | ToolCall() | ToolCallOutput():
            raise TypeError(f"{payload.type} cannot be the user's")
        case _:
            assert_never(payload)


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _image(url: str) -> Wire:
    return {"type": "image_url", "image_url": {"url": url}}
