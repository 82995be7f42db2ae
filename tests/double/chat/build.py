"""Scripts in a few words: `script(turn(text("Hi"), call("read_file", {"path": "a"})), reply("Done."))`."""

from __future__ import annotations

import json
from typing import Any

from tests.double.chat.endpoint import Endpoint
from tests.double.script import AT_ONCE, EACH_BYTE, Delivery, Event, Expect, Line, Reply, Script, Step, Turn
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
    "choice",
    "chunk",
    "counts",
    "delta",
    "done",
    "error",
    "fails",
    "finish",
    "heartbeats",
    "limit",
    "part",
    "refusal",
    "reply",
    "script",
    "text",
    "thinking",
    "turn",
    "usage",
]


def script(*turns: Turn, model: str = MODEL, where: str = "", endpoint: Endpoint | None = None) -> Script:
    """What a model says, request by request."""
    return Script(model, turns, where, endpoint or Endpoint())


def counts(prompt: int = 100, output: int = 10, *, cached: int = 0, reasoning: int = 0) -> Json:
    """A usage object as the vendor writes it: `prompt` includes what was `cached`."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def turn(
    *pieces: Piece,
    tokens: Json | None = None,
    delivery: Delivery | None = None,
    expect: Expect | None = None,
    context: Context = "extends",
) -> Turn:
    """A regular answer: an opening chunk, the pieces, and whatever of finish reason, usage and `[DONE]` they lack."""
    steps = flat(pieces)
    data = [step.data for step in steps if isinstance(step, Event)]
    opening = delta({"role": "assistant", "content": ""})
    ending: list[Step] = []
    if not any(_reason(chunk) for chunk in data):
        ending += finish("tool_calls" if any("tool_calls" in _delta(chunk) for chunk in data) else "stop")
    if not any(chunk.get("usage") for chunk in data):
        ending += usage(tokens or counts())
    steps = [*opening, *steps, *ending, *done()]
    return bare(*steps, delivery=delivery, expect=expect, context=context)


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
    return Turn(reply=Reply(status, content, headers or {}), delivery=delivery or Delivery())


def text(content: str, *, parts: int = 1) -> list[Step]:
    """Text, in so many deltas."""
    return [step for piece in split(content, parts) for step in delta({"content": piece})]


def refusal(content: str, *, parts: int = 1) -> list[Step]:
    """The words with which the model declines, in so many deltas."""
    return [step for piece in split(content, parts) for step in delta({"refusal": piece})]


def thinking(content: str, *, field: str = "reasoning_content", parts: int = 1) -> list[Step]:
    """Reasoning under the endpoint's field name."""
    return [step for piece in split(content, parts) for step in delta({field: piece})]


def call(
    name: str,
    arguments: Json | str = "{}",
    *,
    id: str | None = "call_1",  # noqa: A002  the wire's word
    index: int = 0,
    parts: int = 1,
) -> list[Step]:
    """A whole tool call: its head, then the arguments in so many fragments. A string goes out as it is."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    pieces = split(written, parts) if written else []
    return [*part(index, "", id=id, name=name), *(step for piece in pieces for step in part(index, piece))]


def part(
    index: int | None,
    arguments: str | None = None,
    *,
    id: str | None = None,  # noqa: A002  the wire's word
    name: str | None = None,
) -> list[Step]:
    """One fragment of a tool call with just these labels."""
    function = {"name": name} if name is not None else {}
    function |= {"arguments": arguments} if arguments is not None else {}
    labels: Json = {"index": index} if index is not None else {}
    labels |= {"id": id} if id is not None else {}
    labels |= {"type": "function"} if name is not None else {}
    return delta({"tool_calls": [{**labels, "function": function}]})


def delta(content: Json) -> list[Step]:
    """One chunk with this delta."""
    return choice({"delta": content, "finish_reason": None})


def choice(content: Json) -> list[Step]:
    """One chunk with this choice."""
    return chunk({"choices": [{"index": 0, **content}]})


def finish(reason: str | None = "stop", *, tokens: Json | None = None) -> list[Step]:
    """The chunk with the finish reason, and usage beside it if given."""
    ending: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return chunk(ending | ({"usage": tokens} if tokens else {}))


def usage(tokens: Json | None = None) -> list[Step]:
    """The vendor's last chunk: usage and no choices."""
    return chunk({"choices": [], "usage": tokens or counts()})


def error(message: str = "Overloaded", *, code: Any = None, kind: str = "server_error") -> list[Step]:
    """An error object in the stream, behind a 200."""
    return event({"error": {"message": message, "type": kind, "param": None, "code": code}})


def chunk(content: Json) -> list[Step]:
    """Any object inside a chunk's envelope, whose fields it may replace."""
    return [Event(content)]


def limit(tokens: Json | None = None) -> list[Step]:
    """The ending of an answer that the output limit cut."""
    return [*finish("length"), *usage(tokens)]


def heartbeats() -> list[Step]:
    """What gateways send so that the connection stays open, none of it part of the answer."""
    pings = [*event({"type": "ping"}), *event({"type": "keepalive"}), *event({})]
    return [*comment(), *pings, *choice({"delta": {}, "finish_reason": None})]


def done() -> list[Step]:
    """The sentinel."""
    return [Line("[DONE]", regular=True)]


def _choice(chunk: Json) -> Json:
    choices: list[Json] = chunk.get("choices") or [{}]
    return choices[0]


def _delta(chunk: Json) -> Json:
    return _choice(chunk).get("delta") or {}


def _reason(chunk: Json) -> str | None:
    return _choice(chunk).get("finish_reason")
