from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.double.protocol import Asked
from tests.double.refusal import Refusal
from tests.double.responses.conversation import (
    TOOL,
    assistant,
    body_of,
    called,
    image,
    output,
    refusals,
    request,
    user,
    without,
    written,
)
from tests.double.responses.endpoint import ResponsesEndpoint as Endpoint
from tests.double.responses.protocol import PROTOCOL
from tests.double.steps import Json

ROUND = (user(), called(), output())
NOTHING: Json = {}
CHOICE: Json = {"type": "function", "name": "read_file"}


def codes(body: Json | bytes, endpoint: Endpoint | None = None, **headers: str) -> list[tuple[str | None, str | None]]:
    found = refusals(body, endpoint=endpoint, **headers)
    return [(refusal.code, refusal.param) for refusal in found]


VALID: list[Json] = [
    request(),
    without(request(), "tools", "include", "instructions"),
    request(input="Hello"),
    request(tools=[], instructions=None),
    request({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi", "phase": None}, user("So?")),
    request({"role": "developer", "content": [written()]}, {"role": "system", "content": "x"}, user("日本 🐧")),
    request(user([written(), image(), image("https://example.org/a.png", detail="original")])),
    request(user([written() | {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}])),
    request(user([{"type": "input_file", "file_data": "data:application/pdf;base64,QQ==", "filename": "a.pdf"}])),
    request(*ROUND, user("Thanks")),
    request(user(), called("a"), called("b"), output("b"), output("a")),
    request(user(), called("a"), output("a"), called("b", id="fc_9", status="completed"), output("b")),
    request(user(), called(), output(content=[written("ok"), image()])),
    request(user(), assistant("Hi", id="msg_1", status="completed", phase="commentary"), *ROUND[1:]),
    request(user(), assistant("", phase="final_answer"), user()),
    request(user(), {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, user()),
    request(tool_choice="required", parallel_tool_calls=False, max_output_tokens=16, reasoning={"effort": "high"}),
    request(tool_choice=CHOICE, max_output_tokens=None, truncation="disabled"),
    request(tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [CHOICE]}),
    request(reasoning={"effort": "none"}, temperature=0.5, top_p=1),
    request(reasoning={"effort": None, "summary": "detailed"}, text={"verbosity": "low", "format": {"type": "text"}}),
    request(text={"format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True}}),
    request(metadata={"a": "b"}, prompt_cache_key="k" * 64, prompt_cache_retention="24h", user="u"),
    request(prompt_cache_options={"mode": "explicit", "ttl": "30m"}, safety_identifier="s", service_tier="flex"),
    request(stream_options={"include_obfuscation": False}),
    request(tools=[{**TOOL, "parameters": None}, {**TOOL, "name": "two", "description": None}]),
]


@pytest.mark.parametrize("body", VALID, ids=str)
def test_a_valid_request_passes(body: Json) -> None:
    assert refusals(body) == []


UNREADABLE = [b"", b"{", b"[]", b"null", b'{"model": NaN}', b'{"model": "a", "model": "b"}', b'{"model": "\xff"}',
              b'{"model": "\\ud83d"}', b"\xef\xbb\xbf{}"]  # fmt: skip


@pytest.mark.parametrize("body", UNREADABLE, ids=ascii)
def test_what_is_not_a_json_object_of_whole_characters_is_refused(body: bytes) -> None:
    assert codes(body) == [("invalid_json", None)]


PARAMETERS: list[tuple[Json, str | None, str | None]] = [
    (without(request(), "model"), "missing_required_parameter", "model"),
    (without(request(), "input"), "missing_required_parameter", "input"),
    (request(input=[]), "empty_array", "input"),
    (request(input={}), "invalid_type", "input"),
    (request(thinking={}), "unknown_parameter", "thinking"),
    (request(messages=[]), "unsupported_parameter", None),
    (request(max_tokens=9), "unsupported_parameter", None),
    (request(reasoning_effort="low"), "unsupported_parameter", None),
    (request(stream=False), "unsupported_value", "stream"),
    (request(store=True), "invalid_value", "store"),
    (without(request(), "store"), "invalid_value", "store"),
    (request(previous_response_id="resp_1"), "previous_response_not_found", "previous_response_id"),
    (request(conversation="conv_1"), None, "conversation"),
    (request(instructions=["x"]), "invalid_type", "instructions"),
    (request(include=["reasoning"]), "invalid_value", "include[0]"),
    (request(include="reasoning.encrypted_content"), "invalid_type", "include"),
    (request(max_output_tokens=15), "integer_below_min_value", "max_output_tokens"),
    (request(max_output_tokens=16.0), "invalid_type", "max_output_tokens"),
    (request(temperature=0.5), "unsupported_parameter", "temperature"),
    (request(temperature=3, reasoning={"effort": "none"}), "decimal_above_max_value", "temperature"),
    (request(temperature=-1, reasoning={"effort": "none"}), "decimal_below_min_value", "temperature"),
    (request(temperature="1", reasoning={"effort": "none"}), "invalid_type", "temperature"),
    (request(reasoning="high"), "invalid_type", "reasoning"),
    (request(reasoning={"effort": "most"}), "invalid_value", "reasoning.effort"),
    (request(reasoning={"summary": True}), "invalid_value", "reasoning.summary"),
    (request(reasoning={"max_tokens": 5}), "unknown_parameter", "reasoning.max_tokens"),
    (request(text={"verbosity": "none"}), "invalid_value", "text.verbosity"),
    (request(text={"format": {"type": "xml"}}), "invalid_value", "text.format.type"),
    (request(text={"format": {"type": "text", "name": "a"}}), "unknown_parameter", "text.format.name"),
    (request(text={"format": {"type": "json_schema", "schema": {}}}), "missing_required_parameter",
     "text.format.name"),
    (request(text={"format": {"type": "json_schema", "name": "a", "schema": []}}), "invalid_type",
     "text.format.schema"),
    (request(text=None), "invalid_type", "text"),
    (request(truncation="on"), "invalid_value", "truncation"),
    (request(parallel_tool_calls="yes"), "invalid_type", "parallel_tool_calls"),
    (request(metadata=[]), "invalid_type", "metadata"),
    (request(metadata={"a": 1}), "invalid_type", "metadata.a"),
    (request(metadata={"a": "x" * 513}), "string_above_max_length", "metadata.a"),
    (request(metadata={"k" * 65: "x"}), "string_above_max_length", "metadata key"),
    (request(metadata={str(n): "x" for n in range(17)}), "object_above_max_properties", "metadata"),
    (request(prompt_cache_key="k" * 65), "string_above_max_length", "prompt_cache_key"),
    (request(stream_options={"include_usage": True}), "unknown_parameter", "stream_options.include_usage"),
    (request(prompt_cache_options={"ttl": "1h"}), "invalid_value", "prompt_cache_options.ttl"),
    (request(context_management=[NOTHING]), "missing_required_parameter", "context_management[0].type"),
    (request(tool_choice="read_file"), "invalid_value", "tool_choice"),
    (request(tool_choice={"type": "function", "name": "other"}), None, "tool_choice"),
    (request(tool_choice={"type": "function", "function": {"name": "read_file"}}), "unknown_parameter",
     "tool_choice.function"),
    (request(tool_choice={"type": "allowed_tools", "mode": "none", "tools": [CHOICE]}), "invalid_value",
     "tool_choice.mode"),
    (request(tool_choice={"type": "allowed_tools", "mode": "auto", "tools": []}), "missing_required_parameter",
     "tool_choice.tools"),
    (request(tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "x"}]}), None,
     "tool_choice.tools[0]"),
    (request(tool_choice="required", tools=[]), None, "tool_choice"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "param"), PARAMETERS, ids=str)
def test_a_wrong_parameter_is_refused(body: Json, code: str | None, param: str | None) -> None:
    assert codes(body)[0] == (code, param)


NO_REASONING = Endpoint(efforts=())
TEXT: Json = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
DEMANDS: list[tuple[Endpoint, Json, list[tuple[str | None, str | None]]]] = [
    (Endpoint(efforts=("low",)), request(reasoning={"effort": "low"}), []),
    (Endpoint(efforts=("low",)), request(reasoning={"effort": "high"}), [("unsupported_value", "reasoning.effort")]),
    (NO_REASONING, request(include=[], temperature=0.1, top_logprobs=1), []),
    (NO_REASONING, request(), [(None, "include")]),
    (NO_REASONING, request(include=None, reasoning={"effort": "low"}), [("unsupported_parameter", "reasoning.effort")]),
    (NO_REASONING, request(include=None, text={"verbosity": "high"}), [("unsupported_value", "text.verbosity")]),
    (Endpoint(open_reasoning=True), request(user(), TEXT, assistant()), []),
    (Endpoint(stored=True), request(store=True), []),
    (Endpoint(stored=True), without(request(previous_response_id="resp_1"), "store"), []),
    (Endpoint(extra_keys=("thinking",)), request(thinking={}), []),
    (Endpoint(forbidden_keys=("prompt_cache_key",)), request(prompt_cache_key="k"),
     [("unknown_parameter", "prompt_cache_key")]),
    (Endpoint(images=False), request(user([image()])), [(None, "input[0].content[0]")]),
    (Endpoint(images=False), request(user(), called(), output(content=[image()])), [(None, "input[2].output[0]")]),
    (Endpoint(max_body_bytes=100), request(), [("context_length_exceeded", "input")]),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "body", "expected"), DEMANDS, ids=str)
