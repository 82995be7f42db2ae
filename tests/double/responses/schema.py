"""What is refused in the JSON Schema of a function's parameters: little by itself, much when it is strict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from tests.double.refusal import as_list, as_object

Context = tuple[str, ...]

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
NOT_AT_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
STRICT_KEYWORDS = frozenset({
    "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "definitions", "description", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems", "minimum",
    "multipleOf", "pattern", "properties", "required", "title", "type",
})  # fmt: skip
FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
MOST_LEVELS = 10
MOST_PROPERTIES = 5000


class Place(Struct, frozen=True):
    """One schema and where it stands."""

    node: dict[str, object]
    context: Context
    level: int
    """How many objects it stands in."""


def faults(schema: object, *, strict: bool) -> Iterator[str]:
    """Each reason to refuse the schema of a function's parameters."""
    root = as_object(schema)
    if root is None or root.get("type") != "object":
        kind = None if root is None else root.get("type")
        yield f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        return
    if any(key in root for key in NOT_AT_TOP):
        yield "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    if "properties" not in root:
        yield "In context=(), object schema missing properties."
    places = list(_places(root, (), 1))
    for place in places:
        if isinstance(place, str):
            yield place
            continue
        yield from _shape(place)
        yield from _strict(place) if strict else ()
    properties = sum(len(as_object(place.node.get("properties")) or {}) for place in places if isinstance(place, Place))
    if strict and properties > MOST_PROPERTIES:
        yield f"{properties} properties in total exceed the limit of {MOST_PROPERTIES}."


def _places(schema: object, context: Context, level: int) -> Iterator[Place | str]:
    """This schema and all in it; a text where there should be one and is none."""
    if isinstance(schema, bool):
        return
    node = as_object(schema)
    if node is None:
        yield f"{schema!r} is not of type 'object', 'boolean'."
        return
    yield Place(node, context, level)
    for key in ("properties", "$defs", "definitions"):
        deeper = level + (key == "properties")
        for name, inner in (as_object(node.get(key)) or {}).items():
            yield from _places(inner, (*context, key, name), deeper)
    for key in ("anyOf", "oneOf", "allOf"):
        for number, inner in enumerate(as_list(node.get(key)) or ()):
            yield from _places(inner, (*context, key, str(number)), level)
    for key in ("items", "additionalProperties", "not"):
        if key in node:
            yield from _places(node[key], (*context, key), level)


def _shape(place: Place) -> Iterator[str]:
    """What JSON Schema itself refuses, and arrays of nobody knows what."""
    node = place.node
    for kind in _types(node):
        if kind not in TYPES:
            yield f"{kind!r} is not valid under any of the given schemas."
    for key in ("properties", "$defs", "definitions"):
        if key in node and as_object(node[key]) is None:
            yield f"{node[key]!r} is not of type 'object'."
    for key in ("required", "enum", "anyOf", "oneOf", "allOf"):
        if key in node and as_list(node[key]) is None:
            yield f"{node[key]!r} is not of type 'array'."
    for name in as_list(node.get("required")) or ():
        if not isinstance(name, str):
            yield f"{name!r} is not of type 'string'."
    if "array" in _types(node) and "items" not in node:
        yield f"In context={place.context}, array schema missing items."


def _strict(place: Place) -> Iterator[str]:
    node, where = place.node, f"In context={place.context}"
    for key in node:
        if key not in STRICT_KEYWORDS:
            yield f"{where}, '{key}' is not permitted."
    if not any(key in node for key in ("type", "anyOf", "$ref")):
        yield f"{where}, schema must have a 'type' key."
    if "$ref" in node and len(node) > 1:
        yield f"{where}, $ref cannot have keywords {sorted(set(node) - {'$ref'})}."
    if "format" in node and node["format"] not in FORMATS:
        yield f"{where}, {node['format']!r} is not a valid format."
    if "object" in _types(node) or "properties" in node:
        yield from _strict_object(place, where)


def _strict_object(place: Place, where: str) -> Iterator[str]:
    node = place.node
    if node.get("additionalProperties") is not False:
        yield f"{where}, 'additionalProperties' is required to be supplied and to be false."
    names: Mapping[str, object] = as_object(node.get("properties")) or {}
    required = as_list(node.get("required")) or []
    for name in names:
        if name not in required:
            text = "'required' is required to be supplied and to be an array including every key in properties."
            yield f"{where}, {text} Missing '{name}'."
    for name in required:
        if isinstance(name, str) and name not in names:
            yield f"{where}, 'required' has an extra key: Extra required key {name!r} supplied."
    if place.level > MOST_LEVELS:
        yield f"{place.level} levels of nesting exceeds limit of {MOST_LEVELS}."


def _types(node: Mapping[str, object]) -> list[object]:
    if "type" not in node:
        return []
    kinds = as_list(node["type"])
    return [node["type"]] if kinds is None else kinds
