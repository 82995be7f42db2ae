"""Messages: POST /anthropic/v1/messages, answered by named events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tests.double import strict_json
from tests.double.anthropic import text
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.rules import check, check_headers
from tests.double.anthropic.stream import REQUEST_ID, complete
from tests.double.protocol import Answer, Asked, WireProtocol, Words
from tests.double.refusal import Refusal
from tests.double.script import Event, Reply

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
RELEASED = "2026-01-01T00:00:00Z"


class Messages:
    """The protocol; nothing in it changes."""

    prefix = "/anthropic"

    def model_of(self, asked: Asked) -> str:
        return text.model_of(_readable(asked.body))

    def streams(self, asked: Asked) -> bool:
        return (asked.method, asked.path) == ("POST", "/v1/messages")

    def check(self, asked: Asked, endpoint: AnthropicEndpoint, past: Sequence[Answer]) -> list[Refusal]:
        return check(asked, endpoint, past)

    def words(self, asked: Asked) -> Words:
        return text.words(_readable(asked.body))

    def refused(self, refusal: Refusal) -> Reply:
        return failure(refusal.status, refusal.message)

    def models(self, asked: Asked, names: Sequence[str]) -> Reply | None:
        if asked.method != "GET" or asked.path.partition("?")[0] != "/v1/models":
            return None
        headers = {**asked.headers, "content-type": "application/json"}
        for refusal in check_headers(headers, AnthropicEndpoint()):
            return self.refused(refusal)
        about = {"type": "model", "created_at": RELEASED, "lifecycle": "active"}
        listed = [{**about, "id": name, "display_name": name} for name in names]
        ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
        return Reply(200, msgspec.json.encode({"data": listed, "has_more": False, **ends}))

    def render(self, event: Event, answer: Answer) -> tuple[dict[str, Any], str]:
        if event.bare:
            return event.data, event.name
        data = complete(event.data, answer)
        return data, str(data["type"])


PROTOCOL: WireProtocol = Messages()


def failure(status: int, message: str, *, kind: str = "", details: dict[str, str] | None = None) -> Reply:
    """The vendor's answer to a request that it does not serve."""
    kind = kind or KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": message} | ({"details": details} if details else {})
    request_id = REQUEST_ID.format(status)
    body = {"type": "error", "error": error, "request_id": request_id}
    return Reply(status, msgspec.json.encode(body), {"request-id": request_id})


def _readable(body: bytes) -> object:
    try:
        return strict_json.loads(body)
    except ValueError:
        return None
