"""What must be remembered of a content block, so that it goes back as it came."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.opacity import read, written
from penguin_harness.omnimessage import CompletePayload, InlineThinking, Text, Thinking, ToolCall

REBUILT = frozenset({"type", "text", "thinking", "signature", "id", "name", "input", "cache_control"})
"""Members of a block that its payload already holds, or that are never sent back."""


class ThinkingFidelity(Struct, omit_defaults=True):
    """Of thinking: its signature, or the whole block where the vendor keeps it secret."""

    signature: Raw | UnsetType = UNSET
    redacted_thinking: Raw | UnsetType = UNSET
    block: dict[str, Raw] | UnsetType = UNSET
    """Members that this adapter does not know."""


class BlockFidelity(Struct):
    """Of a text or a call: members that this adapter does not know."""

    block: dict[str, Raw]


_thinking = msgspec.json.Decoder(ThinkingFidelity)
_block = msgspec.json.Decoder(BlockFidelity)
_members = msgspec.json.Decoder(dict[str, Raw])


def read_thinking(payload: Thinking) -> ThinkingFidelity | None:
    """What this protocol recorded of the thinking; None when that holds nothing to be sent."""
    found = read(payload.fidelity, _thinking)
    if found is None or (found.signature is UNSET and found.redacted_thinking is UNSET and found.block is UNSET):
        return None
    return found


def read_block(payload: Text | ToolCall) -> dict[str, Raw]:
    """The members of the block beside those that the payload holds."""
    found = read(payload.fidelity, _block)
    return {} if found is None else found.block


def of_thinking(signature: Raw | UnsetType, extra: dict[str, Raw]) -> Raw:
    """Signed thinking. Without a signature, as some compatible endpoints have it, the block itself is the mark."""
    block = extra if extra or signature is UNSET else UNSET
    return written(ThinkingFidelity(signature, block=block))


def of_redacted(block: Raw) -> Raw:
    """Thinking that only the vendor can read."""
    return written(ThinkingFidelity(redacted_thinking=block))


def of_block(extra: dict[str, Raw]) -> Raw | UnsetType:
    """A text or a call, where there is anything to remember."""
    return written(BlockFidelity(extra)) if extra else UNSET


def extra_members(block: Raw) -> dict[str, Raw]:
    """The members of a block that no payload holds, nulls aside."""
    members = read(block, _members) or {}
    return {name: Raw(bytes(value)) for name, value in members.items() if name not in REBUILT and value != _NULL}


def keeps(payload: CompletePayload) -> bool:
    """Whether everything of the payload goes out again."""
    match payload:
        case Thinking(fidelity=Raw()):
            return read_thinking(payload) is not None
        case Text(fidelity=Raw()) | ToolCall(fidelity=Raw()):
            return read(payload.fidelity, _block) is not None
        case InlineThinking():
            return False
        case _:
            return True


_NULL = Raw(b"null")
