from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.double.chat.conversation import PNG, SYSTEM, TOOL, Json, called, image, output, request, user, without
from tests.double.chat.endpoint import Endpoint
from tests.double.chat.protocol import PROTOCOL
from tests.double.chat.rules import check

HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-test"}
TOOL_TURN = (user(), called("a"), output("a"))


def codes(body: Json | bytes, endpoint: Endpoint | None = None, **headers: str) -> list[tuple[str | None, str | None]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [(refusal.code, refusal.param) for refusal in check(data, HEADERS | named, endpoint or Endpoint())]


@pytest.mark.parametrize(
    "body",
    [
        request(),
        without(request(), "tools"),
        request(user("One"), user("Two"), {"role": "assistant", "content": "Three"}),
        request(user([{"type": "text", "text": "See"}, image(), image("https://example.org/a.png", detail="low")])),
        request(user(), called("a", "b"), output("b"), output("a"), user("Thanks")),
        request(user(), called("a"), output("a"), called("a"), output("a")),
        request(user(), without(called("a"), "content"), output("a", [{"type": "text", "text": "ok"}])),
        request(user(), called("a", content="I read."), output("a")),
        request(tool_choice="auto", parallel_tool_calls=True, temperature=0, max_tokens=5, reasoning_effort="low"),
        request(tool_choice={"type": "function", "function": {"name": "read_file"}}),
        request(user("日本 🐧")),
    ],
    ids=str,
)
def test_a_valid_request_passes(body: Json) -> None:
    assert codes(body) == []


BLANKS = ["", " ", "\n\t", "\u200b\ufeff", "\u2800", "\u3164", "\xa0\u3000"]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_text_without_a_visible_character_is_refused(blank: str) -> None:
    part = [{"type": "text", "text": blank}]
    for content, end in ((blank, ""), (part, "[0].text")):
        assert codes(request(user(content))) == [("blank_text", f"messages[1].content{end}")]
        assert codes(request(user(), {"role": "assistant", "content": content})) == [
            ("blank_text", f"messages[2].content{end}")
        ]
        assert codes(request(user(), called("a", content=content), output("a"))) == [
            ("blank_text", f"messages[2].content{end}")
        ]
        assert codes(request(user(), called("a"), output("a", content))) == [
            ("blank_text", f"messages[3].content{end}")
        ]
    assert codes({**request(), "messages": [{"role": "system", "content": blank}, user()]}) == [
        ("blank_text", "messages[0].content")
    ]


UNREADABLE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"model": NaN}',
    b'{"model": "a", "model": "b"}',
    b'{"model": "\xff"}',
    b'{"model": "\xed\xa0\xbd"}',
    b'{"model": "\\ud83d"}',
    b"\xef\xbb\xbf{}",
]


@pytest.mark.parametrize("body", UNREADABLE, ids=ascii)
def test_what_is_not_a_json_object_of_whole_characters_is_refused(body: bytes) -> None:
    assert codes(body) == [("invalid_json", None)]


def test_an_escaped_pair_is_one_character() -> None:
    assert codes(json.dumps(request(user("🐧"))).encode()) == []


TOP_LEVEL: list[tuple[Json, str, str]] = [
    (without(request(), "model"), "missing_required_parameter", "model"),
    (without(request(), "messages"), "missing_required_parameter", "messages"),
    ({**request(), "messages": []}, "empty_array", "messages"),
    (request(thinking={"type": "enabled"}), "unknown_parameter", "thinking"),
    (request(tools=[]), "empty_array", "tools"),
    (request(tools=None), "invalid_type", "tools"),
    (without(request(tool_choice="auto"), "tools"), "invalid_value", "tool_choice"),
    (without(request(parallel_tool_calls=True), "tools"), "invalid_value", "parallel_tool_calls"),
    (request(tool_choice="read_file"), "invalid_value", "tool_choice"),
    (request(tools=[TOOL, TOOL]), "invalid_value", "tools[1].function.name"),
    (request(tools=[{"type": "function", "function": {"name": "a.b"}}]), "invalid_value", "tools[0].function.name"),
    (request(tools=[{**TOOL, "x": 1}]), "invalid_value", "tools[0]"),
    (
        request(tools=[{"type": "function", "function": {"name": "a", "parameters": {"type": "array"}}}]),
        "invalid_function_parameters",
        "tools[0].function.parameters",
    ),
    (request(stream=False), "invalid_value", "stream"),
    (request(stream_options={}), "missing_required_parameter", "stream_options.include_usage"),
    (request(max_tokens=0), "integer_below_min_value", "max_tokens"),
    (request(max_tokens=1, max_completion_tokens=1), "invalid_value", "max_tokens"),
    (request(temperature=3), "invalid_value", "temperature"),
    (request(temperature="1"), "invalid_type", "temperature"),
    (request(reasoning_effort="max"), "unsupported_value", "reasoning_effort"),
]


