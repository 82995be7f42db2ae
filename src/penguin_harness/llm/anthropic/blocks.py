"""Payloads to content blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from msgspec import UNSET, Raw

from penguin_harness.llm.anthropic.fidelity import read_block, read_thinking
from penguin_harness.llm.arguments import object_json
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.ids import fitting_id, fitting_name
from penguin_harness.llm.images import data_of
from penguin_harness.llm.notes import NO_IMAGE, of_data, output_text
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
Block: TypeAlias = Wire | Raw
"""A content block; raw where it goes back exactly as it came."""

_UNFIT_ID = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_ID = 64


def call_id(tool_call_id: str) -> str:
    """The id as this protocol takes it: ids are unique in a request."""
    return fitting_id(tool_call_id, _UNFIT_ID, _LONGEST_ID)


def assistant_blocks(run: Sequence[CompletePayload]) -> list[Block]:
    """What the model said, in its order; a message does not end in thinking."""
    blocks: list[Block] = []
    length = 0
    for payload in run:
        if (block := _assistant_block(payload)) is not None:
            blocks.append(block)
            length = length if isinstance(payload, Thinking) else len(blocks)
    return blocks[:length]


def _assistant_block(payload: CompletePayload) -> Block | None:
    match payload:
        case Text():
            return {"type": "text", "text": payload.text, **read_block(payload)} if payload.text.strip() else None
        case Thinking():
            return _thinking(payload)
        case ToolCall(name=name, arguments=arguments, tool_call_id=its_id):
            called = {"id": call_id(its_id), "name": fitting_name(name), "input": object_json(arguments)}
            return {"type": "tool_use", **called, **read_block(payload)}
        case InlineData():
            return _text(of_data(payload))
        case InlineThinking():
            return None  # has no place in this protocol
        case ToolCallOutput() | ImageUrl():
            raise TypeError(f"{payload.type} cannot be the assistant's")
        case _:
            assert_never(payload)


def _thinking(payload: Thinking) -> Block | None:
    fidelity = read_thinking(payload) if payload.stop_reason == "completed" else None
    if fidelity is None:
        return None
    if fidelity.redacted_thinking is not UNSET:
        return fidelity.redacted_thinking
    block: Wire = {"type": "thinking", "thinking": payload.thinking}
    if fidelity.signature is not UNSET:
        block["signature"] = fidelity.signature
    return block if fidelity.block is UNSET else block | fidelity.block


def output_block(payload: ToolCallOutput, endpoint: Endpoint) -> Wire:
    """The result of a call; its images stand inside it, which the vendor allows to those without an error only."""
    failed = payload.stop_reason != "completed"
    shown = endpoint.quirks.images and not failed
    text = output_text(payload, images=shown or not payload.images)
    content: str | list[Wire] = text
    if payload.images and shown:
        content = [_text(text), *(_image(url) for url in payload.images)]
    block: Wire = {"type": "tool_result", "tool_use_id": call_id(payload.tool_call_id), "content": content}
    return block | {"is_error": True} if failed else block


def user_block(payload: CompletePayload, endpoint: Endpoint) -> Wire | None:
    """What the user says or shows; None for a blank text."""
    match payload:
        case Text():
            return _text(payload.text) if payload.text.strip() else None
        case ImageUrl():
            return _image(payload.image_url) if endpoint.quirks.images else _text(NO_IMAGE)
        case InlineData() if payload.mime_type.startswith("image/"):
            url = f"data:{payload.mime_type};base64,{payload.data}"
            return _image(url) if endpoint.quirks.images else _text(NO_IMAGE)
        case InlineData(mime_type="application/pdf"):
            source = {"type": "base64", "media_type": payload.mime_type, "data": payload.data}
            return {"type": "document", "source": source}
        case InlineData():
            return _text(of_data(payload))
        case Thinking() | InlineThinking() | ToolCall() | ToolCallOutput():
            raise TypeError(f"{payload.type} cannot be the user's")
        case _:
            assert_never(payload)


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _image(url: str) -> Wire:
    data = data_of(url)
    if data is None:
        return {"type": "image", "source": {"type": "url", "url": url}}
    media_type, encoded = data
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}
