"""Whether a request goes on exactly where the one before it stopped, so that the vendor's prompt cache hits."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tests.double import strict_json
from tests.double.refusal import Refusal, as_list
from tests.double.script import Endpoint, Expect
from tests.double.text import last_user_text, offered, text_of


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


def check_expectation(body: bytes, expect: Expect) -> Iterator[Refusal]:
    """What the script wants of this request beside the rules."""
    if expect == Expect():
        return
    value = strict_json.loads(body)
    text, user, role = text_of(value), *last_user_text(value)
    if expect.last_role not in (None, role):
        yield _unmet(f"the last role is {role!r}, not {expect.last_role!r}")
    if expect.last_user is not None and expect.last_user not in user:
        yield _unmet(f"the last user text is {user!r} and does not hold {expect.last_user!r}")
    for part in expect.contains:
        if part not in text:
            yield _unmet(f"{part!r} is not in the messages")
    for part in expect.absent:
        if part in text:
            yield _unmet(f"{part!r} is in the messages")
    if expect.tools not in (None, offered(value)):
        yield _unmet(f"the tools are {offered(value)}, not {expect.tools}")


def _unmet(why: str) -> Refusal:
    return Refusal(f"The script expects another request: {why}.", code="expectation")
