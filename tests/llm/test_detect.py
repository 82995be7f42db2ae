"""What an address may stand for, and what an answer proves of its protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penguin_harness.llm.bases import base_urls, root_of
from penguin_harness.llm.detect import native_provider
from penguin_harness.llm.evidence import Proof, proof_in
from penguin_harness.llm.gateway import protocol_of
from penguin_harness.llm.http import Answer

MODEL = "no-such-model"
OPENAI = {"error": {"message": "Bad.", "type": "invalid_request_error", "param": None, "code": None}}
ANTHROPIC = {"type": "error", "error": {"type": "authentication_error", "message": "Bad."}}
GOOGLE = {"error": {"code": 403, "message": "Bad.", "status": "PERMISSION_DENIED"}}


@pytest.mark.parametrize(
    ("client_type", "given", "tried"),
    [
        ("openai_chat", "http://h:1", ["http://h:1", "http://h:1/v1"]),
        ("openai_chat", "http://h/v1/", ["http://h/v1", "http://h"]),
        ("openai_chat", "http://h/v1/chat/completions?k=1", ["http://h/v1?k=1", "http://h?k=1"]),
        ("openai_responses", "http://h/api/v1/responses", ["http://h/api/v1", "http://h/api"]),
        ("openai_chat", "http://h/v1/models/gpt", ["http://h/v1", "http://h"]),
        ("openai_chat", "http://h/v4/x", ["http://h/v4/x", "http://h/v4", "http://h/v1", "http://h"]),
        ("anthropic", "http://h/anthropic/v1/messages", ["http://h/anthropic/v1", "http://h/anthropic"]),
        ("gemini", " http://h/v1beta/models/m:generateContent ", ["http://h/v1beta", "http://h"]),
        ("gemini", "http://h/v1", ["http://h/v1", "http://h/v1beta", "http://h"]),
    ],
)
def test_an_address_stands_for_these_base_urls(client_type: str, given: str, tried: list[str]) -> None:
    assert base_urls(given, client_type) == tried


@pytest.mark.parametrize(("given", "root"), [("http://h:1/api/x?k=1", "http://h:1?k=1"), ("http://h:1/", None)])
def test_the_root_of_an_address(given: str, root: str | None) -> None:
    assert root_of(given) == root


def test_a_host_of_the_catalogue_is_known() -> None:
    assert native_provider("https://api.anthropic.com/v1/messages") == "anthropic"
    assert native_provider("https://api.example.com") is None


def proof(client_type: str, status: int, body: Any) -> Proof:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return proof_in(Answer(status, "", {}, content, whole=True), protocol_of(client_type), MODEL)


def sse(*events: Any) -> str:
    return "".join(f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in events)


ANSWERS = {
    "openai_chat": sse({"choices": [{"index": 0, "delta": {"content": "hi"}}]}),
    "openai_responses": sse({"type": "response.output_text.delta", "output_index": 0, "item_id": "i", "delta": "hi"}),
    "anthropic": sse(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    ),
    "gemini": sse({"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]}),
}


@pytest.mark.parametrize("speaks", ANSWERS)
@pytest.mark.parametrize("asked", ANSWERS)
def test_only_the_protocols_own_events_are_an_answer(asked: str, speaks: str) -> None:
    assert proof(asked, 200, ANSWERS[speaks]) == ("answers" if asked == speaks else "none")


@pytest.mark.parametrize("client_type", ANSWERS)
@pytest.mark.parametrize("body", ["", "<html>hello</html>", "{}", '{"error": "Unexpected endpoint"}', "data: x\n\n"])
def test_a_success_that_says_nothing_proves_nothing(client_type: str, body: str) -> None:
    assert proof(client_type, 200, body) == "none"


@pytest.mark.parametrize(
    ("client_type", "status", "body", "expected"),
    [
        ("openai_chat", 401, OPENAI, "unclear"),
        ("openai_responses", 400, OPENAI, "unclear"),
        ("openai_chat", 400, {"object": "error", "message": "Bad."}, "unclear"),
        ("openai_chat", 404, OPENAI, "none"),
        ("openai_chat", 404, {"error": {"message": f"model {MODEL} not found"}}, "refuses"),
        ("openai_chat", 404, [{"error": {"code": 404, "message": f"{MODEL}?", "status": "NOT_FOUND"}}], "refuses"),
        ("openai_chat", 404, f"<html>{MODEL}</html>", "none"),
        ("openai_chat", 401, ANTHROPIC, "none"),
        ("openai_chat", 403, GOOGLE, "none"),
        ("openai_chat", 401, "Unauthorized", "none"),
        ("anthropic", 401, ANTHROPIC, "refuses"),
        ("anthropic", 404, ANTHROPIC, "none"),
        ("anthropic", 404, {"type": "error", "error": {"type": "not_found_error", "message": MODEL}}, "refuses"),
        ("anthropic", 401, OPENAI, "none"),
        ("gemini", 403, GOOGLE, "refuses"),
        ("gemini", 404, [GOOGLE], "refuses"),
        ("gemini", 404, {"error": {"message": f"no URL /models/{MODEL}:streamGenerateContent"}}, "none"),
        ("gemini", 400, OPENAI, "none"),
    ],
)
def test_what_a_refusal_proves(client_type: str, status: int, body: Any, expected: Proof) -> None:
    assert proof(client_type, status, body) == expected