def test_an_endpoint_has_its_own_demands(endpoint: Endpoint, body: Json, expected: list[Any]) -> None:
    assert codes(body, endpoint) == expected


def test_an_effort_is_refused_in_the_vendors_words() -> None:
    [refusal] = refusals(request(reasoning={"effort": "xhigh"}), endpoint=Endpoint(efforts=("low", "high")))
    assert refusal.message == (
        "Unsupported value: 'xhigh' is not supported with the 'test-model' model. Supported values are: 'low' and"
        " 'high'."
    )
    [refusal] = refusals(request(include=[], reasoning={"effort": "low"}), endpoint=NO_REASONING)
    assert refusal.message == "Unsupported parameter: 'reasoning.effort' is not supported with this model."


def test_a_wrong_key_is_refused_and_echoed_in_part() -> None:
    endpoint = Endpoint(key="sk-right-0123456789")
    [refusal] = refusals(request(), endpoint=endpoint, authorization="Bearer sk-wrong-secretsecret-9876")
    assert (refusal.status, refusal.code) == (401, "invalid_api_key")
    assert refusal.message == "Incorrect API key provided: sk-wrong**************9876."
    [refusal] = refusals(request(), endpoint=endpoint, authorization="Basic x")
    assert (refusal.status, refusal.message) == (401, "Missing bearer authentication in header")
    assert refusals(request(), endpoint=endpoint, authorization="Bearer sk-right-0123456789") == []


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json; a=b"])
def test_a_wrong_content_type_is_refused(kind: str) -> None:
    assert codes(request(), content_type=kind) == [("unsupported_content_type", None)]


