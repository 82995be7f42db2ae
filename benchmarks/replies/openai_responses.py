"""Responses: named and numbered events; items and parts open and close, and the whole response ends the stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from benchmarks.replies.turn import ASKED, Turn, WireReply, event

ECHOED: dict[str, Any] = {
    "object": "response", "created_at": 1_760_000_000, "error": None, "incomplete_details": None, "instructions": None,
    "max_output_tokens": None, "metadata": {}, "parallel_tool_calls": True, "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None}, "service_tier": "auto", "store": False, "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
    "truncation": "disabled", "user": None,
}  # fmt: skip
"""What a response repeats of its request."""


def events(turn: Turn) -> Iterator[bytes]:
    for number, (kind, fields) in zip(count(), said(turn), strict=False):
        name = f"response.{kind}"
        yield event({"type": name, "sequence_number": number, **fields}, name=name)


def said(turn: Turn) -> Iterator[tuple[str, dict[str, Any]]]:
    output: list[dict[str, Any]] = []
    yield "created", {"response": response(turn, "in_progress", [])}
    yield "in_progress", {"response": response(turn, "in_progress", [])}
    yield from message(turn, output)
    if turn.calls:
        yield from call(turn, output)
    yield "completed", {"response": response(turn, "completed", output)}


def message(turn: Turn, output: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    item = {"id": f"msg_{turn.number:048}", "type": "message", "role": "assistant"}
    part: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": []}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield "output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}
    yield "content_part.added", {**place, "part": {**part, "text": ""}}
    for word in turn.words:
        yield "output_text.delta", {**place, "delta": word, "logprobs": []}
    yield "output_text.done", {**place, "text": turn.text, "logprobs": []}
    yield "content_part.done", {**place, "part": {**part, "text": turn.text}}
    output.append({**item, "status": "completed", "content": [{**part, "text": turn.text}]})
    yield "output_item.done", {"output_index": 0, "item": output[-1]}


def call(turn: Turn, output: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    item = {"id": f"fc_{turn.number:048}", "type": "function_call", "call_id": turn.call_id, "name": "add"}
    place = {"item_id": item["id"], "output_index": 1}
    arguments = "".join(turn.pieces)
    yield "output_item.added", {"output_index": 1, "item": {**item, "status": "in_progress", "arguments": ""}}
    for piece in turn.pieces:
        yield "function_call_arguments.delta", {**place, "delta": piece}
    yield "function_call_arguments.done", {**place, "arguments": arguments}
    output.append({**item, "status": "completed", "arguments": arguments})
    yield "output_item.done", {"output_index": 1, "item": output[-1]}


def response(turn: Turn, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {
        "input_tokens": ASKED,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": turn.length,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": ASKED + turn.length,
    }
    ended = {"usage": counts if status == "completed" else None}
    return {"id": f"resp_{turn.number:048}", "status": status, "model": turn.model, "output": output, **ECHOED, **ended}


WIRE = WireReply(path=b"/responses", output=re.compile(rb'"type":\s*"function_call_output"'), events=events)
