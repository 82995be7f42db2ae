"""Scripts in a few words: `script(turn(thinking("Hm."), call("read_file", {"path": "a"})), reply("Done."))`."""

from __future__ import annotations

import json

import msgspec

from tests.double.responses.assembly import assembled
from tests.double.responses.endpoint import ResponsesEndpoint as Endpoint
from tests.double.script import AT_ONCE, EACH_BYTE, Delivery, Event, Expect, Reply, Script, Step, Turn
from tests.double.steps import MODEL, Context, Json, Piece, bare, comment, event, flat, split

__all__ = [
    "AT_ONCE",
    "EACH_BYTE",
    "MODEL",
    "Delivery",
    "Endpoint",
    "Expect",
    "Script",
    "Turn",
    "bare",
    "call",
    "chunk",
    "counts",
    "error",
    "failed",
    "fails",
    "filtered",
    "finish",
    "heartbeats",
    "hidden_thinking",
    "limit",
    "open_thinking",
    "refusal",
    "reply",
    "script",
    "text",
    "thinking",
    "turn",
]

REQUEST_ID = {"x-request-id": "req_double"}


def script(*turns: Turn, model: str = MODEL, where: str = "", endpoint: Endpoint | None = None) -> Script:
    """What a model says, request by request."""
    return Script(model, turns, where, endpoint or Endpoint())


def counts(prompt: int = 100, output: int = 10, *, cached: int = 0, reasoning: int = 0) -> Json:
    """A usage object as the vendor writes it: `prompt` includes what was `cached`."""
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + output,
    }


def turn(
    *pieces: Piece,
    tokens: Json | None = None,
    delivery: Delivery | None = None,
    expect: Expect | None = None,
    context: Context = "extends",
) -> Turn:
    """A regular answer: items and parts opened and closed around the pieces, and an end if they have none."""
    how = delivery or Delivery()
    how = msgspec.structs.replace(how, headers=REQUEST_ID | how.headers)
    return bare(*assembled(flat(pieces), tokens or counts()), delivery=how, expect=expect, context=context)


def reply(content: str, *, tokens: Json | None = None, context: Context = "extends") -> Turn:
    """A regular answer of one text."""
    return turn(text(content), tokens=tokens, context=context)


def fails(
    status: int,
    message: str = "The server had an error while processing your request.",
    *,
    code: str | None = None,
    kind: str = "server_error",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    delivery: Delivery | None = None,
) -> Turn:
    """An HTTP error: `fails(429, headers={"Retry-After": "3"})`; `body` replaces the vendor's error object."""
    described = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    content = json.dumps(described).encode() if body is None else body
    return Turn(reply=Reply(status, content, REQUEST_ID | (headers or {})), delivery=delivery or Delivery())


def text(content: str, *, parts: int = 1, phase: str | None = None) -> list[Step]:
    """Text, in so many deltas; with a `phase` it begins a message of its own, "" leaves the label out."""
    opening = chunk("output_item.added", item={"type": "message", "phase": phase or None}) if phase is not None else []
    return [*opening, *_deltas("output_text", content, parts)]


def refusal(content: str, *, parts: int = 1) -> list[Step]:
    """The words with which the model declines, in so many deltas."""
    return _deltas("refusal", content, parts)


def thinking(content: str, *, parts: int = 1) -> list[Step]:
    """One part of a reasoning summary, in so many deltas; the reasoning itself is encrypted."""
    return [*chunk("reasoning_summary_part.added"), *_deltas("reasoning_summary_text", content, parts)]


def hidden_thinking() -> list[Step]:
    """Reasoning that shows nothing of itself; also what begins a second reasoning item behind another."""
    return chunk("output_item.added", item={"type": "reasoning"})


def open_thinking(content: str, *, parts: int = 1) -> list[Step]:
    """Reasoning that can be read, as open models send it."""
    return _deltas("reasoning_text", content, parts)


def call(
    name: str,
    arguments: Json | str = "{}",
    *,
    id: str = "call_1",  # noqa: A002  the wire's word
    parts: int = 1,
) -> list[Step]:
    """A whole tool call, the arguments in so many deltas. A string goes out as it is."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    opening = chunk("output_item.added", item={"type": "function_call", "call_id": id, "name": name})
    return [*opening, *(_deltas("function_call_arguments", written, parts) if written else [])]


def finish(tokens: Json | None = None, **response: object) -> list[Step]:
    """The regular end; further members replace those of the response: `finish(output=[])`."""
    return chunk("completed", response={"usage": tokens or counts(), **response})


def limit(tokens: Json | None = None) -> list[Step]:
    """The ending of an answer that the output limit cut: what is open closes as incomplete."""
    return _incomplete("max_output_tokens", tokens)


def filtered(tokens: Json | None = None) -> list[Step]:
    """The ending of an answer that the content filter cut."""
    return _incomplete("content_filter", tokens)


def error(
    message: str = "The server had an error while processing your request.", *, code: str | None = "server_error"
) -> list[Step]:
    """An error event in the stream, behind a 200; nothing follows it."""
    return [Event({"type": "error", "code": code, "message": message, "param": None})]


def failed(
    message: str = "The server had an error while processing your request.", *, code: str = "server_error"
) -> list[Step]:
    """A response that fails behind a 200, with the reason in it; nothing follows it."""
    return chunk("failed", response={"error": {"code": code, "message": message}})


def chunk(name: str, **data: object) -> list[Step]:
    """Any event of the answer: `chunk("output_text.delta", delta="Hi")`; ids and numbers are filled in."""
    return [Event({"type": f"response.{name}", **data})]


def heartbeats() -> list[Step]:
    """What the vendor and gateways send so that the connection stays open, none of it part of the answer."""
    vendors: list[Step] = [Event({"type": "keepalive"})]
    named = event({"type": "ping"}, name="ping")
    return [*vendors, *comment(), *event({"type": "ping"}), *named, *event({"type": "keepalive"}), *event({})]


def _deltas(kind: str, content: str, parts: int) -> list[Step]:
    return [step for piece in split(content, parts) for step in chunk(f"{kind}.delta", delta=piece)]


def _incomplete(reason: str, tokens: Json | None) -> list[Step]:
    return chunk("incomplete", response={"incomplete_details": {"reason": reason}, "usage": tokens or counts()})
