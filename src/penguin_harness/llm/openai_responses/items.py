"""Payloads to input items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from penguin_harness.llm.arguments import object_text
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.ids import fitting_id, fitting_name
from penguin_harness.llm.notes import NO_IMAGE, of_data, output_text
from penguin_harness.llm.openai_responses.fidelity import read_call, read_message, read_reasoning
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    is_blank,
)

Wire: TypeAlias = dict[str, Any]

_UNFIT = re.compile(r"[^!-~]")
_UNFIT_OR_NUMBERED = re.compile(r"[^!-~]|#\d+\Z")
"""Also a number that made the id unique: what goes out in its place is no id that a provider gives."""
_LONGEST_ID = 64


def call_id(tool_call_id: str) -> str:
    """The id as this protocol takes it: ids are unique in a request, and the first of its kind is the provider's."""
    if tool_call_id.endswith("#1"):
        return fitting_id(tool_call_id.removesuffix("#1"), _UNFIT, _LONGEST_ID)
    return fitting_id(tool_call_id, _UNFIT_OR_NUMBERED, _LONGEST_ID)


def assistant_items(run: Sequence[CompletePayload], endpoint: Endpoint) -> list[Wire]:
    """What the model said, in its order; reasoning that led to nothing is refused."""
    items: list[Wire] = []
    length = 0
    for payload in run:
        if (item := _assistant_item(payload, endpoint)) is not None:
            items.append(item)
            length = length if isinstance(payload, Thinking) else len(items)
    return items[:length]


def _assistant_item(payload: CompletePayload, endpoint: Endpoint) -> Wire | None:
    match payload:
        case Text():
            return None if is_blank(payload.text) else _said(payload.text) | _kept(payload)
        case Thinking():
            return _reasoning(payload, endpoint)
        case ToolCall(name=name, arguments=arguments, tool_call_id=its_id):
            called = {"call_id": call_id(its_id), "name": fitting_name(name), "arguments": object_text(arguments)}
            return {"type": "function_call", **called, **read_call(payload)}
        case InlineData():
            return _said(of_data(payload))
        case InlineThinking():
            return None  # has no place in this protocol
        case ToolCallOutput() | ImageUrl():
            raise TypeError(f"{payload.type} cannot be the assistant's")
        case _:
            assert_never(payload)


def _said(text: str) -> Wire:
    """With all that servers demand which check an item against the vendor's own types, but for an id."""
    part: Wire = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


def _kept(payload: Text) -> Wire:
    return dict(read_message(payload)) if payload.stop_reason == "completed" else {}


def _reasoning(payload: Thinking, endpoint: Endpoint) -> Wire | None:
    if payload.stop_reason != "completed" or endpoint.quirks.reasoning == "never":
        return None
    members = read_reasoning(payload)
    return None if members is None else {"type": "reasoning", "summary": [], **members}


def output_item(payload: ToolCallOutput, endpoint: Endpoint) -> Wire:
    """The result of a call; its images stand inside it."""
    text = output_text(payload, images=endpoint.quirks.images)
    output: str | list[Wire] = text
    if payload.images and endpoint.quirks.images:
        output = [_text(text), *(_image(url) for url in payload.images)]
    return {"type": "function_call_output", "call_id": call_id(payload.tool_call_id), "output": output}


def user_part(payload: CompletePayload, endpoint: Endpoint) -> Wire | None:
    """What the user says or shows; None for a blank text."""
    match payload:
        case Text():
            return None if is_blank(payload.text) else _text(payload.text)
        case ImageUrl():
            return _image(payload.image_url) if endpoint.quirks.images else _text(NO_IMAGE)
        case InlineData() if payload.mime_type.startswith("image/"):
            return _image(_data_url(payload)) if endpoint.quirks.images else _text(NO_IMAGE)
        case InlineData(mime_type="application/pdf"):
            return {"type": "input_file", "filename": "document.pdf", "file_data": _data_url(payload)}
        case InlineData():
            return _text(of_data(payload))
        case Thinking() | InlineThinking() | ToolCall() | ToolCallOutput():
            raise TypeError(f"{payload.type} cannot be the user's")
        case _:
            assert_never(payload)


def _data_url(payload: InlineData) -> str:
    return f"data:{payload.mime_type};base64,{payload.data}"


def _text(text: str) -> Wire:
    return {"type": "input_text", "text": text}


def _image(url: str) -> Wire:
    return {"type": "input_image", "image_url": url, "detail": "auto"}
