"""JSON Schemas of tools, adapted to what a vendor takes: one bad schema must not make every request fail.

A schema that fits goes out byte for byte. What a vendor refuses is left out or said in its way; the tool itself checks
its arguments, so a schema that says less costs the model a hint and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct, UnsetType

Schema: TypeAlias = dict[str, Any]

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_COMBINATORS = ("anyOf", "oneOf", "allOf")
_DEEPEST = 32
"""Levels of a schema that are sent; what lies deeper is left open."""

_SUB = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedItems")
_SUB_LISTS = (*_COMBINATORS, "prefixItems")
_SUB_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


class SchemaDialect(Struct, frozen=True):
    """What a vendor takes."""

    keywords: frozenset[str] | None = None
    """The keywords it knows; None for all of JSON Schema."""
    refs: bool = True
    """Whether it follows `$ref`; without, references are written out, and recursion is left open."""
    top_level_choice: bool = False
    """Whether the whole schema may be a choice between schemas."""
    property_names: re.Pattern[str] | None = None
    """What a property's name must look like; others are left out."""


OPENAI = SchemaDialect()
ANTHROPIC = SchemaDialect(property_names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"))
GEMINI = SchemaDialect(
    keywords=frozenset({
        *("type", "title", "description", "enum", "const", "default", "examples", "format", "nullable", "deprecated"),
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
        *("maxProperties", "dependentRequired", "dependentSchemas", "propertyOrdering", "anyOf", "oneOf", "allOf"),
        *("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("pattern", "contentEncoding", "contentMediaType", "not", "if", "then", "else", "readOnly", "writeOnly"),
    }),
    refs=False,
)  # fmt: skip
"""All of JSON Schema but for references, which the vendor loses track of inside choices, and what only serves them."""
NOTHING = Raw(b'{"type":"object","properties":{}}')


def adapted(schema: Raw | UnsetType, dialect: SchemaDialect) -> Raw:
    """The schema as this vendor takes it."""
    return NOTHING if isinstance(schema, UnsetType) else _adapted(bytes(schema), dialect)


@lru_cache(maxsize=512)
def _adapted(text: bytes, dialect: SchemaDialect) -> Raw:
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return NOTHING
    if not isinstance(schema, dict):
        return NOTHING
    whole = cast(Schema, schema)
    fitted = _Fitting(dialect, whole).top(whole)
    return Raw(text) if fitted == schema else Raw(msgspec.json.encode(fitted))


class _Fitting:
    """One schema on its way into a dialect."""

    def __init__(self, dialect: SchemaDialect, root: Schema) -> None:
        self._dialect = dialect
        self._root = root

    def top(self, schema: Schema) -> Schema:
        """The whole schema, which must be that of an object."""
        schema = self._resolved(schema, ())[0] if not self._dialect.refs else schema
        if not self._dialect.top_level_choice:
            schema = _merged(schema)
        if not isinstance(schema.get("properties"), dict) and "$ref" not in schema:
            schema = {**schema, "properties": {}}
        return self._fitted({**schema, "type": "object"}, ())

    def _fitted(self, schema: object, path: tuple[str, ...]) -> Schema:
        """A schema with everything in it; `path` are the references that lead here."""
        if not isinstance(schema, dict) or len(path) > _DEEPEST:
            return {}
        value, path = self._resolved(cast(Schema, schema), path)
        known = self._dialect.keywords
        fitted: Schema = {}
        for name, member in value.items():
            if (known is None or name in known) and (kept := self._member(name, member, path)) is not _GONE:
                fitted[name] = kept
        if fitted.get("type") == "array" and "items" not in fitted and "prefixItems" not in fitted:
            fitted["items"] = {}
        return fitted

    def _member(self, name: str, value: Any, path: tuple[str, ...]) -> Any:
        deeper = (*path, "")
        if name in _SUB:
            return value if isinstance(value, bool) else self._fitted(value, deeper)
        if name in _SUB_LISTS:
            return [self._fitted(item, deeper) for item in cast(list[object], value)] if _is_filled(value) else _GONE
        if name in _SUB_MAPS:
            return self._properties(name, value, deeper)
        return _CHECKS[name](value) if name in _CHECKS else value

    def _properties(self, name: str, value: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(value, dict):
            return _GONE
        pattern = self._dialect.property_names if name == "properties" else None
        members = cast(Schema, value).items()
        return {key: self._fitted(sub, path) for key, sub in members if pattern is None or pattern.fullmatch(key)}

    def _resolved(self, schema: Schema, path: tuple[str, ...]) -> tuple[Schema, tuple[str, ...]]:
        """The schema with what its reference stands for, where the vendor follows none."""
        reference = schema.get("$ref")
        if self._dialect.refs or not isinstance(reference, str):
            return schema, path
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        if reference in path:
            return beside, path
        target = _at(self._root, reference)
        resolved, path = self._resolved(target, (*path, reference)) if target else ({}, path)
        return resolved | beside, path


_GONE = object()


def _is_filled(value: object) -> bool:
    return isinstance(value, list) and bool(cast(list[object], value))


def _type(value: object) -> object:
    if isinstance(value, str):
        return value if value in _TYPES else _GONE
    if not isinstance(value, list):
        return _GONE
    named = [name for name in cast(list[object], value) if name in _TYPES]
    return named or _GONE


def _names(value: object) -> object:
    if not isinstance(value, list):
        return _GONE
    return list(dict.fromkeys(name for name in cast(list[object], value) if isinstance(name, str)))


_CHECKS: Mapping[str, Callable[[object], object]] = {
    "type": _type,
    "required": _names,
    "enum": lambda value: value if _is_filled(value) else _GONE,
    "description": lambda value: value if isinstance(value, str) else _GONE,
}


def _at(root: Schema, reference: str) -> Schema | None:
    """What a reference inside the schema points to."""
    if not reference.startswith("#"):
        return None
    found = root
    for step in filter(None, reference[1:].split("/")):
        found = _object(found.get(step.replace("~1", "/").replace("~0", "~")))
    return found or None


def _merged(schema: Schema) -> Schema:
    """A choice at the top as one object: all properties, and as required what every choice requires."""
    branches = [branch for name in _COMBINATORS for branch in _objects(schema.get(name))]
    rest = {name: value for name, value in schema.items() if name not in (*_COMBINATORS, "not", "enum", "const")}
    if not branches:
        return rest
    properties = {name: sub for part in (*branches, rest) for name, sub in _object(part.get("properties")).items()}
    every = [set(_strings(branch.get("required"))) for branch in branches]
    common = set[str].union(*every) if schema.get("allOf") else set[str].intersection(*every)
    required = [name for name in properties if name in common or name in _strings(rest.get("required"))]
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _objects(value: object) -> Iterable[Schema]:
    items = cast(list[object], value) if isinstance(value, list) else []
    return [cast(Schema, item) for item in items if isinstance(item, dict)]


def _object(value: object) -> Schema:
    return cast(Schema, value) if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in cast(list[object], value) if isinstance(item, str)] if isinstance(value, list) else []
