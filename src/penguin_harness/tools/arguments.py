"""The model's JSON text as the arguments of a function: all of it as the schema says, or a text that says why not."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from penguin_harness.errors import ToolFailed
from penguin_harness.omnimessage import clean
from penguin_harness.omnimessage.unicode import clean_json

SCHEMA_LIMIT = 4_000


def decode_arguments(arguments: str, decoder: msgspec.json.Decoder[Any], schema: bytes) -> Any:
    """The decoded object; blank text is an empty one. Raises ToolFailed with the defect and the expected shape."""
    text = clean_json(clean(arguments).encode()) if arguments.strip() else b"{}"
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        problem = _json_defect(text) or f"The arguments do not fit this tool: {_place(error)}."
    shape = schema.decode()
    shape = shape if len(shape) <= SCHEMA_LIMIT else shape[:SCHEMA_LIMIT] + "…"
    raise ToolFailed(f"{problem} The tool was not run. Expected a JSON object of this schema:\n{shape}")


def _json_defect(data: bytes) -> str | None:
    text = data.decode()
    try:
        json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 20) : error.pos + 20]
        return (
            f"The arguments are not valid JSON: {error.msg} at character {error.pos + 1} of {len(text)}, near {near!r}."
        )
    except (ValueError, RecursionError) as error:
        return f"The arguments are not valid JSON: {error}."
    return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def _place(error: Exception) -> str:
    text = str(error)
    return text if " - at `" in text else f"{text} - at `$`"
