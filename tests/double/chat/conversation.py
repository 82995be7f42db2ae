"""Valid requests, for tests that change one thing in them."""

from __future__ import annotations

from tests.double.steps import MODEL, Json

TOOL: Json = {
    "type": "function",
    "function": {"name": "read_file", "description": "Read.", "parameters": {"type": "object", "properties": {}}},
}
SYSTEM: Json = {"role": "system", "content": "Be brief."}
PNG = "data:image/png;base64,iVBORw0KGgo="


def user(content: object = "Hello") -> Json:
    return {"role": "user", "content": content}


def image(url: str = PNG, **extra: object) -> Json:
    return {"type": "image_url", "image_url": {"url": url, **extra}}


def said(content: object, **extra: object) -> Json:
    return {"role": "assistant", "content": content, **extra}


def called(*ids: str, name: str = "read_file", arguments: object = "{}", **extra: object) -> Json:
    calls = [{"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **extra}


def output(call_id: str, content: object = "ok") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def request(*messages: Json, model: str = MODEL, **extra: object) -> Json:
    body: Json = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    return {**body, "messages": [SYSTEM, *(messages or (user(),))], "tools": [TOOL], **extra}


def without(body: Json, *keys: str) -> Json:
    return {key: value for key, value in body.items() if key not in keys}
