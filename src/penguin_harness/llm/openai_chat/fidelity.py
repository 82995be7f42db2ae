"""What must be remembered of a segment's wire form, so that it goes back as it came."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from penguin_harness.llm.opacity import read, written
from penguin_harness.omnimessage import CompletePayload, InlineThinking, Text, Thinking, ToolCall

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put the reasoning text, and the only names under which it is sent back."""


class ThinkingFidelity(Struct, omit_defaults=True):
    """Of reasoning: where its text stood, and OpenRouter's structured form with signatures and encrypted parts."""

    reasoning_field: str
    reasoning_details: list[Raw] | None = None


class CallFidelity(Struct):
    """Of a call: where Gemini's compatible endpoint keeps the thought signature."""

    extra_content: Raw


_thinking = msgspec.json.Decoder(ThinkingFidelity)
_call = msgspec.json.Decoder(CallFidelity)


def read_thinking(payload: Thinking) -> ThinkingFidelity | None:
    """What this protocol recorded of the reasoning."""
    return read(payload.fidelity, _thinking)


def read_call(payload: ToolCall) -> CallFidelity | None:
    """What this protocol recorded of the call."""
    return read(payload.fidelity, _call)


def of_field(field: str) -> Raw:
    """Reasoning whose text stood in this field."""
    return written(ThinkingFidelity(field))


def of_details(blocks: Sequence[Raw]) -> Raw:
    """Reasoning in its structured form."""
    return written(ThinkingFidelity("reasoning", list(blocks)))


def of_extra(extra_content: Raw) -> Raw:
    """A call with what stood beside it."""
    return written(CallFidelity(extra_content))


def keeps(payload: CompletePayload) -> bool:
    """Whether everything of the payload goes out again."""
    match payload:
        case Thinking(fidelity=Raw()):
            return read_thinking(payload) is not None
        case ToolCall(fidelity=Raw()):
            return read_call(payload) is not None
        case Text(fidelity=Raw()) | InlineThinking():
            return False
        case _:
            return True
