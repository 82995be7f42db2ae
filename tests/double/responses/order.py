"""What is refused in the sequence of the items: calls and outputs, reasoning and what it led to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.double.refusal import Refusal
from tests.double.responses.identity import needed_by
from tests.double.responses.items import kind_of_item
from tests.double.responses.said import Item


def check_order(items: Sequence[Item]) -> Iterator[Refusal]:
    """Every rule about what stands beside what."""
    yield from check_twins(items)
    yield from check_outputs(items)
    for number, item in enumerate(items):
        if item.get("type") == "reasoning" and not is_led_to(items[number + 1] if number + 1 < len(items) else {}):
            text = "was provided without its required following item."
            yield Refusal(f"Item '{item.get('id')}' of type 'reasoning' {text}", "input")
        needed = needed_by(item.get("id"))
        before = items[number - 1] if number else {}
        if needed is not None and not (before.get("type") == "reasoning" and before.get("id", needed) == needed):
            text = f"was provided without its required 'reasoning' item: '{needed}'."
            yield Refusal(f"Item '{item['id']}' of type '{kind_of_item(item)}' {text}", "input")


def check_twins(items: Sequence[Item]) -> Iterator[Refusal]:
    """No id stands for two items, and no call id for two calls or two outputs."""
    seen: set[tuple[str, str]] = set()
    for item in items:
        for kind, name in (("id", item.get("id")), (str(kind_of_item(item)), item.get("call_id"))):
            if isinstance(name, str) and (kind, name) in seen:
                text = f"Duplicate item found with id {name}. Remove duplicate items from your input and try again."
                yield Refusal(text, "input")
            seen.add((kind, str(name)))


def check_outputs(items: Sequence[Item]) -> Iterator[Refusal]:
    """Each output belongs to a call before it, and each call has one."""
    waiting: dict[str, None] = {}
    called: set[str] = set()
    for item in items:
        call_id = str(item.get("call_id"))
        if item.get("type") == "function_call":
            waiting[call_id] = None
            called.add(call_id)
        elif item.get("type") == "function_call_output":
            waiting.pop(call_id, None)
            if call_id not in called:
                yield Refusal(f"No tool call found for function call output with call_id {call_id}.", "input")
    for call_id in waiting:
        yield Refusal(f"No tool output found for function call {call_id}.", "input")


def is_led_to(item: Item) -> bool:
    """Whether reasoning can lead to this item."""
    kind = kind_of_item(item)
    return kind in ("reasoning", "function_call") or (kind == "message" and item.get("role") == "assistant")
