"""Complete messages taken apart again, as a stream would have brought them."""

from __future__ import annotations

from collections.abc import Iterator

from penguin_harness.omnimessage import (
    ModelMessage,
    OmniMessage,
    PartialPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)


def fragments_of(message: OmniMessage, pieces: int) -> list[OmniMessage]:
    """The fragments that come before the message, their content in so many pieces; none for what never streams."""
    if not isinstance(message, ModelMessage):
        return []
    fragments = _fragments(message.payload, pieces)
    return [ModelMessage(message.timestamp, fragment, message.origin) for fragment in fragments]


def streamed_length(message: OmniMessage) -> int:
    """Characters that the message streams."""
    match message.payload:
        case Text(role="assistant", text=content) | Thinking(thinking=content) | ToolCall(arguments=content):
            return len(content)
        case ToolCallOutput(output=content):
            return len(content)
        case _:
            return 0


def _fragments(payload: object, pieces: int) -> Iterator[PartialPayload]:
    match payload:
        case Text(role="assistant", text=text, stop_reason=reason):
            yield PartialText("assistant", "start", "")
            yield from (PartialText("assistant", "delta", piece) for piece in _cut(text, pieces))
            yield PartialText("assistant", "stop", "", reason)
        case Thinking(thinking=text, stop_reason=reason):
            yield PartialThinking("assistant", "start", "")
            yield from (PartialThinking("assistant", "delta", piece) for piece in _cut(text, pieces))
            yield PartialThinking("assistant", "stop", "", reason)
        case ToolCall(name=name, tool_call_id=call, arguments=text, stop_reason=reason):
            yield PartialToolCall("assistant", "start", name, "", call)
            yield from (PartialToolCall("assistant", "delta", name, piece, call) for piece in _cut(text, pieces))
            yield PartialToolCall("assistant", "stop", name, "", call, reason)
        case ToolCallOutput(tool_call_id=call, output=text, stop_reason=reason):
            yield PartialToolCallOutput("user", "start", "", call)
            yield from (PartialToolCallOutput("user", "delta", piece, call) for piece in _cut(text, pieces))
            yield PartialToolCallOutput("user", "stop", "", call, None, reason)
        case _:
            return


def _cut(text: str, pieces: int) -> list[str]:
    size = max(-(-len(text) // pieces), 1)
    return [text[start : start + size] for start in range(0, len(text), size)]
