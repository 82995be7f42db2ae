"""What must be remembered of an output item, so that it goes back as it came.

Ids and states are left out: they mean something only to a server that stores its answers, and it is told not to.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.opacity import read, written
from penguin_harness.omnimessage import CompletePayload, InlineData, InlineThinking, Text, Thinking, ToolCall, clean

_PLAIN_PART = frozenset({"type", "text", "annotations", "logprobs"})
"""Members of a part that is fully told by its text."""
_NOT_IN_CALLS = frozenset({"type", "id", "status", "call_id", "name", "arguments"})
_NOT_IN_MESSAGES = frozenset({"type", "id", "status", "role"})
_NOT_IN_REASONING = frozenset({"id", "status"})
_EMPTY = frozenset({b"null", b'""'})
_NULL = b"null"


class ReasoningFidelity(Struct):
    """Of reasoning: the item, with its encrypted content."""

    reasoning: dict[str, Raw]

    @property
    def is_content(self) -> bool:
        """Whether the item says what was thought: without, only the server that stored it would know."""
        sealed, content = self.reasoning.get("encrypted_content"), self.reasoning.get("content")
        return (sealed is not None and bytes(sealed) not in _EMPTY) or bool(read(content or UNSET, _items))


class MessageFidelity(Struct):
    """Of a text: its message's label, and its parts where they are not one plain text."""

    message: dict[str, Raw]


class CallFidelity(Struct):
    """Of a call: members that this adapter does not know."""

    call: dict[str, Raw]


_reasoning = msgspec.json.Decoder(ReasoningFidelity)
_message = msgspec.json.Decoder(MessageFidelity)
_call = msgspec.json.Decoder(CallFidelity)
_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_parts = msgspec.json.Decoder(list[dict[str, Raw]])
_string = msgspec.json.Decoder(str)


def read_reasoning(payload: Thinking) -> dict[str, Raw] | None:
    """The members of the reasoning item; None when this protocol recorded none that can be sent."""
    found = read(payload.fidelity, _reasoning)
    return found.reasoning if found is not None and found.is_content else None


def read_message(payload: Text) -> dict[str, Raw]:
    """The members of the message beside the text."""
    found = read(payload.fidelity, _message)
    return {} if found is None else found.message


def read_call(payload: ToolCall) -> dict[str, Raw]:
    """The members of the call beside those that the payload holds."""
    found = read(payload.fidelity, _call)
    return {} if found is None else found.call


def of_reasoning(item: Raw) -> ReasoningFidelity:
    """A whole reasoning item."""
    return ReasoningFidelity(_without(item, _NOT_IN_REASONING))


def of_message(item: Raw, said: str) -> Raw | UnsetType:
    """A whole message, where there is anything to remember; `said` is the text that streamed."""
    members = _without(item, _NOT_IN_MESSAGES)
    content = members.pop("content", None)
    if content is not None and not _is_one_text(content) and parts_text(content) == clean(said):
        members["content"] = content
    return written(MessageFidelity(members)) if members else UNSET


def of_call(item: Raw) -> Raw | UnsetType:
    """A call, where there is anything to remember."""
    members = _without(item, _NOT_IN_CALLS)
    return written(CallFidelity(members)) if members else UNSET


def parts_text(parts: Raw | UnsetType, separator: str = "") -> str:
    """What the parts of a message, or of reasoning, say together."""
    said = (part.get("text", part.get("refusal")) for part in read(parts, _parts) or ())
    return separator.join(text for one in said if one is not None and (text := clean(read(one, _string) or "")))


def keeps(payload: CompletePayload) -> bool:
    """Whether everything of the payload goes out again."""
    match payload:
        case Thinking():
            return read_reasoning(payload) is not None
        case Text(fidelity=Raw()):
            return read(payload.fidelity, _message) is not None
        case ToolCall(fidelity=Raw()):
            return read(payload.fidelity, _call) is not None
        case InlineData(fidelity=Raw()) | InlineThinking():
            return False
        case _:
            return True


def _without(item: Raw, names: frozenset[str]) -> dict[str, Raw]:
    """The other members of the item, nulls aside, which some servers write and the vendor refuses."""
    members = read(item, _members) or {}
    return {name: value for name, value in members.items() if name not in names and bytes(value) != _NULL}


def _is_one_text(content: Raw) -> bool:
    parts = read(content, _parts)
    if parts is None or not parts:
        return True
    extra = (name for name, value in parts[0].items() if name not in _PLAIN_PART and bytes(value) != _NULL)
    return len(parts) == 1 and "text" in parts[0] and next(extra, None) is None
