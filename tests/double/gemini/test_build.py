from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.double.client import Double
from tests.double.gemini.build import (
    blocked,
    call,
    counts,
    error,
    fails,
    finish,
    heartbeats,
    limit,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.gemini.conversation import request
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.script import Turn
from tests.double.steps import MODEL, Json, between


def ask(double: Double, body: Json | None = None, *, model: str = MODEL) -> httpx.Response:
    url = f"{double.base_url('gemini')}/models/{model}:streamGenerateContent?alt=sse"
    with httpx.Client() as client:
        return client.post(url, json=body or request(), headers={"x-goog-api-key": "key"})


def chunks(answer: httpx.Response) -> list[Json]:
    return [json.loads(line[6:]) for line in answer.text.split("\r\n") if line.startswith("data: ")]


def test_an_answer_is_chunks_that_share_id_and_model_and_count_tokens(double: Double) -> None:
    tokens = counts(100, 30, cached=40, reasoning=20)
    double.load(script(turn(thinking("Hm."), text("Hello", parts=2), tokens=tokens)))
    answer = ask(double)
    sent = chunks(answer)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert {(chunk["modelVersion"], chunk["responseId"]) for chunk in sent} == {(MODEL, "response-0")}
    assert [chunk["candidates"][0].get("finishReason") for chunk in sent] == [None, None, None, "STOP"]
    assert sent[0]["candidates"][0]["content"] == {"parts": [{"text": "Hm.", "thought": True}], "role": "model"}
    assert sent[-1]["usageMetadata"] == {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 130,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
    }
    assert all(chunk["usageMetadata"]["totalTokenCount"] == 120 for chunk in sent[:-1])


def test_a_call_arrives_whole_with_its_id(double: Double) -> None:
    double.load(script(turn(call("read_file", {"path": "日本"}, parts=5), call("read_file", "", id=None))))
    first, second, last = chunks(ask(double))
    [part] = first["candidates"][0]["content"]["parts"]
    assert part["functionCall"] == {"id": "call_1", "name": "read_file", "args": {"path": "日本"}}
    assert second["candidates"][0]["content"]["parts"] == [{"functionCall": {"name": "read_file", "args": {}}}]
    assert last["candidates"][0]["content"]["parts"] == [{"text": ""}]


@pytest.mark.parametrize("arguments", ["not json", "[]", "null", '{"a":', '{"a": "\\ud83d"}'], ids=ascii)
def test_a_call_that_cannot_be_read_is_malformed(double: Double, arguments: str) -> None:
    double.load(script(turn(text("So:"), call("read_file", arguments))))
    last = chunks(ask(double))[-1]["candidates"][0]
    assert last["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert last["finishMessage"] == f"Malformed function call: read_file({arguments})"


ENDINGS: list[tuple[Turn, str, Json]] = [
    (turn(text("Hal"), limit(counts(7, 3))), "MAX_TOKENS", counts(7, 3)),
    (turn(refusal("No")), "SAFETY", counts()),
    (turn(finish("RECITATION"), tokens=counts(5, 0)), "RECITATION", counts(5, 0)),
]


@pytest.mark.parametrize(("one", "reason", "tokens"), ENDINGS, ids=str)
def test_an_ending_has_its_reason_and_usage_and_no_parts(double: Double, one: Turn, reason: str, tokens: Json) -> None:
    double.load(script(one))
    last = chunks(ask(double))[-1]
    assert last["candidates"] == [{"content": {"role": "model"}, "finishReason": reason, "index": 0}]
    assert last["usageMetadata"] == tokens


def test_a_blocked_prompt_has_no_candidates(double: Double) -> None:
    double.load(script(turn(blocked("SAFETY"))))
    [chunk] = chunks(ask(double))
    assert chunk["promptFeedback"] == {"blockReason": "SAFETY"}
    assert "candidates" not in chunk


def test_errors_and_heartbeats_stand_among_the_chunks(double: Double) -> None:
    double.load(script(turn(between(text("ab", parts=2), heartbeats()), error("Overloaded", code=503))))
    answer = ask(double)
    assert answer.content.count(b": keep-alive\r\n\r\n") == 2
    sent = chunks(answer)
    assert sent.count({"type": "ping"}) == 2
    assert {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}} in sent


def test_an_http_error_has_status_details_and_headers(double: Double) -> None:
    double.load(
        script(
            fails(429, "Slow down", retry=17, headers={"X-Id": "1"}),
            fails(403, "No", code="SERVICE_DISABLED", kind="FAILED_PRECONDITION"),
            fails(500, body=b"<html>"),
        )
    )
    limited, denied, broken = (ask(double) for _ in range(3))
    assert limited.json()["error"] == {
        "code": 429,
        "message": "Slow down",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}],
    }
    assert limited.headers["x-id"] == "1"
    described: Any = denied.json()["error"]
    assert (described["status"], described["details"][0]["reason"]) == ("FAILED_PRECONDITION", "SERVICE_DISABLED")
    assert broken.content == b"<html>"


def test_an_unknown_model_is_not_found_in_the_vendors_words(double: Double) -> None:
    double.load(script(reply("Hi"), endpoint=GeminiEndpoint()))
    described = ask(double, model="other").json()["error"]
    assert (described["code"], described["status"]) == (404, "NOT_FOUND")
    assert described["message"].startswith("models/other is not found for API version v1beta, or is not supported")
    assert len(double.refusals()) == 1
