"""What the vendor takes as the schema of a tool's input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.double.anthropic.wording import invalid, required
from tests.double.refusal import Refusal, as_list, as_object

KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
UNIONS = ("oneOf", "allOf", "anyOf")


def check_schema(at: str, schema: dict[str, object], *, strict: bool) -> Iterator[Refusal]:
    """A schema by draft 2020-12 of one object, with keys that the vendor can write down."""
    if schema.get("type") != "object":
        yield required(f"{at}.type") if "type" not in schema else invalid(f"{at}.type", "Input should be 'object'")
    if any(key in schema for key in UNIONS):
        text = "input_schema does not support oneOf, allOf, or anyOf at the top level"
        yield invalid(at, text, "invalid_schema")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        text = "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12)"
        yield invalid(at, f"{text}: {error.json_path}: {error.message}", "invalid_schema")
        return
    objects = list(_objects(schema))
    if any(not KEY.fullmatch(key) for one in objects for key in as_object(one.get("properties")) or {}):
        text = f"Property keys should match pattern '^{KEY.pattern}$'"
        yield invalid(f"{at}.properties", text, "invalid_schema")
    if strict and any(one.get("additionalProperties") is not False for one in objects if one.get("type") == "object"):
        text = "For 'object' type, 'additionalProperties' must be explicitly set to false"
        yield invalid(at.removesuffix(".input_schema"), text, "invalid_schema")


def _objects(schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The schema and all schemas inside it."""
    yield schema
    for key in ("properties", "patternProperties", "$defs", "definitions"):
        for value in (as_object(schema.get(key)) or {}).values():
            yield from _objects(as_object(value) or {})
    for key in (*UNIONS, "prefixItems"):
        for value in as_list(schema.get(key)) or ():
            yield from _objects(as_object(value) or {})
    for key in ("items", "additionalProperties", "not"):
        inner = as_object(schema.get(key))
        if inner is not None:
            yield from _objects(inner)
