from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

import pytest

from tests.double.gemini.conversation import (
    DECLARATION,
    OBJECT,
    PATH,
    PNG,
    asked,
    called,
    config,
    declaring,
    image,
    output,
    parameters,
    request,
    said,
    thinking,
    user,
    without,
)
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.protocol import PROTOCOL
from tests.double.gemini.rules import check
from tests.double.protocol import Asked
from tests.double.refusal import Refusal
from tests.double.steps import Json

STEP = (user(), called("a"), output("a"))


def refusals(body: Json | bytes, endpoint: GeminiEndpoint | None = None, **headers: str) -> list[Refusal]:
    return check(asked(body, **headers), endpoint or GeminiEndpoint())


def codes(body: Json | bytes, endpoint: GeminiEndpoint | None = None, **headers: str) -> list[tuple[object, object]]:
    return [(refusal.code, refusal.param) for refusal in refusals(body, endpoint, **headers)]


AT = "generation_config"
OTHERS: list[tuple[Json, str, str]] = [
    (without(request(), "contents"), "no_contents", "contents"),
    ({**request(), "contents": []}, "no_contents", "contents"),
    (request(systemInstruction={"parts": []}), "empty_parts", "system_instruction.parts"),
    (request(systemInstruction={"parts": [{"text": ""}]}), "no_data", "system_instruction.parts[0].data"),
    (request(model="models/other"), "other_model", "model"),
    (config(maxOutputTokens=0), "out_of_range", f"{AT}.max_output_tokens"),
    (config(maxOutputTokens=65_537), "out_of_range", f"{AT}.max_output_tokens"),
    (config(temperature=2.1), "out_of_range", f"{AT}.temperature"),
    (config(topP=-1), "out_of_range", f"{AT}.top_p"),
    (config(topK=0), "out_of_range", f"{AT}.top_k"),
    (config(candidateCount=2), "candidates", f"{AT}.candidate_count"),
    (config(stopSequences=list("abcdef")), "out_of_range", f"{AT}.stop_sequences"),
    (config(responseMimeType="application/json"), "json_with_functions", f"{AT}.response_mime_type"),
    (thinking(thinkingLevel="LOW", thinkingBudget=-1), "budget_and_level", f"{AT}.thinking_config"),
    (thinking(thinkingLevel="XHIGH"), "unknown_level", f"{AT}.thinking_config.thinking_level"),
    (thinking(thinkingBudget=0), "thinks_always", f"{AT}.thinking_config.thinking_budget"),
    (thinking(thinkingBudget=127), "out_of_range", f"{AT}.thinking_config.thinking_budget"),
    (thinking(thinkingBudget=40_000), "out_of_range", f"{AT}.thinking_config.thinking_budget"),
]


@pytest.mark.parametrize(("body", "code", "param"), OTHERS, ids=str)
def test_a_wrong_request_is_refused(body: Json, code: str, param: str) -> None:
    assert codes(body) == [(code, param)]


