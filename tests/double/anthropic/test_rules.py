from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.double.anthropic.conversation import (
    BUDGET,
    HOUR,
    MARKER,
    PDF,
    Json,
    asked,
    assistant,
    called,
    image,
    outputs,
    request,
    result,
    source,
    tool,
    use,
    user,
    without,
    words,
)
from tests.double.anthropic.endpoint import AnthropicEndpoint as Endpoint
from tests.double.anthropic.protocol import PROTOCOL
from tests.double.anthropic.verdict import codes, refusals, texts
from tests.double.refusal import Refusal

LOOP = (user(), called("a"), outputs("a"))


def schema(**extra: object) -> Json:
    return request(tools=[tool(input_schema={"type": "object", **extra})])


VALID = [
    request(),
    without(request(), "tools", "system"),
    request(system=[words("Be brief."), words("Really.", cache_control=MARKER)]),
    request(user("One"), user([words("Two")]), assistant(words("Three ")), user("Four")),
    request(user([words(), image(), source(type="url", url="https://example.org/a.png")])),
    request(user([image("/9j/4AAQ", "image/jpeg"), image("R0lGODlh", "image/gif")])),
    request(user([image("UklGRiQAAABXRUJQ", "image/webp"), {"type": "document", "source": PDF, "title": "A"}])),
    request(user([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}}])),
    request(user(), called("a", "b"), outputs("b", "a"), user("Thanks")),
    request(user(), called("a"), assistant(use("b")), outputs("a"), outputs("b")),
    request(user(), called("a"), user([result("a", is_error=True), words("Go on"), image()])),
    request(user(), called("a"), user([result("a", [words(), image()])]), called("b"), outputs("b")),
    request(user(), called("a"), user([without(result("a"), "content")])),
    request(user(), assistant(words("I read."), use("a", caller={"type": "direct"})), outputs("a")),
    request(tool_choice={"type": "auto", "disable_parallel_tool_use": True}, temperature=0, stop_sequences=["END"]),
    request(tool_choice={"type": "tool", "name": "read_file"}, metadata={"user_id": "u"}, service_tier="auto"),
    request(thinking={"type": "adaptive", "display": "summarized"}, output_config={"effort": "max"}, temperature=1),
    request(thinking=BUDGET, tool_choice={"type": "none"}, top_p=0.95),
    request(thinking={"type": "disabled"}, tool_choice={"type": "any"}, top_k=5),
    request(output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}}),
    request(tools=[tool(type="custom", strict=True, input_schema={"type": "object", "additionalProperties": False})]),
    schema(properties={"a.b-c_1": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, required=["a.b-c_1"]),
    without(request(user([words(cache_control=HOUR)]), tools=[tool(cache_control=HOUR)]), "cache_control"),
    request(user("日本 🐧")),
]


@pytest.mark.parametrize("body", VALID, ids=str)
def test_a_valid_request_passes(body: Json) -> None:
    assert refusals(body) == []


UNREADABLE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"model": NaN}',
    b'{"model": "a", "model": "b"}',
    b'{"model": "\xff"}',
    b'{"model": "\\ud83d"}',
]


@pytest.mark.parametrize("body", UNREADABLE, ids=ascii)
def test_what_is_not_a_json_object_of_whole_characters_is_refused(body: bytes) -> None:
    assert codes(body) == ["invalid_json"]


DEMANDS: list[tuple[Endpoint, Json, list[str]]] = [
    (Endpoint(extra_keys=("speed",)), request(speed="fast"), []),
    (Endpoint(images=False), request(user([image()])),
     ["messages.0.content.0: image input is not supported for this model"]),
    (Endpoint(max_body_bytes=100), request(),
     [f"prompt is too long: {len(json.dumps(request()))} tokens > 100 maximum"]),
    (Endpoint(output_limit=4095), request(),
     ["max_tokens: 4096 > 4095, which is the maximum allowed number of output tokens for test-model"]),
    (Endpoint(thinking=("enabled", "disabled")), request(thinking={"type": "adaptive"}),
     ["adaptive thinking is not supported on this model"]),
    (Endpoint(thinking=("adaptive",)), request(thinking=BUDGET),
     ['"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
      '"output_config.effort" to control thinking behavior.']),
    (Endpoint(thinking=("adaptive",)), request(), []),
    (Endpoint(efforts=()), request(output_config={"effort": "high"}),
     ["This model does not support the effort parameter."]),
    (Endpoint(efforts=("xhigh",)), request(output_config={"effort": "xhigh"}), []),
    (Endpoint(sampling=False), request(temperature=0.5), ["`temperature` is deprecated for this model."]),
    (Endpoint(forced_tools=False), request(tool_choice={"type": "any"}),
     ['tool_choice: type "tool" and "any" are not supported for this model.']),
    (Endpoint(prefill=True), request(user(), assistant(words("The"))), []),
    (Endpoint(prefill=True), request(user(), assistant(words("The "))),
     ["messages: final assistant content cannot end with trailing whitespace"]),
    (Endpoint(require_cache=False), without(request(), "cache_control"), []),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "body", "expected"), DEMANDS, ids=str)
def test_an_endpoint_has_its_own_demands(endpoint: Endpoint, body: Json, expected: list[str]) -> None:
    assert texts(body, endpoint) == expected


