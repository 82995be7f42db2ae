"""What the double promises for every protocol it speaks."""

from __future__ import annotations

import itertools
import json
from typing import Any, get_args

import httpx
import pytest

from tests.double.client import BASES, Double
from tests.double.protocol import Asked
from tests.double.protocols import PROTOCOLS, protocol_at, protocol_of
from tests.double.script import Endpoint, Script

ENDPOINTS: dict[str, Endpoint] = {str(one.__struct_config__.tag): one() for one in get_args(Endpoint)}
STREAMS = {
    "openai_chat": "chat/completions",
    "openai_responses": "responses",
    "anthropic": "v1/messages",
    "gemini": "models/{model}:streamGenerateContent?alt=sse",
}
MODELS = {"openai_chat": "models", "openai_responses": "models", "anthropic": "v1/models", "gemini": "models"}
HEADERS = {
    "Content-Type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": "k",
    "x-goog-api-key": "k",
}
TYPES = sorted(BASES)


def ask(double: Double, client_type: str, model: str, body: bytes | None = None) -> httpx.Response:
    url = f"{double.base_url(client_type)}/{STREAMS[client_type].format(model=model)}"
    with httpx.Client(headers=HEADERS) as client:
        return client.post(url, content=json.dumps({"model": model}).encode() if body is None else body)


def test_each_client_type_has_its_endpoint_its_protocol_and_its_prefix() -> None:
    assert sorted(PROTOCOLS) == sorted(ENDPOINTS) == TYPES
    for client_type, endpoint in ENDPOINTS.items():
        assert protocol_of(endpoint) is PROTOCOLS[client_type] is protocol_at(f"{BASES[client_type]}/x")
    assert protocol_at("/anthropics/v1/messages") is PROTOCOLS["openai_chat"]


ODD: list[Any] = [None, True, 1, "x", [], [1], [None], [[]], {}, {"a": 1}, [{}], [{"role": "user"}], [{"role": []}]]
NAMES = ("model", "messages", "input", "contents", "system", "systemInstruction", "tools", "stream", "stream_options")
INSIDE = ("content", "parts", "functionDeclarations", "tool_calls", "type", "input", "text", "function", "name")
SHAPES: list[Any] = [
    *ODD,
    *({name: odd} for name, odd in itertools.product(NAMES, ODD)),
    *({name: [{"role": role, inside: odd}]}
      for name, role, inside, odd in itertools.product(NAMES[1:4], ("user", "assistant", "model"), INSIDE, ODD)),
    *({"tools": [{inside: odd}]} for inside, odd in itertools.product(INSIDE, ODD)),
]  # fmt: skip
BYTES = [b"", b"{", b"\xff", b"\xef\xbb\xbf{}", b'{"model": "\\ud83d"}', b'{"a": 1, "a": 1}', b"[" * 600 + b"]" * 600]


@pytest.mark.parametrize("client_type", TYPES)
def test_no_body_breaks_the_reading_of_a_request(client_type: str) -> None:
    """It is read before it is judged: for its model, and for its script."""
    protocol = PROTOCOLS[client_type]
    base = BASES[client_type].removeprefix(protocol.prefix)
    path = f"{base}/{STREAMS[client_type].format(model='m')}"
    for body in [*BYTES, *(json.dumps(shape).encode() for shape in SHAPES)]:
        asked = Asked("POST", path, {}, body)
        assert protocol.streams(asked)
        assert isinstance(protocol.model_of(asked), str)
        assert all(isinstance(text, str) for text in protocol.words(asked).users)
        assert protocol.check(asked, ENDPOINTS[client_type], ())


@pytest.mark.parametrize("client_type", TYPES)
@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/nowhere", "/v1beta/models/", "/v1beta/models/m:", "/v1?x=%zz"])
def test_no_other_path_is_taken_for_a_known_one(client_type: str, path: str) -> None:
    asked = Asked("GET", path, {}, b"")
    assert PROTOCOLS[client_type].model_of(asked) in ("", "m")
    assert PROTOCOLS[client_type].models(asked, ("m",)) is None
    assert not PROTOCOLS[client_type].streams(asked)


@pytest.mark.parametrize("client_type", TYPES)
def test_an_unknown_path_is_no_url(double: Double, client_type: str) -> None:
    assert httpx.get(f"{double.base_url(client_type)}/nowhere", headers=HEADERS).status_code == 404
    assert [(refusal.code, refusal.status) for refusal in double.refusals()] == [("unknown_url", 404)]


@pytest.mark.parametrize("client_type", TYPES)
def test_a_model_of_another_protocol_is_unknown(double: Double, client_type: str) -> None:
    other = TYPES[TYPES.index(client_type) - 1]
    double.load(Script("elsewhere", endpoint=ENDPOINTS[other]), Script("here", endpoint=ENDPOINTS[client_type]))
    for model in ("elsewhere", "nowhere"):
        answer = ask(double, client_type, model)
        assert answer.status_code == 404
        assert model in answer.text
    assert [refusal.code for refusal in double.refusals()] == ["model_not_found"] * 2
    assert ask(double, client_type, "here", b"{").status_code == 400
    assert "model_not_found" not in [refusal.code for refusal in double.refusals("here")]


@pytest.mark.parametrize("client_type", TYPES)
def test_the_models_of_a_protocol_are_listed(double: Double, client_type: str) -> None:
    double.load(*(Script(f"model of {name}", endpoint=endpoint) for name, endpoint in ENDPOINTS.items()))
    answer = httpx.get(f"{double.base_url(client_type)}/{MODELS[client_type]}", headers=HEADERS)
    assert answer.status_code == 200
    named = [name for name in ENDPOINTS if f"model of {name}" in answer.text]
    assert named == [client_type]
    assert double.refusals() == []
    assert [request.outcome for request in double.requests()] == ["served"]
