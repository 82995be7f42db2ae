"""Whether a request goes on exactly where the one before it stopped, so that the vendor's prompt cache hits."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.request import bytes_of
from tests.double.refusal import Refusal

CHANGED = "prefix_changed"


def check_prefix(before: bytes, body: bytes, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """Compare two accepted bodies of one context, byte for byte."""
    old, new = bytes_of(before), bytes_of(body)
    if endpoint.expect_prefix:
        if old.instruction != new.instruction:
            text = "The system instruction is not that of the request before"
            yield Refusal(f"{text}: {_difference(old.instruction, new.instruction)}", "systemInstruction", CHANGED)
        yield from _check_contents(old.contents, new.contents)
    if endpoint.same_tools and old.tools != new.tools:
        text = "The tools are not those of the request before"
        yield Refusal(f"{text}: {_difference(old.tools, new.tools)}", "tools", "tools_changed")


def _check_contents(old: tuple[bytes, ...], new: tuple[bytes, ...]) -> Iterator[Refusal]:
    text = "The contents do not begin with those of the request before"
    for number, content in enumerate(old):
        if number >= len(new):
            yield Refusal(f"{text}: {len(old)} then, {len(new)} now.", "contents", CHANGED)
            return
        if new[number] != content:
            at = f"contents[{number}]"
            yield Refusal(f"{text}: {at} {_difference(content, new[number])}", at, CHANGED)
            return


def _difference(old: bytes, new: bytes) -> str:
    """Both texts around the first byte that differs."""
    shorter = min(len(old), len(new))
    place = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    window = slice(max(0, place - 40), place + 40)
    return f"at byte {place} {old[window]!r} became {new[window]!r}."
