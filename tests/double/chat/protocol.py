"""Chat Completions: POST /v1/chat/completions, answered by chunks and `[DONE]`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from tests.double import strict_json
from tests.double.chat import text
from tests.double.chat.endpoint import Endpoint
from tests.double.chat.prefix import check_prefix
from tests.double.chat.replay import check_replay
from tests.double.chat.rules import check
from tests.double.protocol import Answer, Asked, WireProtocol, Words
from tests.double.refusal import Refusal
from tests.double.script import Event, Reply

CREATED = 1_700_000_000


class ChatCompletions:
    """The protocol; nothing in it changes."""

    prefix = ""

    def model_of(self, asked: Asked) -> str:
        return text.model_of(_readable(asked.body))

    def streams(self, asked: Asked) -> bool:
        return (asked.method, asked.path) == ("POST", "/v1/chat/completions")

    def check(self, asked: Asked, endpoint: Endpoint, past: Sequence[Answer]) -> list[Refusal]:
        found = check(asked.body, asked.headers, endpoint)
        if found or not past:
            return found
        found = list(check_prefix(past[-1].asked.body, asked.body, endpoint))
        return found or list(check_replay(asked.body, past, endpoint))

    def words(self, asked: Asked) -> Words:
        return text.words(_readable(asked.body))

    def refused(self, refusal: Refusal) -> Reply:
        described = {"message": refusal.message, "type": "invalid_request_error"}
        error = {"error": {**described, "param": refusal.param, "code": refusal.code}}
        return Reply(refusal.status, msgspec.json.encode(error))

    def models(self, asked: Asked, names: Sequence[str]) -> Reply | None:
        if (asked.method, asked.path) != ("GET", "/v1/models"):
            return None
        listed = [{"id": name, "object": "model", "created": CREATED, "owned_by": "double"} for name in names]
        return Reply(200, msgspec.json.encode({"object": "list", "data": listed}))

    def render(self, event: Event, answer: Answer) -> tuple[dict[str, Any], str]:
        if event.bare:
            return event.data, event.name
        chunk: dict[str, Any] = {"id": f"chatcmpl-{answer.number}", "object": "chat.completion.chunk"}
        chunk |= {"created": CREATED, "model": answer.model}
        chunk |= {"service_tier": "default", "system_fingerprint": "fp_double"}
        if _wants_usage(answer.asked.body):
            chunk["usage"] = None
        return chunk | event.data, ""


PROTOCOL: WireProtocol = ChatCompletions()


def _readable(body: bytes) -> object:
    try:
        return strict_json.loads(body)
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _wants_usage(body: bytes) -> bool:
    return text.wants_usage(_readable(body))
