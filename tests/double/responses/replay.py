"""Whether a request brings back what the whole answers of its context said, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.double.protocol import Answer
from tests.double.refusal import Refusal
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import items_of, value_of
from tests.double.responses.said import Item, agrees, meaning, said


def check_replay(items: Sequence[Item], past: Sequence[Answer], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """What is missing, changed or at another place; each answer's items stand behind its request."""
    start = 0
    for number, answer in enumerate(past if endpoint.expect_replay else ()):
        if endpoint.expect_prefix:
            start = len(items_of(value_of(answer.asked.body)))
        for item in said(answer):
            place = _place(item, items, start=start, anywhere=not endpoint.expect_prefix)
            if place is not None:
                start = place + 1
                continue
            code, param, why = _why(item, items, start)
            yield Refusal(f"Answer {number} does not come back as it was said: {item!r} {why}.", param, code)
            start += code == "answer_changed"


def _place(item: Item, items: Sequence[Item], *, start: int, anywhere: bool) -> int | None:
    """Where the item stands: at the first place that says anything, or at any."""
    for place in range(start, len(items)):
        if _is_same(item, items, place):
            return place
        if not anywhere and meaning(items[place]) is not None:
            return None
    return None


def _is_same(item: Item, items: Sequence[Item], place: int) -> bool:
    """An id that an earlier call already has cannot be sent again."""
    there, call_id = items[place], item.get("call_id")
    taken = any(other.get("call_id") == call_id for other in items[:place])
    old, new = meaning(item), meaning(there)
    same = old is not None and new is not None and agrees(old, new)
    return same and (call_id == there.get("call_id") or taken)


def _why(item: Item, items: Sequence[Item], start: int) -> tuple[str, str, str]:
    elsewhere = next((place for place in range(len(items)) if _is_same(item, items, place)), None)
    if elsewhere is not None:
        return "answer_moved", f"input[{elsewhere}]", f"is input[{elsewhere}] and not input[{start}]"
    here = items[start] if start < len(items) else {}
    if all(here.get(key) == item.get(key) for key in ("type", "role")):
        return "answer_changed", f"input[{start}]", f"is now {items[start]!r}"
    return "answer_missing", "input", f"is missing at input[{start}]"
