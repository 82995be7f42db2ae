"""Whether a request goes on exactly where the one before it stopped, so that the vendor's prompt cache hits."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double import strict_json
from tests.double.refusal import Refusal, as_list
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import head_of


def check_prefix(before: bytes, body: bytes, endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """Compare two accepted bodies of one context: as values, for a clear message, and as bytes."""
    old, new = head_of(before), head_of(body)
    if endpoint.expect_prefix:
        yield from _check_same("instructions", bytes(old.instructions), bytes(new.instructions))
        yield from _check_items(old.whole_input, new.whole_input)
    if endpoint.same_tools:
        yield from _check_same("tools", bytes(old.tools), bytes(new.tools))


def _check_same(param: str, old: bytes, new: bytes) -> Iterator[Refusal]:
    if old != new:
        text = f"The {param} are not those of the request before: {_difference(old, new)}"
        yield Refusal(text, param, f"{param}_changed")


def _check_items(old: bytes, new: bytes) -> Iterator[Refusal]:
    olds, news = as_list(strict_json.loads(old)) or [], as_list(strict_json.loads(new)) or []
    text = "The input does not begin with that of the request before"
    for number, value in enumerate(olds):
        if number >= len(news):
            yield Refusal(f"{text}: {len(olds)} items then, {len(news)} now.", "input", "prefix_changed")
            return
        if news[number] != value:
            param = f"input[{number}]"
            yield Refusal(f"{text}: {param} was {value!r} and is {news[number]!r}.", param, "prefix_changed")
            return
    head = old.removesuffix(b"]").rstrip()
    if not new.startswith(head):
        yield Refusal(f"{text}, byte for byte: {_difference(head, new)}", "input", "prefix_bytes_changed")


def _difference(old: bytes, new: bytes) -> str:
    """Both texts around the first byte that differs."""
    shorter = min(len(old), len(new))
    place = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    window = slice(max(0, place - 40), place + 40)
    return f"at byte {place} {old[window]!r} became {new[window]!r}."
