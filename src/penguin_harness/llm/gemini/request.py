"""Payloads to the body of a request. Request n+1 begins, byte for byte, with the contents of request n.

Each text and each image of the user is a content of its own and stays one; the vendor takes several in a row. What the
model said until it was answered is one content, as the vendor sent it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from penguin_harness.contracts import Request
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gemini.generation import thinking_config
from penguin_harness.llm.gemini.names import sent
from penguin_harness.llm.gemini.outputs import response_parts
from penguin_harness.llm.gemini.parts import Part, Wire, model_parts, user_part
from penguin_harness.llm.limits import output_limit
from penguin_harness.llm.schemas import GEMINI, adapted
from penguin_harness.llm.wire import Encoded
from penguin_harness.omnimessage import CompletePayload, ToolCallOutput, ToolSchema

_encode = msgspec.json.Encoder().encode


def body(request: Request, encoded: Encoded, endpoint: Endpoint) -> bytes:
    """The whole body. What changes from request to request stands behind the contents."""
    head: list[bytes] = []
    if encoded.tools is not None:
        head.append(b'"tools":[{"functionDeclarations":' + encoded.tools + b"}]")
    if request.system_prompt.strip():
        head.append(b'"systemInstruction":' + _encode({"parts": [{"text": request.system_prompt}]}))
    head.append(b'"contents":[')
    tail = _encode(_tail(request, endpoint))
    closing = b"]" if tail == b"{}" else b"],"
    return b"".join((b"{", b",".join(head), encoded.messages, closing, tail[1:]))


def _tail(request: Request, endpoint: Endpoint) -> Wire:
    tail: Wire = {}
    if request.tools and (choice := request.tool_choice) not in (None, "auto"):
        modes: dict[str | None, Wire] = {"none": {"mode": "NONE"}, "required": {"mode": "ANY"}}
        chosen = modes.get(choice) or {"mode": "ANY", "allowedFunctionNames": [sent(choice or "")]}
        tail["toolConfig"] = {"functionCallingConfig": chosen}
    generation: Wire = {}
    if (limit := output_limit(request, endpoint)) is not None:
        generation["maxOutputTokens"] = limit
    level = request.thinking_level if endpoint.quirks.thinking else None
    if level is not None and (thinking := thinking_config(level, endpoint)):
        generation["thinkingConfig"] = thinking
    return tail | ({"generationConfig": generation} if generation else {})


def tools(schemas: Sequence[ToolSchema], endpoint: Endpoint) -> bytes:
    """The functions as the model is told of them."""
    return _encode([_declaration(schema) for schema in schemas])


def _declaration(schema: ToolSchema) -> Wire:
    """The vendor demands a description. Under this name it takes JSON Schema, not only a part of OpenAPI's."""
    name = sent(schema.name)
    described = schema.description if schema.description.strip() else name
    return {"name": name, "description": described, "parametersJsonSchema": adapted(schema.parameters, GEMINI)}


def messages(run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[bytes]:
    """The encoded contents of what one side says; a response repeats the name of the call before it."""
    if run and run[0].role == "assistant":
        parts = model_parts(run, endpoint)
        said = [_content("model", parts)] if parts else []
    else:
        said = [_content("user", parts) for parts in _user_side(run, before, endpoint)]
    return map(_encode, said)


def _content(role: str, parts: Sequence[Part]) -> Wire:
    return {"role": role, "parts": parts}


def _user_side(
    run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint
) -> list[list[Wire]]:
    """All responses of a turn stand in the one content behind it."""
    outputs = [payload for payload in run if isinstance(payload, ToolCallOutput)]
    others = (payload for payload in run if not isinstance(payload, ToolCallOutput))
    contents = [parts for parts in response_parts(outputs, before, endpoint) if parts]
    contents += [[part] for payload in others if (part := user_part(payload, endpoint)) is not None]
    if endpoint.quirks.strict_roles and contents:
        return [[part for content in contents for part in content]]
    return contents