def test_a_refusal_is_told_in_the_vendors_error_body() -> None:
    reply = PROTOCOL.refused(refusals(request(user(), called("call_7")))[0])
    assert reply.status == 400
    assert "x-request-id" in reply.headers
    assert json.loads(reply.body) == {
        "error": {
            "message": "No tool output found for function call call_7.",
            "type": "invalid_request_error",
            "param": "input",
            "code": None,
        }
    }
    assert json.loads(PROTOCOL.refused(Refusal("x", status=500)).body)["error"]["type"] == "server_error"


def test_every_reason_is_reported() -> None:
    body = request(user(" "), called("a"), stream=False, tools={})
    assert {param for _, param in codes(body)} == {"input[0].content", "input", "stream", "tools"}


def test_the_words_of_a_request_are_found() -> None:
    body = request(user([written("One"), image()]), assistant("Two"), user("Three"), called(), output(content="Four"))
    words = PROTOCOL.words(Asked("POST", "/v1/responses", {}, body_of(body)))
    assert words.users == ("One", "Three")
    assert (words.last_role, words.tools) == ("tool", ("read_file",))
    assert words.everything.split("\n") == ["Be brief.", "One", "Two", "Three", "call_1", "read_file", "{}", "call_1",
                                            "Four"]  # fmt: skip
    roles = [PROTOCOL.words(Asked("", "", {}, body_of(request(item)))).last_role
             for item in (user(), assistant(), called(), TEXT)]  # fmt: skip
    assert roles == ["user", "assistant", "assistant", "assistant"]
    assert PROTOCOL.words(Asked("", "", {}, b"{")).last_role == ""


ODD: list[Any] = [None, True, 1, -1.5, "", "x", [], [1], [[]], {}, {"a": 1}, {"type": "input_text"}, {"id": []}]


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
    marked = written() | {"prompt_cache_breakpoint": {"mode": "explicit"}}
    whole = request(
        user([marked, image()]), {**TEXT, "id": "rs_1"}, assistant(id="msg_1", phase="commentary"), called(id="fc_1"),
        output(content=[written()]), metadata={"a": "b"}, reasoning={"effort": "low"},
        text={"format": {"type": "text"}}, tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [CHOICE]},
    )  # fmt: skip
    endpoint = Endpoint(open_reasoning=True)
    assert codes(whole, endpoint) == []
    for body in variants(whole):
        codes(json.dumps(body).encode(), endpoint)
        PROTOCOL.words(Asked("POST", "/v1/responses", {}, body_of(body)))
