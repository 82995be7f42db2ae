"""Schemas of parameters: a subset of OpenAPI under `parameters`, JSON Schema under `parametersJsonSchema`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from tests.double.gemini.proto import Json
from tests.double.gemini.wording import argument, field
from tests.double.refusal import Refusal, as_list, as_object

FORMATS = {"STRING": ("enum", "date-time"), "NUMBER": ("float", "double"), "INTEGER": ("int32", "int64")}


def check_parameters(at: str, schema: Json) -> Iterator[Refusal]:
    """What validation refuses in a schema of known fields; the whole must be an object."""
    if schema.get("type") != "OBJECT":
        yield field(f"{at}.type", "must be OBJECT.", "not_an_object")
    yield from check_schema(at, schema)


def check_schema(at: str, schema: Json) -> Iterator[Refusal]:
    kind, properties = schema.get("type"), as_object(schema.get("properties")) or {}
    if kind is None and "any_of" not in schema:
        yield field(f"{at}.type", "must be specified when not using one_of, any_of or all_of fields", "missing_type")
    if kind == "ARRAY" and "items" not in schema:
        yield field(f"{at}.items", "missing field.", "missing_items")
    if kind != "ARRAY" and "items" in schema:
        yield field(f"{at}.items", "field predicate failed: $type == Type.ARRAY", "stray_items")
    if kind == "OBJECT" and not properties:
        yield field(f"{at}.properties", "should be non-empty for OBJECT type", "empty_properties")
    if kind != "OBJECT" and ("properties" in schema or "required" in schema):
        key = "properties" if "properties" in schema else "required"
        yield field(f"{at}.{key}", "only allowed for OBJECT type", "stray_properties")
    yield from check_values(at, schema)
    for number, name in enumerate(as_list(schema.get("required")) or ()):
        if properties and name not in properties:
            yield field(f"{at}.required[{number}]", "property is not defined", "undefined_property")
    for place, inner in _inner(at, schema):
        yield from check_schema(place, inner)


def check_values(at: str, schema: Json) -> Iterator[Refusal]:
    kind, shape, values = str(schema.get("type", "")), schema.get("format"), as_list(schema.get("enum")) or []
    if values and kind != "STRING":
        yield field(f"{at}.enum", "only allowed for STRING type", "stray_enum")
    for number, value in enumerate(values):
        if value == "":
            yield field(f"{at}.enum[{number}]", "cannot be empty", "empty_enum")
    known = FORMATS.get(kind, ())
    if shape and known and shape not in known:
        listed = " and ".join(f"'{one}'" for one in known)
        yield field(f"{at}.format", f"only {listed} are supported for {kind} type", "unknown_format")


def _inner(at: str, schema: Json) -> Iterator[tuple[str, Json]]:
    for name, inner in (as_object(schema.get("properties")) or {}).items():
        yield f"{at}.properties[{name}]", as_object(inner) or {}
    for number, inner in enumerate(as_list(schema.get("any_of")) or ()):
        yield f"{at}.any_of[{number}]", as_object(inner) or {}
    if "items" in schema:
        yield f"{at}.items", as_object(schema["items"]) or {}


def check_json_schema(at: str, schema: object) -> Iterator[Refusal]:
    """Any keyword may be sent; the whole must describe an object, and references must lead somewhere in it."""
    root = as_object(schema)
    if root is None or root.get("type", "object") not in ("object", "OBJECT"):
        yield argument(at, "not_an_object")
        return
    for path, reference in _references(root, ()):
        if not _resolves(reference, root):
            where = ".".join(path) or "top-level"
            yield Refusal(f"reference to undefined schema at {where}", at, "undefined_schema")


def _references(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each `$ref` that is a keyword: not one among the names of properties, nor in a value."""
    fields = as_object(value) or {}
    named = bool(path) and path[-1] in ("properties", "patternProperties", "$defs", "definitions")
    if "$ref" in fields and not named:
        yield path, fields["$ref"]
    for key, one in fields.items():
        if named or key not in ("enum", "const", "default", "examples", "example"):
            yield from _references(one, (*path, key))
    for number, one in enumerate(as_list(value) or ()):
        yield from _references(one, (*path, str(number)))


def _resolves(reference: object, root: Json) -> bool:
    if not isinstance(reference, str):
        return False
    place, hash_, pointer = reference.partition("#")
    if place and place not in _values("$id", root):
        return False
    if pointer and not pointer.startswith("/"):
        return pointer in _values("$anchor", root)
    return bool(hash_ or place) and _leads(unquote(pointer), root)


def _leads(pointer: str, root: Json) -> bool:
    value: object = root
    for step in pointer.split("/")[1:]:
        name, items = step.replace("~1", "/").replace("~0", "~"), as_list(value)
        if items is not None and re.fullmatch(r"\d+", name) and int(name) < len(items):
            value = items[int(name)]
        elif name in (as_object(value) or {}):
            value = (as_object(value) or {})[name]
        else:
            return False
    return True


def _values(key: str, value: object) -> list[object]:
    fields = as_object(value) or {}
    found = [fields[key]] if key in fields else []
    return found + [hit for one in as_list(value) or fields.values() for hit in _values(key, one)]
