"""Chat Completions: nameless chunks, the token counts in one of their own, a sentinel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.replies.turn import ASKED, Turn, WireReply, event


def events(turn: Turn) -> Iterator[bytes]:
    yield delta(turn, {"role": "assistant", "content": "", "refusal": None})
    for word in turn.words:
        yield delta(turn, {"content": word})
    if turn.calls:
        function = {"name": "add", "arguments": ""}
        yield call(turn, {"index": 0, "id": turn.call_id, "type": "function", "function": function})
        for piece in turn.pieces:
            yield call(turn, {"index": 0, "function": {"arguments": piece}})
    yield delta(turn, {}, finish="tool_calls" if turn.calls else "stop")
    usage = {"prompt_tokens": ASKED, "completion_tokens": turn.length, "total_tokens": ASKED + turn.length}
    yield chunk(turn, choices=[], usage=usage)
    yield b"data: [DONE]\n\n"


def delta(turn: Turn, fields: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": finish}
    return chunk(turn, choices=[choice], usage=None)


def call(turn: Turn, fields: dict[str, Any]) -> bytes:
    return delta(turn, {"tool_calls": [fields]})


def chunk(turn: Turn, **fields: Any) -> bytes:
    head = {"id": f"chatcmpl-{turn.number:029}", "object": "chat.completion.chunk", "created": 1_760_000_000}
    served = {"model": turn.model, "service_tier": "default", "system_fingerprint": "fp_0123456789"}
    return event({**head, **served, **fields})


WIRE = WireReply(path=b"/chat/completions", output=re.compile(rb'"role":\s*"tool"'), events=events)
