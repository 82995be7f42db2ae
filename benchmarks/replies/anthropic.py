"""Messages: named events; blocks open and close, and the end comes with the token counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.replies.turn import ASKED, Turn, WireReply, event


def events(turn: Turn) -> Iterator[bytes]:
    usage = {"input_tokens": ASKED, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {"id": f"msg_{turn.number:024}", "type": "message", "role": "assistant", "model": turn.model}
    ending: dict[str, str | None] = {"stop_reason": None, "stop_sequence": None}
    yield named("message_start", message={**message, "content": [], **ending, "usage": usage})
    yield named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield named("ping")
    for word in turn.words:
        yield named("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield named("content_block_stop", index=0)
    if turn.calls:
        yield from call(turn)
    ending["stop_reason"] = "tool_use" if turn.calls else "end_turn"
    yield named("message_delta", delta=ending, usage={**usage, "output_tokens": turn.length})
    yield named("message_stop")


def call(turn: Turn) -> Iterator[bytes]:
    block: dict[str, Any] = {"type": "tool_use", "id": turn.call_id, "name": "add", "input": {}}
    yield named("content_block_start", index=1, content_block=block)
    for piece in ("", *turn.pieces):
        yield named("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": piece})
    yield named("content_block_stop", index=1)


def named(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, name=kind)


WIRE = WireReply(path=b"/messages", output=re.compile(rb'"type":\s*"tool_result"'), events=events)
