"""The Responses API: POST /v1/responses, answered by named events that end with the whole response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tests.double.protocol import Answer, Asked, WireProtocol, Words
from tests.double.refusal import Refusal
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import value_of
from tests.double.responses.render import CREATED, render
from tests.double.responses.rules import check
from tests.double.responses.words import words
from tests.double.script import Event, Reply


class Responses:
    """The protocol; nothing in it changes."""

    prefix = "/responses"

    def model_of(self, asked: Asked) -> str:
        model = value_of(asked.body).get("model")
        return model if isinstance(model, str) else ""

    def streams(self, asked: Asked) -> bool:
        return (asked.method, asked.path) == ("POST", "/v1/responses")

    def check(self, asked: Asked, endpoint: ResponsesEndpoint, past: Sequence[Answer]) -> list[Refusal]:
        return check(asked, endpoint, past)

    def words(self, asked: Asked) -> Words:
        return words(value_of(asked.body))

    def refused(self, refusal: Refusal) -> Reply:
        kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
        error = {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code}
        return Reply(refusal.status, msgspec.json.encode({"error": error}), {"x-request-id": "req_double"})

    def models(self, asked: Asked, names: Sequence[str]) -> Reply | None:
        if (asked.method, asked.path) != ("GET", "/v1/models"):
            return None
        listed = [{"id": name, "object": "model", "created": CREATED, "owned_by": "double"} for name in names]
        return Reply(200, msgspec.json.encode({"object": "list", "data": listed}), {"x-request-id": "req_double"})

    def render(self, event: Event, answer: Answer) -> tuple[dict[str, Any], str]:
        if event.bare:
            return event.data, event.name
        return render(event.data, answer), str(event.data.get("type"))


PROTOCOL: WireProtocol = Responses()
