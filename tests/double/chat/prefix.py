"""Whether a request goes on exactly where the one before it stopped, so that the vendor's prompt cache hits."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tests.double import strict_json
from tests.double.chat.endpoint import Endpoint
from tests.double.refusal import Refusal, as_list


class _Head(msgspec.Struct):
    messages: msgspec.Raw
    tools: msgspec.Raw = msgspec.Raw(b"")


def check_prefix(before: bytes, body: bytes, endpoint: Endpoint) -> Iterator[Refusal]:
    """Compare two accepted bodies of one context: as values, for a clear message, and as bytes."""
    old, new = msgspec.json.decode(before, type=_Head), msgspec.json.decode(body, type=_Head)
    if endpoint.expect_prefix:
        yield from _check_messages(bytes(old.messages), bytes(new.messages))
    if endpoint.same_tools and bytes(old.tools) != bytes(new.tools):
        text = "The tools are not those of the request before"
        yield Refusal(f"{text}: {_difference(bytes(old.tools), bytes(new.tools))}", "tools", "tools_changed")


def _check_messages(old: bytes, new: bytes) -> Iterator[Refusal]:
    olds, news = as_list(strict_json.loads(old)) or [], as_list(strict_json.loads(new)) or []
    text = "The messages do not begin with those of the request before"
    for number, value in enumerate(olds):
        if number >= len(news):
            yield Refusal(f"{text}: {len(olds)} then, {len(news)} now.", "messages", "prefix_changed")
            return
        if news[number] != value:
            param = f"messages[{number}]"
            yield Refusal(f"{text}: {param} was {value!r} and is {news[number]!r}.", param, "prefix_changed")
            return
    head = old[:-1].rstrip()
    if not new.startswith(head):
        yield Refusal(f"{text}, byte for byte: {_difference(head, new)}", "messages", "prefix_bytes_changed")


def _difference(old: bytes, new: bytes) -> str:
    """Both texts around the first byte that differs."""
    shorter = min(len(old), len(new))
    place = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    window = slice(max(0, place - 40), place + 40)
    return f"at byte {place} {old[window]!r} became {new[window]!r}."
