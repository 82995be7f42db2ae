from __future__ import annotations

import pytest

from tests.double.refusal import Refusal
from tests.double.responses.conversation import TOOL, without
from tests.double.responses.schema import faults
from tests.double.responses.tools import check_tools
from tests.double.steps import Json

NESTED: Json = {
    "type": "object",
    "properties": {
        "path": {"type": ["string", "null"], "pattern": "^a", "description": "Where."},
        "kinds": {"type": "array", "items": {"$ref": "#/$defs/Kind"}, "maxItems": 3},
        "when": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
    },
    "required": ["path", "kinds", "when"],
    "additionalProperties": False,
    "$defs": {"Kind": {"type": "string", "enum": ["a", "b"]}},
}


def tools(*given: object) -> list[Refusal]:
    return list(check_tools({"model": "test-model", "tools": list(given)}))


def test_valid_tools_pass() -> None:
    strict = {**TOOL, "name": "b", "parameters": NESTED, "strict": True}
    nothing: Json = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    by_default = {**strict, "name": "c", "strict": None}
    assert tools(TOOL, strict, by_default, {**strict, "name": "d", "parameters": nothing}) == []


TOOLS: list[tuple[object, str | None, str]] = [
    ("x", "invalid_type", "tools[0]"),
    ({}, "missing_required_parameter", "tools[0].type"),
    ({"type": "web_search"}, None, "tools"),
    ({"type": "tool"}, "invalid_value", "tools[0].type"),
    ({"type": "function", "function": {"name": "a"}}, "missing_required_parameter", "tools[0].name"),
    (without(TOOL, "strict"), "missing_required_parameter", "tools[0].strict"),
    (without(TOOL, "parameters"), "missing_required_parameter", "tools[0].parameters"),
    ({**TOOL, "cache_control": {}}, "unknown_parameter", "tools[0].cache_control"),
    ({**TOOL, "name": "a.b"}, "invalid_value", "tools[0].name"),
    ({**TOOL, "name": ""}, "invalid_value", "tools[0].name"),
    ({**TOOL, "name": "n" * 65}, "string_above_max_length", "tools[0].name"),
    ({**TOOL, "name": 5}, "invalid_type", "tools[0].name"),
    ({**TOOL, "description": []}, "invalid_type", "tools[0].description"),
    ({**TOOL, "strict": "no"}, "invalid_type", "tools[0].strict"),
    ({**TOOL, "parameters": []}, "invalid_type", "tools[0].parameters"),
    ({**TOOL, "parameters": {"type": "array"}}, "invalid_function_parameters", "tools[0].parameters"),
]


@pytest.mark.parametrize(("tool", "code", "param"), TOOLS, ids=str)
def test_a_wrong_tool_is_refused(tool: object, code: str | None, param: str) -> None:
    first = tools(tool)[0]
    assert (first.code, first.param) == (code, param)


def test_tools_have_names_of_their_own_and_are_not_too_many() -> None:
    assert [refusal.param for refusal in tools(TOOL, TOOL)] == ["tools[1].name"]
    many = [{**TOOL, "name": f"t{number}"} for number in range(129)]
    assert [refusal.message for refusal in tools(*many)] == [
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129"
        " instead."
    ]
    assert tools(*many[1:]) == []


def test_without_a_word_about_it_a_schema_is_strict() -> None:
    loose = {**TOOL, "strict": None}
    [first, second] = tools(loose)
    assert first.message == (
        "Invalid schema for function 'read_file': In context=(), 'additionalProperties' is required to be supplied and"
        " to be false."
    )
    assert second.message == (
        "Invalid schema for function 'read_file': In context=(), 'required' is required to be supplied and to be an"
        " array including every key in properties. Missing 'path'."
    )


def of(**schema: object) -> Json:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}


def deep(levels: int) -> Json:
    return of(**deep(levels - 1)) if levels > 1 else of(type="string")


LOOSE: list[tuple[object, str]] = [
    (None, "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."),
    ({"type": "string"}, "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"string\"'."),
    ({"type": "object"}, "In context=(), object schema missing properties."),
    ({"type": "object", "properties": {}, "oneOf": []},
     "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."),
    ({"type": "object", "properties": []}, "[] is not of type 'object'."),
    ({"type": "object", "properties": {"a": 5}}, "5 is not of type 'object', 'boolean'."),
    ({"type": "object", "properties": {}, "required": "a"}, "'a' is not of type 'array'."),
    ({"type": "object", "properties": {}, "required": [1]}, "1 is not of type 'string'."),
    (of(type="text"), "'text' is not valid under any of the given schemas."),
    (of(type="array"), "In context=('properties', 'a'), array schema missing items."),
    (of(anyOf=[{"type": ["array", "null"]}]),
     "In context=('properties', 'a', 'anyOf', '0'), array schema missing items."),
]  # fmt: skip
STRICT: list[tuple[Json, str]] = [
    (of(type="string", minLength=1), "In context=('properties', 'a'), 'minLength' is not permitted."),
    (of(type="string", default="x"), "In context=('properties', 'a'), 'default' is not permitted."),
    (of(oneOf=[{"type": "string"}], type="string"), "In context=('properties', 'a'), 'oneOf' is not permitted."),
    (of(description="x"), "In context=('properties', 'a'), schema must have a 'type' key."),
    ({**of(**{"$ref": "#/$defs/A", "description": "x"}), "$defs": {"A": {"type": "string"}}},
     "In context=('properties', 'a'), $ref cannot have keywords ['description']."),
    (of(type="string", format="uri"), "In context=('properties', 'a'), 'uri' is not a valid format."),
    (of(type="object"),
     "In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false."),
    ({**of(type="string"), "required": ["a", "b"]},
     "In context=(), 'required' has an extra key: Extra required key 'b' supplied."),
    (of(type="array", items={"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": False}),
     "In context=('properties', 'a', 'items'), 'required' is required to be supplied and to be an array including every"
     " key in properties. Missing 'b'."),
    (deep(11), "11 levels of nesting exceeds limit of 10."),
    ({"type": "object", "properties": {f"p{n}": {"type": "null"} for n in range(5001)},
      "required": [f"p{n}" for n in range(5001)], "additionalProperties": False},
     "5001 properties in total exceed the limit of 5000."),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "why"), LOOSE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_schema_that_is_none_is_refused_in_either_mode(schema: object, why: str) -> None:
    assert why in list(faults(schema, strict=False))
    assert why in list(faults(schema, strict=True))


@pytest.mark.parametrize(("schema", "why"), STRICT, ids=lambda value: value if isinstance(value, str) else "")
def test_a_strict_schema_is_of_the_vendors_subset(schema: Json, why: str) -> None:
    assert list(faults(schema, strict=True)) == [why]
    assert list(faults(schema, strict=False)) == []


def test_ten_levels_are_taken() -> None:
    assert list(faults(deep(10), strict=True)) == []
