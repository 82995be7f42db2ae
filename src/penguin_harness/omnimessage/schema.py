"""The protocol described out of its own types: as JSON Schema, and as the reference in the docs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from penguin_harness.omnimessage.events import EventPayload
from penguin_harness.omnimessage.messages import KnownMessage
from penguin_harness.omnimessage.payloads import CompletePayload, PartialPayload

Schema: TypeAlias = dict[str, Any]

_REF = "#/$defs/"
_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Envelopes", ("SessionMetaMessage", "ModelMessage", "EventMessage")),
    ("session_meta", ("SessionMeta",)),
    ("Complete payloads", tuple(kind.__name__ for kind in CompletePayload.__args__)),
    ("Streaming fragments", tuple(kind.__name__ for kind in PartialPayload.__args__)),
    ("Events", tuple(kind.__name__ for kind in EventPayload.__args__)),
    ("Parts", ("TokenCounts", "ToolSchema", "McpResult")),
)


def json_schema() -> Schema:
    """JSON Schema (2020-12) of one message: what a line of a Trace, a stream or an SSE `data:` field holds."""
    schema = _named(msgspec.json.schema(KnownMessage))
    for definition in schema["$defs"].values():
        for name in ("fidelity", "parameters"):
            if name in definition["properties"]:
                definition["properties"][name]["type"] = "object"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "OmniMessage",
        "description": "One message. Readers ignore unknown fields and pass unknown kinds on unchanged.",
        **schema,
    }


def protocol_reference() -> str:
    """The types as Markdown tables."""
    definitions: dict[str, Schema] = json_schema()["$defs"]
    lines: list[str] = []
    for title, names in _SECTIONS:
        lines += [f"## {title}", ""]
        for name in names:
            lines += [*_table(name, definitions[name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _named(schema: Any) -> Any:
    """The schema with the generic envelope under its plain name."""
    match schema:
        case {**members}:
            return {_plain(str(key)): _named(value) for key, value in members.items()}
        case [*values]:
            return [_named(value) for value in values]
        case str():
            return _plain(schema)
        case _:
            return schema


def _plain(name: str) -> str:
    for prefix in (_REF, ""):
        if name.startswith((f"{prefix}ModelMessage_", f"{prefix}ModelMessage[")):
            return f"{prefix}ModelMessage"
    return name


def _table(name: str, definition: Schema) -> Iterator[str]:
    properties: dict[str, Schema] = dict(definition["properties"])
    tag = properties.pop("type", None)
    title = f"`{tag['enum'][0]}`" if tag else f"`{name}`"
    yield from (f"### {title}", "", definition["description"], "")
    if not properties:
        yield "No fields besides `type`."
        return
    yield from ("| field | type | meaning |", "| --- | --- | --- |")
    for field, described in properties.items():
        optional = "" if field in definition["required"] else ", optional"
        yield f"| `{field}` | {_type(described)}{optional} | {described.get('description', '')} |"


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": ref}:
            return f"`{ref.removeprefix(_REF)}`"
        case {"enum": values}:
            return " · ".join(f"`{value}`" for value in values)
        case {"anyOf": [*choices]}:
            shown = [_type(choice) for choice in choices if choice != {"type": "null"}]
            return "a payload" if len(shown) > 6 else " · ".join(shown)
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case _:
            return str(schema.get("type", "any"))
