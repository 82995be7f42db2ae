"""Cache markers: their form, their number, their order, and whether there are any."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.turns import blocks_of, messages_of
from tests.double.anthropic.wording import check_keys, invalid, one_of, required, should_be
from tests.double.refusal import Refusal, as_list, as_object

TTLS = ("5m", "1h")
MOST = 4


class Marked(Struct, frozen=True):
    """A place that can be marked, and the marker's time to live if it is."""

    at: str
    ttl: str | None


def check_marker(at: str, value: dict[str, object]) -> Iterator[Refusal]:
    """The form of the marker that a block or the request may have; null is none."""
    if value.get("cache_control") is None:
        return
    at = f"{at}.cache_control" if at else "cache_control"
    marker = as_object(value["cache_control"])
    if marker is None:
        yield should_be(at, "an object")
        return
    yield from check_keys(at, marker, {"type", "ttl"})
    if marker.get("type") != "ephemeral":
        yield required(f"{at}.type") if "type" not in marker else one_of(f"{at}.type", ["ephemeral"])
    if marker.get("ttl", "5m") not in TTLS:
        yield one_of(f"{at}.ttl", TTLS)


def check_cache(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """All markers of the request together."""
    places = list(_places(body))
    marks = [place for place in places if place.ttl]
    automatic = _ttl(body)
    last = places[-1].ttl if places else None
    if automatic and last and last != automatic:
        text = f"the last block has a ttl='{last}' cache_control, the request a ttl='{automatic}' one"
        yield invalid("cache_control", text)
    count = len(marks) + bool(automatic and not last)
    if count > MOST:
        text = f"A maximum of {MOST} blocks with cache_control may be provided. Found {count}."
        yield Refusal(text, "cache_control", "too_many_markers")
    times = [*marks, *([Marked("cache_control", automatic)] if automatic else [])]
    for before, mark in pairwise(times):
        if (before.ttl, mark.ttl) == ("5m", "1h"):
            text = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks"
            yield invalid(mark.at, f"{text} are processed in the following order: `tools`, `system`, `messages`.")
    if endpoint.require_cache and not count:
        yield Refusal("The request asks for no prompt cache.", "cache_control", "cache_missing")


def _places(body: dict[str, object]) -> Iterator[Marked]:
    """Everything that can be marked, in the order of the prompt."""
    for number, tool in enumerate(as_list(body.get("tools")) or ()):
        yield Marked(f"tools.{number}", _ttl(as_object(tool) or {}))
    blocks = blocks_of("system", body.get("system"), message=0)
    for number, message in enumerate(messages_of(body)):
        at = f"messages.{number}.content"
        blocks += blocks_of(at, (as_object(message) or {}).get("content"), message=number)
    for block in blocks:
        inner = as_list(block.value.get("content")) if block.kind == "tool_result" else None
        for number, part in enumerate(inner or ()):
            yield Marked(f"{block.at}.content.{number}", _ttl(as_object(part) or {}))
        if not block.is_thinking and not block.is_blank:
            yield Marked(block.at, _ttl(block.value))


def _ttl(value: dict[str, object]) -> str | None:
    marker = as_object(value.get("cache_control"))
    return None if marker is None else str(marker.get("ttl", "5m"))