WORDS: list[tuple[Json, str]] = [
    (without(request(), "contents"), "* GenerateContentRequest.contents: contents is not specified\n"),
    (request(user({})), "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one"
     " initialized field\n"),
    (request({"role": "user"}), "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n"),
    (request(user(), called("a", signature=None), output("a")),
     "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly,"
     " and missing thought_signature may lead to degraded model performance. Additional data, function call "
     "`default_api:read_file` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures "
     "for more details."),
    (request(user(), called("a", "b"), output("a")), "Please ensure that the number of function response parts is equal"
     " to the number of function call parts of the function call turn."),
    (request(user(), said("Hm."), called("a"), output("a")), "Please ensure that function call turn comes immediately"
     " after a user turn or after a function response turn."),
    (request(*STEP[:2], output("a", response={"$ref": "#/x"})), "The referenced name `#/x` in"
     " function_response.response does not match to a display_name in the function_response.parts."),
    (parameters({"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}}),
     "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[a].items: missing field.\n"),
    (declaring(parametersJsonSchema={"properties": {"a": {"anyOf": [{"$ref": "x"}]}}}),
     "reference to undefined schema at properties.a.anyOf.0"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), WORDS, ids=str)
def test_refusals_have_the_vendors_words(body: Json, message: str) -> None:
    assert refusals(body)[0].message == message


DEMANDS: list[tuple[GeminiEndpoint, Json, list[str]]] = [
    (GeminiEndpoint(enforce_signatures=False), request(user(), called("a", signature=None), output("a")), []),
    (GeminiEndpoint(enforce_signatures=False), request(user(), called("a", signature="QUJD"), output("a")),
     ["signature_corrupted"]),
    (GeminiEndpoint(thinking_levels=()), thinking(thinkingLevel="LOW"), ["no_levels"]),
    (GeminiEndpoint(thinks_always=False), thinking(thinkingBudget=0), []),
    (GeminiEndpoint(thinks_always=False), thinking(thinkingBudget=0, includeThoughts=True),
     ["thoughts_without_thinking"]),
    (GeminiEndpoint(images=False), request(user(image())), ["unsupported_image"]),
    (GeminiEndpoint(system_instruction=False), request(), ["no_instruction"]),
    (GeminiEndpoint(media_in_responses=False),
     request(*STEP[:2], output("a", parts=[{"inlineData": {"mimeType": "image/png", "data": PNG}}])),
     ["media_in_response"]),
    (GeminiEndpoint(ends_with_user=False), request(user(), said("Hi")), []),
    (GeminiEndpoint(strict_roles=True), request(user(), user()), ["alternate"]),
    (GeminiEndpoint(strict_roles=True), request(*STEP), []),
    (GeminiEndpoint(max_name=128), declaring(name="a" * 65), []),
    (GeminiEndpoint(max_output=8192), config(maxOutputTokens=8193), ["out_of_range"]),
    (GeminiEndpoint(max_payload_bytes=100), request(), ["payload_size"]),
    (GeminiEndpoint(max_body_bytes=100), request(), ["context_length"]),
    (GeminiEndpoint(extra_keys=("session",)), request(session={"id": 1}), []),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "body", "expected"), DEMANDS, ids=str)
def test_an_endpoint_has_its_own_demands(endpoint: GeminiEndpoint, body: Json, expected: list[str]) -> None:
    assert [code for code, _ in codes(body, endpoint)] == expected


def test_keys_are_refused_as_the_vendor_does() -> None:
    endpoint = GeminiEndpoint(key="right")
    [wrong] = refusals(request(), endpoint)
    body = json.loads(PROTOCOL.refused(wrong).body)["error"]
    assert (body["code"], body["status"], body["details"][0]["reason"]) == (400, "INVALID_ARGUMENT", "API_KEY_INVALID")
    assert body["message"] == "API key not valid. Please pass a valid API key."
    anonymous = Asked("POST", PATH.format("m"), {"content-type": "application/json"}, asked(request()).body)
    [none] = check(anonymous, endpoint)
    assert json.loads(PROTOCOL.refused(none).body)["error"]["status"] == "PERMISSION_DENIED"
    assert refusals(request(), endpoint, x_goog_api_key="right") == []


def test_the_key_belongs_into_the_header_and_the_answer_is_a_stream() -> None:
    [refusal] = check(asked(request(), path=f"{PATH}&key=key"), GeminiEndpoint())
    assert refusal.code == "key_in_url"
    [refusal] = check(asked(request(), path=PATH.partition("?")[0]), GeminiEndpoint())
    assert refusal.code == "not_sse"


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json; a=b"])
def test_a_wrong_content_type_is_refused(kind: str) -> None:
    assert codes(request(), content_type=kind) == [("content_type", None)]


def test_the_text_of_a_request_is_found() -> None:
    words = PROTOCOL.words(asked(request(user("One"), called("a"), output("a", response={"result": "found"}))))
    assert (words.users, words.last_role, words.tools) == (("One",), "tool", ("read_file",))
    for part in ("Be brief.", "One", "read_file", "found"):
        assert part in words.everything
    assert PROTOCOL.words(asked(request(user(), said("Hi")))).last_role == "assistant"
    assert PROTOCOL.words(asked(request(user("One"), user("Two")))).users == ("One", "Two")


ODD: list[object] = [None, True, 1, -1.5, 1e999, "", "x", [], [1], [[]], {}, {"a": 1}, {"text": ""}, {"id": []}]


def variants(value: object) -> Iterator[object]:
    """The value with each place in it replaced by each odd one."""
    yield from ODD
    if isinstance(value, dict):
        items = cast("Json", value)
        yield from ({**items, key: variant} for key in items for variant in variants(items[key]))
    elif isinstance(value, list):
        row = cast("list[object]", value)
        for place, item in enumerate(row):
            yield from ([*row[:place], variant, *row[place + 1 :]] for variant in variants(item))


def test_no_shape_of_a_request_breaks_the_rules() -> None:
    media = [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
    contents = [user(image()), called("a"), output("a", response={"b": [{"$ref": "x"}]}, parts=media)]
    whole = request(*contents, generationConfig={"thinkingConfig": {"thinkingLevel": "LOW"}, "topP": 1})
    whole["tools"] = [{"functionDeclarations": [DECLARATION, {"name": "b", "description": "B.", "parameters": OBJECT}]}]
    assert [code for code, _ in codes(whole)] == ["dangling_reference"]
    for body in variants(whole):
        data = asked(json.dumps(body).encode())
        check(data, GeminiEndpoint(strict_roles=True))
        PROTOCOL.words(data)
