"""Tokens, guessed where nobody says them: a false zero would switch off compaction."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from penguin_harness.contracts import Request
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
)

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1000


def estimate(request: Request, answer: Iterable[CompletePayload]) -> TokenCounts:
    """About what the request and its answer cost: four bytes of text a token."""
    return TokenCounts.of(cache_write=size_of(request), output=sum(map(_tokens, answer)))


def size_of(request: Request) -> int:
    """About how many tokens a request has."""
    schemas = sum(len(bytes(tool.parameters or b"")) + len(tool.description) for tool in request.tools)
    return schemas // BYTES_PER_TOKEN + _text(request.system_prompt) + sum(map(_tokens, request.messages))


def sized(request: Request, known: int, new: Iterable[CompletePayload]) -> Request:
    """The request, with its size: that of what the model has answered is known once it has, the rest is guessed."""
    size = known + sum(map(_tokens, new)) if known else size_of(request)
    return replace(request, input_tokens=size)


def _text(text: str) -> int:
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def _tokens(payload: CompletePayload) -> int:
    match payload:
        case Text(text=text) | Thinking(thinking=text):
            return _text(text)
        case ToolCall(name=name, arguments=arguments):
            return _text(name) + _text(arguments)
        case ToolCallOutput(output=output, images=images):
            return _text(output) + IMAGE_TOKENS * len(images or ())
        case ImageUrl() | InlineData() | InlineThinking():
            return IMAGE_TOKENS