@pytest.mark.parametrize(("body", "code", "param"), TOP_LEVEL, ids=str)
def test_a_wrong_request_is_refused(body: Json, code: str, param: str) -> None:
    assert codes(body) == [(code, param)]


def calls_of(*calls: object) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


MESSAGES: list[tuple[list[Any], str, str]] = [
    ([{"role": "developer", "content": "x"}], "invalid_value", "messages[1].role"),
    ([user(), SYSTEM], "system_not_first", "messages[2].role"),
    (["x"], "invalid_type", "messages[1]"),
    ([{"role": "user"}], "missing_required_parameter", "messages[1].content"),
    ([user(None)], "invalid_type", "messages[1].content"),
    ([user([])], "empty_array", "messages[1].content"),
    ([user([{"type": "thinking", "thinking": "x"}])], "invalid_value", "messages[1].content[0].type"),
    ([user([{"type": "text", "text": "x", "cache": 1}])], "unknown_parameter", "messages[1].content[0].cache"),
    ([{**user(), "sender": "harness"}], "unknown_parameter", "messages[1].sender"),
    ([user([image("data:text/plain;base64,QQ==")])], "invalid_value", "messages[1].content[0].image_url.url"),
    ([user([image("data:image/png;base64,Q!")])], "invalid_value", "messages[1].content[0].image_url.url"),
    ([user(), {"role": "assistant", "content": [image()]}], "invalid_value", "messages[2].content[0].type"),
    ([user(), called("a"), output("a", [image()])], "invalid_value", "messages[3].content[0].type"),
    ([user(), {"role": "assistant"}], "empty_message", "messages[2]"),
    ([user(), {"role": "assistant", "content": None}], "empty_message", "messages[2]"),
    ([user(), {"role": "assistant", "content": "x", "tool_calls": []}], "empty_array", "messages[2].tool_calls"),
    ([user(), {"role": "assistant", "content": "x", "reasoning_content": "y"}], "unknown_parameter",
     "messages[2].reasoning_content"),
    ([user(), called("a", arguments={}), output("a")], "invalid_type", "messages[2].tool_calls[0].function.arguments"),
    *(([user(), called("a", arguments=text), output("a")], "invalid_arguments",
       "messages[2].tool_calls[0].function.arguments")
      for text in ("", " ", "not json", "[]", "null", '"{}"', '{"a":', '{"a": "\\ud83d"}', '{"a": NaN}')),
    ([user(), called("a", name="list sites"), output("a")], "invalid_value",
     "messages[2].tool_calls[0].function.name"),
    ([user(), called("a" * 41), output("a" * 41)], "string_above_max_length", "messages[2].tool_calls[0].id"),
    ([user(), called("a", "a"), output("a")], "duplicate_id", "messages[2].tool_calls[1].id"),
    ([user(), calls_of({"type": "function", "function": {"name": "f", "arguments": "{}"}})],
     "missing_required_parameter", "messages[2].tool_calls[0].id"),
    ([user(), calls_of({"id": "a", "type": "function"}), output("a")], "missing_required_parameter",
     "messages[2].tool_calls[0].function"),
    ([user(), calls_of({"id": "a", "function": {"name": "f", "arguments": "{}"}}), output("a")], "invalid_value",
     "messages[2].tool_calls[0].type"),
    ([user(), called("a")], "unanswered_call", "messages[3]"),
    ([user(), called("a", "b"), output("a")], "unanswered_call", "messages[4]"),
    ([user(), called("a"), user("And?"), output("a")], "unanswered_call", "messages[3]"),
    ([user(), output("a")], "orphan_output", "messages[2].role"),
    ([user(), called("a"), output("b"), output("a")], "orphan_output", "messages[3].role"),
    ([user(), called("a"), output("a"), user("So"), output("a")], "orphan_output", "messages[5].role"),
    ([user(), called("a"), output("a"), output("a")], "duplicate_output", "messages[4]"),
    ([user(), called("a"), {"role": "tool", "content": "x"}, output("a")], "missing_required_parameter",
     "messages[3].tool_call_id"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "code", "param"), MESSAGES, ids=str)
