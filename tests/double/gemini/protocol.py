"""Gemini: POST /v1beta/models/<model>:streamGenerateContent?alt=sse, answered by chunks until the body ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.failure import body_of
from tests.double.gemini.prefix import check_prefix
from tests.double.gemini.proto import Json
from tests.double.gemini.replay import check_replay
from tests.double.gemini.request import bytes_of, contents_of, read, target_of
from tests.double.gemini.rules import check
from tests.double.gemini.said import raw_parts, said, sent_item
from tests.double.gemini.signature import sign
from tests.double.gemini.text import words
from tests.double.protocol import Answer, Asked, WireProtocol, Words
from tests.double.refusal import Refusal
from tests.double.script import Event, Reply

ABILITIES: Json = {
    "inputTokenLimit": 1_048_576,
    "outputTokenLimit": 65_536,
    "supportedGenerationMethods": ["generateContent", "countTokens"],
    "thinking": True,
}


class Gemini:
    """The protocol; nothing in it changes."""

    prefix = "/gemini"

    def model_of(self, asked: Asked) -> str:
        return target_of(asked).model

    def streams(self, asked: Asked) -> bool:
        return (asked.method, target_of(asked).method) == ("POST", "streamGenerateContent")

    def check(self, asked: Asked, endpoint: GeminiEndpoint, past: Sequence[Answer]) -> list[Refusal]:
        found = check(asked, endpoint)
        if found or not past:
            return found
        found += check_prefix(past[-1].asked.body, asked.body, endpoint)
        return found + list(check_replay(contents_of(read(asked.body, endpoint.extra_keys).message), past, endpoint))

    def words(self, asked: Asked) -> Words:
        return words(read(asked.body).message)

    def refused(self, refusal: Refusal) -> Reply:
        return Reply(refusal.status, body_of(refusal))

    def models(self, asked: Asked, names: Sequence[str]) -> Reply | None:
        if asked.method != "GET" or asked.path.partition("?")[0] != "/v1beta/models":
            return None
        listed = [{"name": f"models/{name}", "version": "1", "displayName": name, **ABILITIES} for name in names]
        return Reply(200, msgspec.json.encode({"models": listed}))

    def render(self, event: Event, answer: Answer) -> tuple[dict[str, Any], str]:
        if event.bare:
            return event.data, event.name
        chunk = {"modelVersion": answer.model, "responseId": f"response-{answer.number}"} | event.data
        parts = raw_parts(event.data)
        if parts:
            first, *others = event.data["candidates"]
            content = {**first["content"], "parts": _signed(parts, answer)}
            chunk["candidates"] = [{**first, "content": content}, *others]
        return chunk, ""


PROTOCOL: WireProtocol = Gemini()


def _signed(parts: Sequence[Json], answer: Answer) -> list[Json]:
    """The parts with their signatures: the first call of the answer has one, and what the script marks with true."""
    done: list[Json] = []
    for part in parts:
        plain = {key: value for key, value in part.items() if key != "thoughtSignature"}
        mark = part.get("thoughtSignature", "functionCall" in part)
        if mark is True:
            before = said([*answer.sent, _event(done)])
            if "thoughtSignature" in part or all(item.kind != "function_call" for item in before):
                conversation = bytes_of(answer.asked.body).contents
                mark = sign(sent_item(plain), before, model=answer.model, conversation=conversation)
        done.append({**plain, "thoughtSignature": mark} if isinstance(mark, str) else plain)
    return done


def _event(parts: Sequence[Json]) -> Json:
    return {"candidates": [{"content": {"parts": list(parts)}}]}
