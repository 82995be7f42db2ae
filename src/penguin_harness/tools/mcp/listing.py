"""What a server offers, made fit to be offered on: a tool that cannot be is left out alone, and said so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from penguin_harness.omnimessage import clean

_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


def usable(listed: object, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """The tools of a list with what is of use of each; `tell` is told what is wrong with the others."""
    if not isinstance(listed, list):
        tell("its tool list is no list")
        return []
    found: list[dict[str, Any]] = []
    for number, tool in enumerate(cast("list[object]", listed), 1):
        try:
            found.append(_usable_tool(tool))
        except (ValueError, TypeError, RecursionError) as error:
            tell(f"left out its tool {_name(tool) or number!r}: {error}")
    return found


def _name(tool: object) -> str | None:
    name = cast("dict[str, object]", tool).get("name") if isinstance(tool, dict) else None
    return clean(name) if isinstance(name, str) and name.strip() else None


def _usable_tool(tool: object) -> dict[str, Any]:
    if not isinstance(tool, dict) or _name(cast("object", tool)) is None:
        raise ValueError("it has no name")
    given = cast("dict[str, Any]", tool)
    kept = {"name": given["name"], "inputSchema": _usable_schema(given.get("inputSchema"))}
    for key in ("title", "description"):
        if isinstance(given.get(key), str):
            kept[key] = clean(given[key])
    match given.get("annotations"):
        case {"readOnlyHint": bool() as is_read_only}:
            kept["annotations"] = {"readOnlyHint": is_read_only}
        case _:
            pass
    return kept


def _usable_schema(schema: object) -> dict[str, Any]:
    """Raises ValueError or TypeError for what no model could be given as the schema of an object."""
    if schema is None or schema is True or schema == {}:
        return _NO_ARGUMENTS
    if not isinstance(schema, dict):
        raise TypeError("its input schema is no object")
    fit = {"type": "object", **cast("dict[str, Any]", schema)}
    kinds = fit["type"]
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise ValueError("its input schema describes something else than an object")
    fit["type"] = "object"
    if not isinstance(fit.get("properties", {}), dict):
        raise TypeError("the properties of its input schema are no object")
    try:
        return msgspec.json.decode(msgspec.json.encode(fit))
    except UnicodeEncodeError:
        raise ValueError("its input schema holds text that is not valid Unicode") from None
