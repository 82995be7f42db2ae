"""Outputs of calls to function responses: each repeats the name of its call, and the id if the call had one."""

from __future__ import annotations

from collections.abc import Sequence

from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gemini.fidelity import read_part
from penguin_harness.llm.gemini.generation import is_older
from penguin_harness.llm.gemini.names import sent
from penguin_harness.llm.gemini.parts import Wire, image_part
from penguin_harness.llm.notes import output_text
from penguin_harness.omnimessage import CompletePayload, ToolCall, ToolCallOutput

NESTED = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Images that newer models take inside a function response."""


def response_parts(
    outputs: Sequence[ToolCallOutput], before: Sequence[CompletePayload], endpoint: Endpoint
) -> tuple[list[Wire], list[Wire]]:
    """One response for each output, and the images that have no place inside of them."""
    calls = {payload.tool_call_id: payload for payload in before if isinstance(payload, ToolCall)}
    responses: list[Wire] = []
    beside: list[Wire] = []
    for payload in outputs:
        images = [image_part(url) for url in payload.images or ()] if endpoint.quirks.images else []
        inside = [] if is_older(endpoint) else [image for image in images if _fits_inside(image)]
        beside += [image for image in images if image not in inside]
        response = _label(calls.get(payload.tool_call_id)) | _response(payload, endpoint)
        responses.append({"functionResponse": response | ({"parts": inside} if inside else {})})
    return responses, beside


def _response(payload: ToolCallOutput, endpoint: Endpoint) -> Wire:
    key = "output" if payload.stop_reason == "completed" else "error"
    return {"response": {key: output_text(payload, images=endpoint.quirks.images)}}


def _label(call: ToolCall | None) -> Wire:
    if call is None:
        return {"name": sent("")}
    own = read_part(call)
    its_id = own.content.get("id") if own is not None else None
    return {"name": sent(call.name)} | ({} if its_id is None else {"id": its_id})


def _fits_inside(image: Wire) -> bool:
    return image.get("inlineData", {}).get("mimeType") in NESTED
