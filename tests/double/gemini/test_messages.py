from __future__ import annotations

import json

import pytest

from tests.double.gemini.conversation import (
    DECLARATION,
    OBJECT,
    PNG,
    TOOLS,
    asked,
    called,
    calling,
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
from tests.double.refusal import Refusal
from tests.double.steps import Json

STEP = (user(), called("a"), output("a"))


def refusals(body: Json | bytes, endpoint: GeminiEndpoint | None = None, **headers: str) -> list[Refusal]:
    return check(asked(body, **headers), endpoint or GeminiEndpoint())


def codes(body: Json | bytes, endpoint: GeminiEndpoint | None = None, **headers: str) -> list[tuple[object, object]]:
    return [(refusal.code, refusal.param) for refusal in refusals(body, endpoint, **headers)]


NOTHING: Json = {}
SNAKE: Json = {
    "contents": [
        user(),
        said({"function_call": {"name": "read_file"}, "thought_signature": "skip_thought_signature_validator"}),
        user({"function_response": {"name": "read_file", "response": {}}}),
    ],
    "system_instruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"function_declarations": [{"name": "read_file", "description": "Read."}]}],
    "generation_config": {"max_output_tokens": 5},
}
VALID: list[Json] = [
    request(),
    without(request(), "tools", "systemInstruction"),
    {"contents": [{"parts": [{"text": "Hi"}]}]},
    SNAKE,
    request(user("One", "Two"), said("Three"), user("Four"), user("Five")),
    request(user(image(), "See", image("/9j/4A==", "image/jpeg"))),
    request(user(image("/9j_4A", "image/jpeg"))),
    request(user({"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}})),
    request(user({"fileData": {"fileUri": "https://example.org/files/a", "mimeType": "image/png"}})),
    request(*STEP),
    request(user(), called("a", "b"), output("b", "a")),
    request(*STEP, called("b"), output("b"), said("Done."), user("Thanks")),
    request(user(), said({"text": "Hm.", "thought": True}, "I look."), user("And?")),
    request(user(), called("a"), user(*output("a")["parts"], "And quickly.")),
    request(user(), called("a", signature=None), output("a"), said("Done."), user("Thanks")),
    request(user(), called("a", signature="context_engineering_is_the_way_to_go"), output("a")),
    request(user(), called("a", signature="c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="), output("a")),
    request(user(), called("a"), output("a", parts=[{"inlineData": {"mimeType": "image/png", "data": PNG}}])),
    request(
        user(),
        called("a"),
        output(
            "a",
            response={"image": {"$ref": "a.png"}},
            parts=[{"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "a.png"}}],
        ),
    ),
    request(tools=[*TOOLS, {"googleSearch": NOTHING}], toolConfig={"functionCallingConfig": {"mode": "any"}}),
    request(tools=[{"functionDeclarations": [without(DECLARATION, "parametersJsonSchema")]}]),
    calling(mode="ANY", allowedFunctionNames=["read_file"]),
    config(maxOutputTokens=65_536, temperature=2, topP=1, topK=40.0, candidateCount=1, stopSequences=["a"], seed=7),
    thinking(thinkingLevel="low", includeThoughts=True),
    thinking(thinkingBudget=-1),
    request(safetySettings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]),
    parameters({**OBJECT, "required": ["a"], "propertyOrdering": ["a"]}),
    parameters({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "minLength": 1}}}}),
    parameters({"type": "OBJECT", "properties": {"a": {"anyOf": [{"type": "STRING", "enum": ["x"]}, OBJECT]}}}),
    declaring(parametersJsonSchema={"type": "object", "properties": {}, "additionalProperties": False}),
    declaring(parametersJsonSchema={"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": ["object", "null"]}}}),
    declaring(parametersJsonSchema={"allOf": [{"$ref": "#here"}, {"$anchor": "here", "const": 1}], "not": False}),
    declaring(parametersJsonSchema={"properties": {"$ref": {"type": "string"}, "a": {"enum": [{"$ref": "x"}]}}}),
    declaring(parametersJsonSchema={"oneOf": [{"type": "object"}], "items": {"$ref": "#/oneOf/0"}}),
    request(user("日本 🐧")),
]


@pytest.mark.parametrize("body", VALID, ids=str)
def test_a_valid_request_passes(body: Json) -> None:
    assert refusals(body) == []


UNREADABLE = [b"", b"{", b"[]", b"null", b'{"a": NaN}', b'{"a": 1, "a": 2}', b'{"a": "\xff"}', b'{"a": "\\ud83d"}']


@pytest.mark.parametrize("body", UNREADABLE, ids=ascii)
def test_what_is_not_a_json_object_of_whole_characters_is_refused(body: bytes) -> None:
    assert codes(body) == [("invalid_json", None)]


FIELDS: list[tuple[Json, str]] = [
    (request(stream=True), 'Invalid JSON payload received. Unknown name "stream": Cannot find field.'),
    (
        request({**user(), "name": "x"}),
        "Invalid JSON payload received. Unknown name \"name\" at 'contents[0]': Cannot find field.",
    ),
    (
        request(user({"functionCall": {"name": "f", "thoughtSignature": "QQ=="}})),
        "Invalid JSON payload received. Unknown name \"thoughtSignature\" at 'contents[0].parts[0].function_call': "
        "Cannot find field.",
    ),
    (
        parameters({"type": "object", "properties": {"a": {}, "b": {"$ref": "#/$defs/x"}}}),
        'Invalid JSON payload received. Unknown name "$ref" at '
        "'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.",
    ),
    (
        parameters({"type": ["string", "null"]}),
        "Invalid JSON payload received. Unknown name \"type\" at 'tools[0].function_declarations[0].parameters': "
        "Proto field is not repeating, cannot start list.",
    ),
    (
        request(user(), called("a"), output("a", response=["x"])),
        "Invalid JSON payload received. Unknown name \"response\" at 'contents[2].parts[0].function_response': "
        "Proto field is not repeating, cannot start list.",
    ),
    (
        request(user(), called("a"), output("a", response="x")),
        "Invalid value at 'contents[2].parts[0].function_response.response' (google.protobuf.Struct), \"x\"",
    ),
    (
        request(user({"text": "a", "inlineData": {"mimeType": "image/png", "data": PNG}})),
        "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inline_data'",
    ),
    (
        request(user(image("data:image/png;base64,QQ=="))),
        "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "
        '"data:image/png;base64,QQ=="',
    ),
    (request(user({"text": 5})), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"),
    (
        request(user({"text": {}})),
        "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), Starting an object on a scalar field",
    ),
    (
        request(generationConfig="x"),
        "Invalid value at 'generation_config' "
        '(type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig), "x"',
    ),
    (
        parameters({"type": "any"}),
        "Invalid value at 'tools[0].function_declarations[0].parameters.type' "
        '(type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "any"',
    ),
    (config(maxOutputTokens=1.5), "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), 1.5"),
    (config(temperature=True), "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), true"),
    (
        thinking(includeThoughts=1),
        "Invalid value at 'generation_config.thinking_config.include_thoughts' (TYPE_BOOL), 1",
    ),
]


@pytest.mark.parametrize(("body", "message"), FIELDS, ids=str)
def test_what_does_not_fit_the_messages_is_refused_in_the_vendors_words(body: Json, message: str) -> None:
    [refusal] = refusals(body)
    assert refusal.message == message
    details = json.loads(PROTOCOL.refused(refusal).body)["error"]["details"]
    assert details[0]["fieldViolations"][0]["description"] == message
