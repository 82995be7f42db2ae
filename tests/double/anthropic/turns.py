"""The conversation as the vendor reads it: neighbouring messages of one role are one turn."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tests.double import strict_json
from tests.double.refusal import as_list, as_object


class Block(Struct, frozen=True):
    """One content block; a string is a block of text."""

    at: str
    """Its place, as the vendor writes it: `messages.3.content.0`."""
    message: int
    kind: str
    value: dict[str, object]

    def text(self, key: str) -> str:
        """The string under a key, or nothing."""
        value = self.value.get(key)
        return value if isinstance(value, str) else ""

    @property
    def is_thinking(self) -> bool:
        return self.kind in ("thinking", "redacted_thinking")

    @property
    def is_blank(self) -> bool:
        """Text in which a reader could see nothing: the model may say it, nobody may send it."""
        return self.kind == "text" and not strict_json.is_visible(self.text("text"))


class Turn(Struct, frozen=True):
    """What one side says before the other does."""

    role: str
    first: int
    """The number of its first message."""
    blocks: list[Block]


def turns_of(messages: Sequence[object]) -> list[Turn]:
    """The turns of a list of messages, whatever is wrong with it."""
    turns: list[Turn] = []
    for number, value in enumerate(messages):
        message = as_object(value) or {}
        role = str(message.get("role"))
        if not turns or turns[-1].role != role:
            turns.append(Turn(role, number, []))
        turns[-1].blocks.extend(blocks_of(f"messages.{number}.content", message.get("content"), message=number))
    return turns


def blocks_of(at: str, content: object, *, message: int) -> list[Block]:
    """The blocks of one content."""
    if isinstance(content, str):
        return [Block(at, message, "text", {"type": "text", "text": content})]
    values = [as_object(value) or {} for value in as_list(content) or ()]
    return [Block(f"{at}.{n}", message, str(value.get("type")), value) for n, value in enumerate(values)]


def messages_of(body: object) -> list[object]:
    """The list of messages, or nothing."""
    return as_list((as_object(body) or {}).get("messages")) or []
