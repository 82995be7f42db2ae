"""Outputs of calls to function responses.

A response repeats the name of its call, and the id if the call had one, but what one side says is encoded by itself and
an output knows only the call's id in the Trace. So a response is first encoded with a gap, which is filled when the
whole request is at hand. NUL marks it: no JSON text contains that byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gemini.fidelity import read_part
from penguin_harness.llm.gemini.generation import is_older
from penguin_harness.llm.gemini.names import sent
from penguin_harness.llm.gemini.parts import Wire, image_part
from penguin_harness.llm.notes import output_text
from penguin_harness.omnimessage import CompletePayload, ToolCall, ToolCallOutput

NESTED = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Images that newer models take inside a function response."""

_GAP = re.compile(rb"\0([^\0]*)\0")
_encode = msgspec.json.Encoder().encode
_id = msgspec.json.Decoder(str).decode


def response_parts(outputs: Sequence[ToolCallOutput], endpoint: Endpoint) -> tuple[list[Wire], list[Wire]]:
    """One response for each output, and the images that have no place inside of them."""
    responses: list[Wire] = []
    beside: list[Wire] = []
    for payload in outputs:
        images = [image_part(url) for url in payload.images or ()] if endpoint.quirks.images else []
        inside = [] if is_older(endpoint) else [image for image in images if _fits_inside(image)]
        beside += [image for image in images if image not in inside]
        responses.append(_response(payload, inside, endpoint))
    return responses, beside


def named(messages: bytes, payloads: Sequence[CompletePayload]) -> bytes:
    """The encoded contents with each gap filled: the name of the call that is answered, and its id on the wire."""
    if b"\0" not in messages:
        return messages
    calls = {payload.tool_call_id: payload for payload in payloads if isinstance(payload, ToolCall)}
    return _GAP.sub(lambda gap: _label(calls.get(_id(gap[1]))), messages)


def _response(payload: ToolCallOutput, images: list[Wire], endpoint: Endpoint) -> Wire:
    gap = Raw(b"\0" + _encode(payload.tool_call_id) + b"\0")
    key = "output" if payload.stop_reason == "completed" else "error"
    response: Wire = {"name": gap, "response": {key: output_text(payload, images=endpoint.quirks.images)}}
    return {"functionResponse": response | ({"parts": images} if images else {})}


def _label(call: ToolCall | None) -> bytes:
    own = read_part(call) if call is not None else None
    name = _encode(sent(call.name if call is not None else ""))
    its_id = own.content.get("id") if own is not None else None
    return name if its_id is None else name + b',"id":' + bytes(its_id)


def _fits_inside(image: Wire) -> bool:
    return image.get("inlineData", {}).get("mimeType") in NESTED
