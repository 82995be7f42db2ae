"""Whole payloads as a model would stream them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penguin_harness.contracts import BlockDelta, BlockEnd, CallDelta, ModelDelta, TextDelta, ThinkingDelta
from penguin_harness.llm.ids import provider_id
from penguin_harness.omnimessage import AssistantContent, InlineData, InlineThinking, Text, Thinking, ToolCall


def restream(payloads: Iterable[AssistantContent], fragment: int, *, first: int = 0) -> Iterator[ModelDelta]:
    """Deltas of at most `fragment` characters, each payload a segment of its own, ids as the provider gave them.

    Segments and calls are numbered from `first`.
    """
    for block, payload in enumerate(payloads, first):
        match payload:
            case Text():
                yield from (TextDelta(piece, block, payload.fidelity) for piece in _pieces(payload.text, fragment))
            case Thinking():
                for piece in _pieces(payload.thinking, fragment):
                    yield ThinkingDelta(piece, block, payload.fidelity)
            case ToolCall():
                yield CallDelta(block, "", provider_id(payload.tool_call_id), payload.name, payload.fidelity)
                yield from (CallDelta(block, piece) for piece in _pieces(payload.arguments, fragment))
            case InlineThinking() | InlineData():
                yield BlockDelta(payload)
        yield BlockEnd()


def _pieces(text: str, size: int) -> Iterator[str]:
    """The text in order; of an empty one the empty piece, which opens its segment."""
    return (text[start : start + size] for start in range(0, len(text) or 1, size))