def test_a_wrong_message_is_refused(messages: list[Json], code: str, param: str) -> None:
    assert codes(request(*messages))[0] == (code, param)


def test_an_unanswered_call_is_named_in_the_vendors_words() -> None:
    refusal = check(json.dumps(request(user(), called("call_7"))).encode(), HEADERS, Endpoint())[0]
    assert json.loads(PROTOCOL.refused(refusal).body) == {
        "error": {
            "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: call_7",
            "type": "invalid_request_error",
            "param": "messages[3]",
            "code": "unanswered_call",
        }
    }


REASONED = called("a", reasoning_content="Hm.")
DEMANDS: list[tuple[Endpoint, Json, list[str | None]]] = [
    (Endpoint(reasoning_fields=("reasoning_content",)), request(user(), REASONED, output("a")), []),
    (Endpoint(reasoning_fields=("reasoning",)), request(user(), REASONED, output("a")), ["unknown_parameter"]),
    (Endpoint(reasoning_fields=("reasoning_content",)), request({**user(), "reasoning_content": "x"}),
     ["unknown_parameter"]),
    (Endpoint(reasoning_fields=("reasoning_content",), require_reasoning="reasoning_content"), request(*TOOL_TURN),
     [None]),
    (Endpoint(reasoning_fields=("reasoning_content",), require_reasoning="reasoning_content"),
     request(user(), called("a", reasoning_content=" "), output("a")), [None]),
    (Endpoint(extra_keys=("thinking",)), request(thinking={}), []),
    (Endpoint(forbidden_keys=("stream_options",), require_usage=False), request(), ["unknown_parameter"]),
    (Endpoint(require_usage=False), without(request(), "stream_options"), []),
    (Endpoint(images=False), request(user([image()])), ["unsupported_image"]),
    (Endpoint(max_body_bytes=100), request(), ["context_length_exceeded"]),
    (Endpoint(strict_roles=True), request(*TOOL_TURN), []),
    (Endpoint(strict_roles=True), request(user(), user()), ["roles_must_alternate"]),
    (Endpoint(strict_roles=True), request(user(), {"role": "assistant", "content": "x"}), ["roles_must_alternate"]),
    (Endpoint(max_call_id=50), request(user(), called("a" * 41), output("a" * 41)), []),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "body", "expected"), DEMANDS, ids=str)
def test_an_endpoint_has_its_own_demands(endpoint: Endpoint, body: Json, expected: list[str | None]) -> None:
    assert [code for code, _ in codes(body, endpoint)] == expected


def test_a_wrong_key_is_refused_and_echoed_in_part() -> None:
    endpoint = Endpoint(key="sk-right-0123456789")
    data = json.dumps(request()).encode()
    headers = HEADERS | {"authorization": "Bearer sk-wrong-secretsecret-9876"}
    [refusal] = check(data, headers, endpoint)
    assert (refusal.status, refusal.code) == (401, "invalid_api_key")
    assert refusal.message == "Incorrect API key provided: sk-wrong**************9876."
    [refusal] = check(data, HEADERS | {"authorization": ""}, endpoint)
    assert refusal.status == 401
    assert check(data, HEADERS | {"authorization": "Bearer sk-right-0123456789"}, endpoint) == []


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json; a=b"])
def test_a_wrong_content_type_is_refused(kind: str) -> None:
    assert codes(request(), content_type=kind) == [("unsupported_content_type", None)]


def test_every_reason_is_reported() -> None:
    body = request(user(" "), called("a"), tools=[], stream=False)
    assert {code for code, _ in codes(body)} == {"blank_text", "unanswered_call", "empty_array", "invalid_value"}


def test_a_data_url_is_an_image() -> None:
    assert codes(request(user([image(PNG.replace("png", "svg+xml"))])))[0][0] == "invalid_value"


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
    endpoint = Endpoint(reasoning_fields=("reasoning",), require_reasoning="reasoning", strict_roles=True)
    whole = request(user([image()]), called("a", reasoning="Hm."), output("a"), tool_choice="auto", n=1)
    assert codes(whole, endpoint) == []
    for body in variants(whole):
        codes(json.dumps(body).encode(), endpoint)
