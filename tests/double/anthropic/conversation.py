"""Valid requests and whole answers, for tests that change one thing in them."""

from __future__ import annotations

import json
from typing import Any

from tests.double.anthropic.build import MODEL
from tests.double.anthropic.protocol import PROTOCOL
from tests.double.anthropic.said import said_in
from tests.double.protocol import Answer, Asked
from tests.double.script import Event, Turn

Json = dict[str, Any]

HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "sk-ant-test"}
TOOL: Json = {"name": "read_file", "description": "Read.", "input_schema": {"type": "object", "properties": {}}}
SYSTEM = "Be brief."
PNG = "iVBORw0KGgo="
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjcK"}
MARKER = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
BUDGET: Json = {"type": "enabled", "budget_tokens": 1024}


def user(content: object = "Hello") -> Json:
    return {"role": "user", "content": content}


def words(content: object = "See", **extra: object) -> Json:
    return {"type": "text", "text": content, **extra}


def image(data: str = PNG, media_type: str = "image/png") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def source(**fields: str) -> Json:
    return {"type": "image", "source": fields}


def tool(**extra: object) -> Json:
    return {**TOOL, **extra}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def use(id_: str = "a", **extra: object) -> Json:
    return {"type": "tool_use", "id": id_, "name": "read_file", "input": {}, **extra}


def result(id_: str = "a", content: object = "ok", **extra: object) -> Json:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **extra}


def called(*ids: str) -> Json:
    return assistant(*map(use, ids))


def outputs(*ids: str) -> Json:
    return user([result(id_) for id_ in ids])


def request(*messages: Json, model: str = MODEL, **extra: object) -> Json:
    body: Json = {"model": model, "max_tokens": 4096, "stream": True, "cache_control": {"type": "ephemeral"}}
    return {**body, "system": SYSTEM, "tools": [TOOL], "messages": list(messages or (user(),)), **extra}


def without(body: Json, *keys: str) -> Json:
    return {key: value for key, value in body.items() if key not in keys}


def asked(body: Json | bytes, **headers: str) -> Asked:
    """The request as it arrives; a header that is empty does not come."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    return Asked("POST", "/v1/messages", {name: value for name, value in named.items() if value}, data)


def answer(body: Json | bytes, turn: Turn, *, number: int = 0) -> Answer:
    """The whole answer of a turn to a request."""
    given = Answer(asked(body), PROTOCOL.model_of(asked(body)), number)
    for step in turn.steps:
        if isinstance(step, Event):
            given.sent.append(PROTOCOL.render(step, given)[0])
    given.whole = True
    return given


def message(given: Answer) -> Json:
    """The message in which a client sends an answer back."""
    blocks = [one.value | ({"input": one.input} if one.kind == "tool_use" else {}) for one in said_in(given.sent)]
    return {"role": "assistant", "content": blocks}
