"""What an answer said: its blocks, put together from the events that were sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from tests.double import strict_json
from tests.double.anthropic.turns import Block
from tests.double.refusal import as_object

_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}


class Said(Struct):
    """One block of an answer."""

    kind: str
    value: dict[str, object]
    written: list[str] = field(default_factory=list[str])
    """The fragments of a call's arguments."""
    closed: bool = False

    @property
    def input(self) -> dict[str, object] | None:
        """A call's arguments, if they are the object that an API takes back."""
        try:
            return as_object(strict_json.loads("".join(self.written) or "{}"))
        except ValueError:
            return None

    def block(self) -> Block:
        """The block as it would stand in a message."""
        return Block("", 0, self.kind, self.value)


def said_in(sent: Sequence[Mapping[str, Any]]) -> list[Said]:
    """The blocks in their order, the one that is still open included."""
    blocks: dict[object, Said] = {}
    for data in sent:
        index = data.get("index")
        match data.get("type"):
            case "content_block_start":
                value = dict(as_object(data.get("content_block")) or {})
                blocks[index] = Said(str(value.get("type")), value)
            case "content_block_delta" if index in blocks:
                _add(blocks[index], as_object(data.get("delta")) or {})
            case "content_block_stop" if index in blocks:
                blocks[index].closed = True
            case _:
                pass
    return list(blocks.values())


def _add(block: Said, delta: Mapping[str, object]) -> None:
    kind = str(delta.get("type"))
    if kind in _TEXTS:
        key = _TEXTS[kind]
        block.value[key] = f"{block.value.get(key, '')}{delta.get(key)}"
    elif kind == "signature_delta":
        block.value["signature"] = delta.get("signature")
    elif kind == "input_json_delta":
        block.written.append(str(delta.get("partial_json")))


def stop_reason(sent: Sequence[Mapping[str, Any]]) -> str | None:
    """Why the model stopped; None when the answer did not come to its regular end."""
    if not sent or sent[-1].get("type") != "message_stop" or any(data.get("type") == "error" for data in sent):
        return None
    deltas = [as_object(data.get("delta")) or {} for data in sent if data.get("type") == "message_delta"]
    reasons = [reason for delta in deltas if isinstance(reason := delta.get("stop_reason"), str)]
    return reasons[-1] if reasons else None
