"""Whether a request goes on exactly where the one before it stopped, so that the vendor's prompt cache hits."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double import strict_json
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.raw import parts_of
from tests.double.anthropic.wording import invalid
from tests.double.refusal import Refusal


def check_prefix(before: bytes, body: bytes, endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """Compare two accepted bodies of one context, cache markers aside: tools, system and messages, byte for byte."""
    old, new = parts_of(before), parts_of(body)
    if endpoint.same_tools and old.tools != new.tools:
        yield invalid("tools", f"not those of the request before: {_difference(old.tools, new.tools)}", "tools_changed")
    if not endpoint.expect_prefix:
        return
    if old.system != new.system:
        text = f"not that of the request before: {_difference(old.system, new.system)}"
        yield invalid("system", text, "prefix_changed")
    if len(new.messages) < len(old.messages):
        text = f"{len(old.messages)} in the request before, {len(new.messages)} now"
        yield invalid("messages", text, "prefix_changed")
    for number, (was, now) in enumerate(zip(old.messages, new.messages, strict=False)):
        if was != now:
            same = strict_json.loads(was) == strict_json.loads(now)
            text = f"not that of the request before: {_difference(was, now)}"
            yield invalid(f"messages.{number}", text, "prefix_bytes_changed" if same else "prefix_changed")
            return


def _difference(old: bytes, new: bytes) -> str:
    """Both texts around the first byte that differs."""
    shorter = min(len(old), len(new))
    place = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    window = slice(max(0, place - 40), place + 40)
    return f"at byte {place} {old[window]!r} became {new[window]!r}"
