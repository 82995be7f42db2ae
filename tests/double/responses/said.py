"""What an answer said, and what an item says when labels and shape are put aside."""

from __future__ import annotations

from collections.abc import Sequence

from tests.double import strict_json
from tests.double.protocol import Answer
from tests.double.refusal import as_list, as_object
from tests.double.responses.items import is_json_object, kind_of_item
from tests.double.responses.tools import MOST_NAME, NAME

Item = dict[str, object]


def done_items(answer: Answer) -> list[Item]:
    """The items that the answer has brought to their end so far, in the order of the output."""
    done = [event for event in answer.sent if event.get("type") == "response.output_item.done"]
    items = [as_object(event.get("item")) for event in sorted(done, key=lambda event: event.get("output_index", 0))]
    return [item for item in items if item is not None]


def said(answer: Answer) -> list[Item]:
    """The items that must come back: those of a whole answer, what nobody could send back aside.

    Reasoning that nothing follows is refused by the vendor, and a message without visible text says nothing.
    """
    kinds = {event.get("type") for event in answer.sent}
    if not answer.whole or "response.completed" not in kinds or kinds & {"error", "response.failed"}:
        return []
    items = [item for item in done_items(answer) if meaning(item) is not None]
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def meaning(item: Item) -> list[object] | None:
    """What an item says; None for a message that says nothing. What a call is called by does not count."""
    match kind_of_item(item):
        case "reasoning":
            return ["reasoning", item.get("encrypted_content"), *thought(item)]
        case "function_call":
            name, arguments = item.get("name"), item.get("arguments")
            fits = isinstance(name, str) and NAME.fullmatch(name) and len(name) <= MOST_NAME
            return ["function_call", name if fits else None, arguments if is_json_object(arguments) else None]
        case "message":
            text, refusal = _texts(item.get("content"), "text"), _texts(item.get("content"), "refusal")
            seen = strict_json.is_visible(text + refusal)
            return ["message", item.get("role"), item.get("phase"), text, refusal] if seen else None
        case kind:
            return [kind, item.get("output")]


def agrees(said: list[object], given: list[object]) -> bool:
    """Whether this means what was said; of a call, what no request can bring back may be anything."""
    mended = said[0] == "function_call" == given[0]
    return said == given or (mended and all(old in (None, new) for old, new in zip(said, given, strict=True)))


def meanings(items: Sequence[object]) -> list[list[object]]:
    """What these items say."""
    found = (meaning(as_object(item) or {}) for item in items)
    return [one for one in found if one is not None]


def thought(item: Item) -> list[list[object]]:
    """The texts of a reasoning item: its summary, and what can be read of it."""
    return [[(as_object(part) or {}).get("text") for part in as_list(item.get(key)) or ()] for key in _PARTS]


_PARTS = ("summary", "content")


def _texts(content: object, key: str) -> str:
    if isinstance(content, str):
        return content if key == "text" else ""
    parts = (as_object(part) or {} for part in as_list(content) or ())
    return "".join(text for part in parts if isinstance(text := part.get(key), str))
