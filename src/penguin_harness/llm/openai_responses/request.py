"""Payloads to the body of a request. Request n+1 begins, byte for byte, with the items of request n.

No `prompt_cache_key` is sent: the vendor finds a conversation's cache by its first bytes, which system prompt and tools
make its own, and compatible servers refuse the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from penguin_harness.contracts import Request, ThinkingLevel
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.limits import LEAST, output_limit
from penguin_harness.llm.openai_responses.items import assistant_items, output_item, user_part
from penguin_harness.llm.schemas import OPENAI, adapted
from penguin_harness.llm.wire import Encoded
from penguin_harness.omnimessage import CompletePayload, ToolCallOutput, ToolSchema

Wire: TypeAlias = dict[str, Any]

EFFORTS: dict[ThinkingLevel, str] = {"low": "low", "medium": "medium", "high": "high", "max": "high"}
"""Where nothing is known of the model; `none` sends nothing, as those that cannot think want it."""

_encode = msgspec.json.Encoder().encode


def body(request: Request, encoded: Encoded, endpoint: Endpoint) -> bytes:
    """The whole body. What changes from request to request stands behind the items."""
    head: Wire = {"model": endpoint.ref.model_id, "stream": True, "store": False}
    if endpoint.thinking.kind != "none":
        head["include"] = ["reasoning.encrypted_content"]  # a model that cannot reason refuses it
    if request.system_prompt.strip():
        head["instructions"] = request.system_prompt
    tools = b"" if encoded.tools is None else b',"tools":' + encoded.tools
    tail = _encode(_tail(request, endpoint))
    closing = b"]" if tail == b"{}" else b"],"
    return b"".join((_encode(head)[:-1], tools, b',"input":[', encoded.messages, closing, tail[1:]))


def _tail(request: Request, endpoint: Endpoint) -> Wire:
    tail: Wire = {}
    if request.thinking_level is not None and endpoint.quirks.thinking:
        tail |= _thinking(request.thinking_level, endpoint)
    if (limit := output_limit(request, endpoint)) is not None:
        tail["max_output_tokens"] = max(limit, LEAST)
    if request.tools and (choice := request.tool_choice) not in (None, "auto"):
        tail["tool_choice"] = choice if choice in ("none", "required") else {"type": "function", "name": choice}
    return tail


def _thinking(level: ThinkingLevel, endpoint: Endpoint) -> Wire:
    control = endpoint.thinking
    effort = (EFFORTS if control.kind is None else control.levels).get(level)
    if not isinstance(effort, str):
        return {}
    shown = {"summary": "auto"} if endpoint.quirks.summaries and level != "none" else {}
    return {"reasoning": {"effort": effort, **shown}}


def tools(schemas: Sequence[ToolSchema], endpoint: Endpoint) -> bytes:
    """The tools as the model is told of them."""
    return _encode([_tool(schema) for schema in schemas])


def _tool(schema: ToolSchema) -> Wire:
    """Not `strict`, which would take a part of JSON Schema only."""
    parameters = adapted(schema.parameters, OPENAI)
    named: Wire = {"name": schema.name, "description": schema.description, "parameters": parameters}
    return {"type": "function", **named, "strict": False}


def messages(run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[bytes]:
    """The encoded items of what one side says."""
    said = assistant_items(run, endpoint) if run and run[0].role == "assistant" else _user_side(run, endpoint)
    return map(_encode, said)


def _user_side(run: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[Wire]:
    """Outputs stand together and first; each text and image is a message of its own, unless sides must take turns."""
    yield from (output_item(payload, endpoint) for payload in run if isinstance(payload, ToolCallOutput))
    others = (payload for payload in run if not isinstance(payload, ToolCallOutput))
    contents = [[part] for payload in others if (part := user_part(payload, endpoint)) is not None]
    if endpoint.quirks.strict_roles and contents:
        contents = [[part for content in contents for part in content]]
    yield from ({"type": "message", "role": "user", "content": content} for content in contents)
