"""Scripts in a few words: `script(turn(thinking("Hm."), call("read_file", {"path": "a"})), reply("Done."))`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.protocol import failure
from tests.double.script import Delivery, Event, Expect, Reply, Script, Step, Turn
from tests.double.steps import (
    MODEL,
    Context,
    Json,
    Piece,
    bare,
    beat,
    between,
    comment,
    cut,
    event,
    flat,
    gate,
    line,
    raw,
    split,
    stall,
)

__all__ = [
    "MODEL",
    "bare",
    "beat",
    "between",
    "block",
    "call",
    "comment",
    "counts",
    "cut",
    "error",
    "event",
    "fails",
    "finish",
    "gate",
    "heartbeats",
    "limit",
    "line",
    "ping",
    "raw",
    "redacted",
    "refusal",
    "reply",
    "script",
    "stall",
    "start",
    "stop",
    "text",
    "thinking",
    "turn",
]


def script(*turns: Turn, model: str = MODEL, where: str = "", endpoint: AnthropicEndpoint | None = None) -> Script:
    """What a model says, request by request."""
    return Script(model, turns, where, endpoint or AnthropicEndpoint())


def counts(prompt: int = 100, output: int = 10, *, cached: int = 0, reasoning: int = 0, written: int = 0) -> Json:
    """A usage object as the vendor writes it: `prompt` includes what was `cached`, and what was `written` to be."""
    return {
        "input_tokens": prompt - cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": reasoning},
    }


def turn(
    *pieces: Piece,
    tokens: Json | None = None,
    delivery: Delivery | None = None,
    expect: Expect | None = None,
    context: Context = "extends",
) -> Turn:
    """A regular answer: its start, a ping, the pieces, and whatever of stop reason, usage and end they lack.

    An error ends the stream, so nothing is added behind one.
    """
    usage = tokens or counts()
    steps = [_counted(step, usage) for step in flat(pieces)]
    data = [step.data for step in steps if isinstance(step, Event) and not step.bare]
    kinds = [one["type"] for one in data]
    calls = any(one["type"] == "content_block_start" and one["content_block"]["type"] == "tool_use" for one in data)
    ending: list[Step] = []
    if "error" not in kinds:
        ending += [] if "message_delta" in kinds else finish("tool_use" if calls else "end_turn", tokens=usage)
        ending += [] if "message_stop" in kinds else stop()
    steps = [*start(usage), *ping(), *steps, *ending]
    return bare(*steps, delivery=delivery, expect=expect, context=context)


def reply(content: str, *, tokens: Json | None = None, context: Context = "extends") -> Turn:
    """A regular answer of one text."""
    return turn(text(content), tokens=tokens, context=context)


def fails(
    status: int,
    message: str = "Internal server error",
    *,
    code: str | None = None,
    kind: str = "",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    delivery: Delivery | None = None,
) -> Turn:
    """An HTTP error: `fails(429, headers={"Retry-After": "3"})`; `body` replaces the vendor's error object.

    `kind` is the error's type, by default that of the status; `code` its `details.error_code`.
    """
    told = failure(status, message, kind=kind, details={"error_code": code} if code else None)
    answer = Reply(status, told.body if body is None else body, told.headers | (headers or {}))
    return Turn(reply=answer, delivery=delivery or Delivery())


def text(content: str, *, parts: int = 1) -> list[Step]:
    """A block of text, in so many deltas."""
    deltas = [{"type": "text_delta", "text": piece} for piece in split(content, parts)]
    return block({"type": "text", "text": ""}, *deltas)


def thinking(content: str, *, parts: int = 1) -> list[Step]:
    """A block of thinking and its signature; without content as when a request asks that the text be left out."""
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in split(content, parts) if piece]
    return block({"type": "thinking", "thinking": "", "signature": ""}, *deltas, {"type": "signature_delta"})


def redacted(hidden: str = "what nobody may read") -> list[Step]:
    """A block of thinking that only the vendor can read."""
    return block({"type": "redacted_thinking", "data": hidden})


def call(
    name: str,
    arguments: Json | str = "{}",
    *,
    id: str = "call_1",  # noqa: A002  the wire's word
    parts: int = 1,
) -> list[Step]:
    """A whole tool call: its head, an empty fragment, then the arguments in so many. A string goes out as it is."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    pieces = ["", *(piece for piece in split(written, parts) if piece)]
    head = {"type": "tool_use", "id": id, "name": name, "input": {}, "caller": {"type": "direct"}}
    return block(head, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def block(head: Json, *deltas: Json, index: int | None = None) -> list[Step]:
    """Any content block: its start, its deltas, its stop. Without an index the next one."""
    place = {} if index is None else {"index": index}
    events = [{"type": "content_block_start", "content_block": head}]
    events += [{"type": "content_block_delta", "delta": delta} for delta in deltas]
    return [_event(one | place) for one in [*events, {"type": "content_block_stop"}]]


def start(tokens: Json | None = None) -> list[Step]:
    """The first event: the message without content, and the tokens that it has cost so far."""
    usage = {key: value for key, value in (tokens or counts()).items() if key != "output_tokens_details"}
    written = usage.get("cache_creation_input_tokens")
    usage |= {"cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}}
    return [_event({"type": "message_start", "message": {"usage": usage | {"output_tokens": 1}}})]


def finish(
    reason: str | None = "end_turn",
    *,
    tokens: Json | None = None,
    sequence: str | None = None,
    details: Json | None = None,
) -> list[Step]:
    """Why the model stopped, and what the whole message has cost; without tokens those of its turn."""
    delta = {"stop_reason": reason, "stop_sequence": sequence, "stop_details": details}
    return [_event({"type": "message_delta", "delta": delta} | ({"usage": tokens} if tokens else {}))]


def limit(tokens: Json | None = None) -> list[Step]:
    """The end of an answer that the output limit cut: what stands before it is closed although it is not whole."""
    return finish("max_tokens", tokens=tokens)


def refusal(explanation: str) -> list[Step]:
    """The end of an answer that the vendor's safeguards stopped."""
    return finish("refusal", details={"type": "refusal", "category": None, "explanation": explanation})


def stop() -> list[Step]:
    """The last event."""
    return [_event({"type": "message_stop"})]


def ping() -> list[Step]:
    """The vendor's own sign of life."""
    return [_event({"type": "ping"})]


def error(message: str = "Overloaded", *, code: str = "overloaded_error") -> list[Step]:
    """An error in the stream, behind a 200; its code is the error's type."""
    return [_event({"type": "error", "error": {"details": None, "type": code, "message": message}})]


def heartbeats() -> list[Step]:
    """Signs of life: the vendor's, and what gateways put between its events."""
    bare_ones: list[Json] = [{"type": "ping"}, {"type": "keepalive"}, {}]
    return flat([ping(), *(event(one) for one in bare_ones), comment("ping"), comment(""), raw(b"\n"), line("")])


def _event(data: Mapping[str, Any]) -> Step:
    return Event(dict(data))


def _counted(step: Step, usage: Json) -> Step:
    """The step; a stop reason that says no tokens gets those of the turn."""
    if isinstance(step, Event) and not step.bare and step.data["type"] == "message_delta":
        return Event({**step.data, "usage": step.data.get("usage", usage)})
    return step
