"""Valid requests, for tests that change one thing in them."""

from __future__ import annotations

import json

from tests.double.protocol import Answer, Asked
from tests.double.refusal import Refusal
from tests.double.responses.endpoint import ResponsesEndpoint as Endpoint
from tests.double.responses.protocol import PROTOCOL
from tests.double.script import Event, Turn
from tests.double.steps import MODEL, Json

TOOL: Json = {
    "type": "function",
    "name": "read_file",
    "description": "Read.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    "strict": False,
}
HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-test"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def user(content: object = "Hello") -> Json:
    return {"type": "message", "role": "user", "content": content}


def written(text: str = "Hello") -> Json:
    return {"type": "input_text", "text": text}


def image(url: object = PNG, **extra: object) -> Json:
    return {"type": "input_image", "image_url": url, **extra}


def assistant(text: str = "Hi", **extra: object) -> Json:
    content: list[Json] = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **extra}


def called(call_id: str = "call_1", *, name: str = "read_file", arguments: object = "{}", **extra: object) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **extra}


def output(call_id: str = "call_1", content: object = "ok") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def request(*items: Json, model: str = MODEL, **extra: object) -> Json:
    body: Json = {"model": model, "stream": True, "store": False, "include": ["reasoning.encrypted_content"]}
    body |= {"instructions": "Be brief.", "input": list(items or (user(),)), "tools": [TOOL]}
    return body | extra


def without(body: Json, *keys: str) -> Json:
    return {key: value for key, value in body.items() if key not in keys}


def body_of(request: Json) -> bytes:
    """The request as it is sent."""
    return json.dumps(request).encode()


def refusals(body: Json | bytes, *past: Answer, endpoint: Endpoint | None = None, **headers: str) -> list[Refusal]:
    """Why this request is refused, behind these answers."""
    named = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    asked = Asked("POST", "/v1/responses", named, body if isinstance(body, bytes) else body_of(body))
    return PROTOCOL.check(asked, endpoint or Endpoint(), past)


def answered(turn: Turn, request: Json, *, number: int = 0, whole: bool = True) -> Answer:
    """The answer to this request when the whole turn is played."""
    asked = Asked("POST", "/v1/responses", HEADERS, body_of(request))
    answer = Answer(asked, str(request["model"]), number)
    for step in turn.steps:
        if isinstance(step, Event):
            answer.sent.append(PROTOCOL.render(step, answer)[0])
    answer.whole = whole
    return answer


def brought_back(answer: Answer) -> list[Json]:
    """The items of an answer, as they go back into the next request."""
    return [event["item"] for event in answer.sent if event.get("type") == "response.output_item.done"]
