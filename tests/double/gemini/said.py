"""What an answer said, as a client puts it together of the events."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from tests.double import strict_json
from tests.double.gemini.proto import Json, Reader
from tests.double.gemini.shapes import PART
from tests.double.protocol import Answer
from tests.double.refusal import as_list, as_object


class Item(Struct, frozen=True):
    """A part, or the text parts that make one text."""

    kind: str
    """`text`, `thought`, or the name of its data."""
    content: str
    signature: bytes | None = None


def item_of(part: Json) -> Item:
    """The part as it was read; its content is the same however its JSON was written."""
    signature = part.get("thought_signature")
    kind = next((key for key in part if key in PART.data), "")
    data, signed = part.get(kind), signature if isinstance(signature, bytes) else None
    if kind == "text":
        return Item("thought" if part.get("thought") else "text", str(data), signed)
    return Item(kind, json.dumps(_plain(data), sort_keys=True, default=repr), signed)


def merged(items: Iterable[Item]) -> list[Item]:
    """Neighbouring texts of one kind joined unless they are signed, and those that show nothing left out."""
    return _joined(filter(_shows, _joined(items)))


def said(events: Iterable[Json]) -> list[Item]:
    """The items of the events' contents, in their order."""
    return merged(sent_item(part) for event in events for part in raw_parts(event))


def sent_item(part: Json) -> Item:
    """The item of a part as it was sent."""
    return item_of(as_object(Reader().read("", PART, part)) or {})


def whole(answer: Answer) -> list[Item]:
    """What has to come back: nothing of an answer that was cut, blocked or broken, or that was only thought."""
    candidates = [candidate for event in answer.sent if (candidate := candidate_of(event)) is not None]
    reason = next((reason for candidate in reversed(candidates) if (reason := candidate.get("finishReason"))), None)
    if not answer.whole or reason not in ("STOP", "MAX_TOKENS") or any("error" in event for event in answer.sent):
        return []
    items = said(answer.sent)
    if reason == "MAX_TOKENS" and items and _is_text(items[-1]):
        items.pop()
    shows = any(item.kind != "thought" and (item.content or not _is_text(item)) for item in items)
    return items if shows else []


def raw_parts(event: Json) -> list[Json]:
    """The parts of an event's first candidate, as they were sent."""
    content = as_object((candidate_of(event) or {}).get("content")) or {}
    return [as_object(part) or {} for part in as_list(content.get("parts")) or ()]


def candidate_of(event: Json) -> Json | None:
    candidates = as_list(event.get("candidates"))
    return as_object(candidates[0]) if candidates else None


def _joined(items: Iterable[Item]) -> list[Item]:
    joined: list[Item] = []
    for item in items:
        last = joined[-1] if joined else None
        if last is not None and last.kind == item.kind and _is_text(item) and not (last.signature or item.signature):
            joined[-1] = Item(item.kind, last.content + item.content)
        else:
            joined.append(item)
    return joined


def _shows(item: Item) -> bool:
    return item.signature is not None or not _is_text(item) or strict_json.is_visible(item.content)


def _is_text(item: Item) -> bool:
    return item.kind in ("text", "thought")


def _plain(value: object) -> object:
    """Numbers as the vendor keeps them: 1.0 is 1."""
    fields, items = as_object(value), as_list(value)
    if fields is not None:
        return {key: _plain(one) for key, one in fields.items()}
    if items is not None:
        return [_plain(one) for one in items]
    return int(value) if isinstance(value, float) and value.is_integer() else value
