"""The text in a request, as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.protocol import Words
from tests.double.refusal import as_list, as_object
from tests.double.responses.history import items_of
from tests.double.responses.items import kind_of_item

_LABELS = frozenset({"type", "role", "id", "status", "phase", "encrypted_content", "image_url"})


def words(body: dict[str, object]) -> Words:
    """What scripts are chosen by and what they expect."""
    items = [as_object(item) or {} for item in items_of(body)]
    users = [item for item in items if item.get("role") == "user"]
    texts = tuple("\n".join(_strings(item.get("content"))) for item in users)
    everything = "\n".join(_strings([body.get("instructions"), items]))
    return Words(everything, texts, _role(items[-1]) if items else "", _offered(body))


def _role(item: dict[str, object]) -> str:
    match kind_of_item(item):
        case "message":
            return str(item.get("role"))
        case "function_call_output":
            return "tool"
        case _:
            return "assistant"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in as_list(value) or ():
        yield from _strings(item)
    for key, item in (as_object(value) or {}).items():
        yield from _strings(item) if key not in _LABELS else ()


def _offered(body: dict[str, object]) -> tuple[str, ...]:
    tools = (as_object(tool) or {} for tool in as_list(body.get("tools")) or ())
    return tuple(str(tool.get("name")) for tool in tools)
