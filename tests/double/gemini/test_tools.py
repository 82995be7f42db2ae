from __future__ import annotations

import pytest

from tests.double.gemini.conversation import (
    DECLARATION,
    OBJECT,
    TOOLS,
    asked,
    calling,
    declaring,
    parameters,
    request,
    without,
)
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.rules import check
from tests.double.steps import Json


def codes(body: Json, endpoint: GeminiEndpoint | None = None) -> list[tuple[object, object]]:
    return [(refusal.code, refusal.param) for refusal in check(asked(body), endpoint or GeminiEndpoint())]


NOTHING: Json = {}
EMPTY: Json = {"functionDeclarations": []}


@pytest.mark.parametrize(
    "schema",
    [
        *(
            {key: {}}
            for key in ("additionalProperties", "$defs", "const", "oneOf", "allOf", "not", "patternProperties")
        ),
        *({key: 1} for key in ("exclusiveMinimum", "multipleOf", "uniqueItems", "$schema", "examples", "$id")),
    ],
    ids=str,
)
def test_a_keyword_of_json_schema_is_no_field_of_the_vendors_schema(schema: Json) -> None:
    [key] = schema
    at = "tools[0].function_declarations[0].parameters"
    [refusal] = check(asked(parameters({**OBJECT, **schema})), GeminiEndpoint())
    assert refusal.message == f"Invalid JSON payload received. Unknown name \"{key}\" at '{at}': Cannot find field."
    assert codes(declaring(parametersJsonSchema={"type": "object", **schema})) == []


SCHEMAS: list[tuple[Json, str, str]] = [
    ({}, "missing_type", "type"),
    ({"type": "ARRAY"}, "missing_items", "items"),
    ({"type": "STRING", "items": {"type": "STRING"}}, "stray_items", "items"),
    ({"type": "OBJECT"}, "empty_properties", "properties"),
    ({"type": "STRING", "properties": {"b": {"type": "STRING"}}}, "stray_properties", "properties"),
    ({"type": "STRING", "required": ["b"]}, "stray_properties", "required"),
    ({"type": "INTEGER", "enum": ["1"]}, "stray_enum", "enum"),
    ({"type": "STRING", "enum": [""]}, "empty_enum", "enum[0]"),
    ({"type": "STRING", "format": "uri"}, "unknown_format", "format"),
    ({"type": "INTEGER", "format": "uint8"}, "unknown_format", "format"),
    ({"anyOf": [{"type": "ARRAY"}]}, "missing_items", "any_of[0].items"),
    ({"type": "ARRAY", "items": {}}, "missing_type", "items.type"),
    ({**OBJECT, "required": ["b"]}, "undefined_property", "required[0]"),
]
JSON_SCHEMAS: list[tuple[object, str]] = [
    ([], "not_an_object"),
    ({"type": "string"}, "not_an_object"),
    ({"properties": {"a": {"$ref": "#/$defs/x"}}}, "undefined_schema"),
    ({"properties": {"a": {"$ref": "https://example.org/a"}}}, "undefined_schema"),
    ({"properties": {"a": {"$ref": "#nowhere"}}}, "undefined_schema"),
    ({"properties": {"a": {"$ref": 1}}}, "undefined_schema"),
]
NESTED = "tools[0].function_declarations[0].parameters"
TOOL_RULES: list[tuple[Json, str, str]] = [
    (request(tools=[NOTHING]), "empty_tool", "tools[0].tool_type"),
    (request(tools=[EMPTY]), "empty_tool", "tools[0].tool_type"),
    (request(tools=[{"functionDeclarations": [DECLARATION] * 2}]), "duplicate_name", "tools"),
    (request(tools=TOOLS * 2), "duplicate_name", "tools"),
    (declaring(name=""), "empty_name", "tools[0].function_declarations[0].name"),
    (declaring(name="0a"), "invalid_name", "tools[0].function_declarations[0].name"),
    (declaring(name="a b"), "invalid_name", "tools[0].function_declarations[0].name"),
    (declaring(name="a" * 65), "invalid_name", "tools[0].function_declarations[0].name"),
    (declaring(description=""), "missing_description", "tools[0].function_declarations[0].description"),
    (declaring(parameters=OBJECT), "two_schemas", "tools[0].function_declarations[0].parameters_json_schema"),
    (parameters({"type": "STRING"}), "not_an_object", f"{NESTED}.type"),
    (parameters({"type": "OBJECT"}), "empty_properties", f"{NESTED}.properties"),
    (parameters({"type": "OBJECT", "properties": {}}), "empty_properties", f"{NESTED}.properties"),
    *(
        (parameters({"type": "OBJECT", "properties": {"a": schema}}), code, f"{NESTED}.properties[a].{at}")
        for schema, code, at in SCHEMAS
    ),
    *(
        (declaring(parametersJsonSchema=schema), code, "tools[0].function_declarations[0].parameters_json_schema")
        for schema, code in JSON_SCHEMAS
    ),
    (
        without(calling(mode="AUTO"), "tools"),
        "no_declarations",
        "tool_config.function_calling_config",
    ),
    (
        calling(mode="ANY", allowedFunctionNames=["write"]),
        "undeclared_name",
        "tool_config.function_calling_config.allowed_function_names",
    ),
    (
        calling(mode="AUTO", allowedFunctionNames=["read_file"]),
        "names_without_any",
        "tool_config.function_calling_config.allowed_function_names",
    ),
]


@pytest.mark.parametrize(("body", "code", "param"), TOOL_RULES, ids=str)
def test_wrong_tools_are_refused(body: Json, code: str, param: str) -> None:
    assert codes(body) == [(code, param)]
