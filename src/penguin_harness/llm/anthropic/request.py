"""Payloads to the body of a request. Request n+1 begins, byte for byte, with the messages of request n.

The vendor's own mark for a prompt cache stands once, behind the messages, and moves on by itself; marks inside the
messages would change bytes that were sent before. Neighbouring messages of the user stay apart: the vendor joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from penguin_harness.contracts import Request, ThinkingLevel
from penguin_harness.llm.anthropic.blocks import assistant_blocks, output_block, user_block
from penguin_harness.llm.anthropic.fidelity import read_thinking
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.ids import fitting_name
from penguin_harness.llm.limits import output_limit
from penguin_harness.llm.schemas import ANTHROPIC, adapted
from penguin_harness.llm.wire import Encoded
from penguin_harness.omnimessage import CompletePayload, Thinking, ToolCall, ToolCallOutput, ToolSchema

Wire: TypeAlias = dict[str, Any]

DEFAULT_OUTPUT = 32_000
"""Tokens of an answer where nothing is known of the model: the protocol demands a number."""

LEAST_BUDGET = 1024
LEFT_FOR_ANSWER = 1024
"""Tokens of an answer that thinking may not take."""

BUDGETS: dict[ThinkingLevel, int] = {"low": 4_096, "medium": 16_384, "high": 31_000, "max": 63_000}
"""Tokens to think with where nothing is known of the model."""

EFFORTS: dict[ThinkingLevel, str] = {"low": "low", "medium": "medium", "high": "high", "max": "max"}

_CACHE: Wire = {"type": "ephemeral"}
_encode = msgspec.json.Encoder().encode


def body(request: Request, encoded: Encoded, endpoint: Endpoint) -> bytes:
    """The whole body. What changes from request to request stands behind the messages."""
    head = _encode({"model": endpoint.ref.model_id, "stream": True})
    offered = encoded.tools or _remembered(request.messages)
    tools = b"" if offered is None else b',"tools":' + offered
    system = (
        b',"system":' + _encode([_system(request.system_prompt, endpoint)]) if request.system_prompt.strip() else b""
    )
    tail = _encode(_tail(request, endpoint))
    return b"".join((head[:-1], tools, system, b',"messages":[', encoded.messages, b"],", tail[1:]))


def _system(prompt: str, endpoint: Endpoint) -> Wire:
    block = {"type": "text", "text": prompt}
    return block | {"cache_control": _CACHE} if endpoint.quirks.cache else block


def _tail(request: Request, endpoint: Endpoint) -> Wire:
    limit = output_limit(request, endpoint, default=DEFAULT_OUTPUT) or DEFAULT_OUTPUT
    tail: Wire = {"max_tokens": limit}
    choice = request.tool_choice if request.tools else None
    forced = choice not in (None, "auto", "none")
    if request.thinking_level is not None and endpoint.quirks.thinking and not forced:
        tail |= _thinking(request, request.thinking_level, endpoint, limit)
    if choice not in (None, "auto"):
        kinds: dict[str | None, Wire] = {"none": {"type": "none"}, "required": {"type": "any"}}
        tail["tool_choice"] = kinds.get(choice) or {"type": "tool", "name": choice}
    if endpoint.quirks.cache:
        tail["cache_control"] = _CACHE
    return tail


def _thinking(request: Request, level: ThinkingLevel, endpoint: Endpoint, limit: int) -> Wire:
    control = endpoint.thinking
    match control.kind:
        case "adaptive":
            effort = (control.levels or EFFORTS).get(level)
            if level == "none":
                return {} if effort is None else {"thinking": {"type": effort}}
            chosen = {"output_config": {"effort": effort}} if isinstance(effort, str) else {}
            return {"thinking": {"type": "adaptive", "display": "summarized"}, **chosen}
        case "budget" | None:
            wanted = (control.levels or BUDGETS).get(level)
            budget = min(wanted if isinstance(wanted, int) else 0, limit - LEFT_FOR_ANSWER)
            if budget < LEAST_BUDGET or not _may_think(request.messages):
                return {}
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
        case "effort" | "level":
            effort = control.levels.get(level)
            return {"output_config": {"effort": effort}} if isinstance(effort, str) else {}
        case "switch":
            return {"thinking": {"type": "disabled" if level == "none" else "adaptive"}}
        case "none":
            return {}


def _may_think(messages: Sequence[CompletePayload]) -> bool:
    """Whether thinking can be on: a loop of calls that goes on must have begun with thinking that can be sent back."""
    first: CompletePayload | None = None
    for payload in reversed(messages):
        if payload.role == "assistant":
            first = payload
        elif first is not None and not isinstance(payload, ToolCallOutput):
            break
    in_a_loop = any(isinstance(payload, ToolCallOutput) for payload in _last_input(messages))
    return not in_a_loop or (isinstance(first, Thinking) and read_thinking(first) is not None)


def _last_input(messages: Sequence[CompletePayload]) -> Iterator[CompletePayload]:
    for payload in reversed(messages):
        if payload.role == "assistant":
            return
        yield payload


def tools(schemas: Sequence[ToolSchema], endpoint: Endpoint) -> bytes:
    """The tools as the model is told of them."""
    return _encode([_tool(schema) for schema in schemas])


def _tool(schema: ToolSchema) -> Wire:
    described = {"description": schema.description} if schema.description.strip() else {}
    return {"name": schema.name, **described, "input_schema": adapted(schema.parameters, ANTHROPIC)}


def _remembered(history: Sequence[CompletePayload]) -> bytes | None:
    """Tools that are offered no more, but whose calls are in the history: the vendor wants them to be defined."""
    names = dict.fromkeys(fitting_name(payload.name) for payload in history if isinstance(payload, ToolCall))
    return _encode([_tool(ToolSchema(name, "No longer there.")) for name in names]) if names else None


def messages(run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint) -> Iterator[bytes]:
    """The encoded messages of what one side says."""
    if run and run[0].role == "assistant":
        blocks = assistant_blocks(run)
        said = [{"role": "assistant", "content": blocks}] if blocks else []
    else:
        said = [{"role": "user", "content": content} for content in _user_side(run, endpoint)]
    return map(_encode, said)


def _user_side(run: Sequence[CompletePayload], endpoint: Endpoint) -> list[list[Wire]]:
    """Results stand together and first; each text and image is a message of its own, unless sides must take turns."""
    results = [output_block(payload, endpoint) for payload in run if isinstance(payload, ToolCallOutput)]
    others = (payload for payload in run if not isinstance(payload, ToolCallOutput))
    contents = [results] if results else []
    contents += [[block] for payload in others if (block := user_block(payload, endpoint)) is not None]
    if endpoint.quirks.strict_roles and contents:
        return [[block for content in contents for block in content]]
    return contents
