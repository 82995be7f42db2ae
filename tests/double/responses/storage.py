"""Items that a request names and does not bring: only a server that keeps them could know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.double.protocol import Answer
from tests.double.refusal import Refusal, as_object, missing
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import value_of
from tests.double.responses.said import Item, done_items
from tests.double.responses.wording import not_found


def kept_items(past: Sequence[Answer], endpoint: ResponsesEndpoint) -> dict[str, Item]:
    """The items that the server keeps, by their id."""
    if not endpoint.stored:
        return {}
    stored = (answer for answer in past if value_of(answer.asked.body).get("store") is not False)
    return {str(item["id"]): item for answer in stored for item in done_items(answer)}


def brought(items: Sequence[object], kept: Mapping[str, Item]) -> list[Item]:
    """The items with those that are kept in the place of their names."""
    objects = [as_object(item) or {} for item in items]
    return [kept.get(str(item.get("id")), item) if is_named_only(item) else item for item in objects]


def check_named(items: Sequence[object], kept: Mapping[str, Item]) -> Iterator[Refusal]:
    """Each item that is not there."""
    for number, value in enumerate(items):
        item = as_object(value) or {}
        if is_named_only(item) and str(item.get("id")) not in kept:
            yield not_found(str(item["id"])) if "id" in item else missing(f"input[{number}].encrypted_content")


def is_named_only(item: Item) -> bool:
    """Whether an item does not bring what it is: a reference, or reasoning without its content."""
    bare = not item.get("content") and item.get("encrypted_content") is None
    return item.get("type") == "item_reference" or (item.get("type") == "reasoning" and bare)