HEADERS: list[tuple[dict[str, str], int, str]] = [
    ({"x_api_key": ""}, 401, "x-api-key header is required"),
    ({"anthropic_version": ""}, 400, "anthropic-version: header is required"),
    ({"anthropic_version": "2024-01-01"}, 400, 'anthropic-version: "2024-01-01" is not a valid version'),
    ({"content_type": "text/plain"}, 400, "content-type: Input should be 'application/json'"),
    ({"anthropic_beta": "a-1"}, 400,
     "Unexpected value(s) `a-1` for the `anthropic-beta` header. Please consult our documentation at "
     "platform.claude.com/docs or try again without the header."),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "status", "text"), HEADERS, ids=str)
def test_a_wrong_header_is_refused(headers: dict[str, str], status: int, text: str) -> None:
    [refusal] = refusals(request(), None, (), **headers)
    assert (refusal.status, refusal.message) == (status, text)


def test_the_key_may_come_in_either_header() -> None:
    endpoint = Endpoint(key="sk-ant-right")
    assert codes(request(), endpoint) == ["invalid_api_key"]
    assert codes(request(), endpoint, x_api_key="sk-ant-right") == []
    assert codes(request(), endpoint, x_api_key="", authorization="Bearer sk-ant-right") == []
    assert codes(request(), endpoint, x_api_key="", authorization="Basic sk-ant-right") == ["invalid_api_key"]
    assert codes(request(), endpoint, x_api_key="sk-ant-right", authorization="Bearer wrong") == []
    assert codes(request(), Endpoint(require_key=False), x_api_key="") == []
    assert codes(request(), Endpoint(betas=("a-1", "b-1")), anthropic_beta="a-1, b-1") == []


def test_the_newest_version_has_dropped_what_steers_sampling() -> None:
    newest = "2026-10-21"
    assert codes(request(), anthropic_version=newest) == []
    found = refusals(request(temperature=1, top_k=5), anthropic_version=newest)
    assert [refusal.message for refusal in found] == [
        "temperature: Extra inputs are not permitted",
        "top_k: Extra inputs are not permitted",
    ]


def test_a_body_beyond_the_limit_is_too_large() -> None:
    [refusal] = refusals(b"{" + b" " * 32 * 1024 * 1024)
    assert (refusal.status, refusal.message) == (413, "Request exceeds the maximum size")


def test_every_reason_is_reported() -> None:
    body = request(user([words(" ")]), called("a"), user(), max_tokens=0, tools=[tool(name="a b")])
    assert {"blank_text", "unanswered_call", "invalid_value"} <= set(codes(body))


def test_a_refusal_has_the_vendors_body_and_header() -> None:
    reply = PROTOCOL.refused(Refusal("messages.0.role: Field required", "messages.0.role", "x"))
    body = json.loads(reply.body)
    assert body["error"] == {"type": "invalid_request_error", "message": "messages.0.role: Field required"}
    assert (reply.status, body["type"], body["request_id"]) == (400, "error", reply.headers["request-id"])
    kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 500: "api_error"}
    for status, kind in kinds.items():
        assert json.loads(PROTOCOL.refused(Refusal("x", status=status)).body)["error"]["type"] == kind


def test_the_words_of_a_request() -> None:
    body = request(
        user("One"), assistant(words("I read."), use(input={"path": "ä"})), user([result("a"), words("Two")])
    )
    found = PROTOCOL.words(asked(body))
    assert found.everything == 'Be brief.\nOne\nI read.\nread_file\n{"path": "ä"}\nok\nTwo'
    assert (found.users, found.last_role, found.tools) == (("One", "Two"), "user", ("read_file",))
    assert PROTOCOL.words(asked(request(*LOOP))).last_role == "tool"
    assert PROTOCOL.words(asked(request(*LOOP))).users == ("Hello",)


ODD: list[Any] = [None, True, 1, -1.5, "", "x", [], [1], [[]], {}, {"a": 1}, {"type": "text"}, {"id": []}]


def variants(value: Any) -> Iterator[Any]:
    """The value with each place in it replaced by each odd one."""
    yield from ODD
    if isinstance(value, dict):
        items = cast("Json", value)
        yield from ({**items, key: variant} for key in items for variant in variants(items[key]))
    elif isinstance(value, list):
        row = cast("list[Any]", value)
        for place, item in enumerate(row):
            yield from ([*row[:place], variant, *row[place + 1 :]] for variant in variants(item))


def test_no_shape_of_a_request_breaks_the_rules() -> None:
    thought = {"type": "thinking", "thinking": "x", "signature": "y"}
    whole = request(
        user([image(), words(cache_control=HOUR)]),
        assistant(thought, {"type": "redacted_thinking", "data": "x"}, use(input={"a": 1})),
        user([result("a", [words()], is_error=False)]),
        thinking=BUDGET,
        tool_choice={"type": "auto"},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": {}}},
        cache_control=HOUR,
        metadata={"user_id": "u"},
        stop_sequences=["x"],
    )
    assert set(codes(whole)) == {"invalid_signature"}
    for body in variants(whole):
        codes(json.dumps(body).encode())
        PROTOCOL.words(asked(json.dumps(body).encode()))
