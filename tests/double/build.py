"""Scripts in a few words: `script(turn(text("Hi"), call("read_file", {"path": "a"})), reply("Done."))`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from tests.double.script import (
    AT_ONCE,
    EACH_BYTE,
    Beat,
    Bytes,
    Comment,
    Cut,
    CutHow,
    Delivery,
    Done,
    Endpoint,
    Event,
    Expect,
    Gate,
    Reply,
    Script,
    Stall,
    Step,
    Turn,
)

__all__ = [
    "AT_ONCE",
    "EACH_BYTE",
    "Delivery",
    "Endpoint",
    "Expect",
    "Script",
    "Turn",
    "bare",
    "beat",
    "between",
    "call",
    "choice",
    "chunk",
    "comment",
    "counts",
    "cut",
    "delta",
    "done",
    "error",
    "event",
    "fails",
    "finish",
    "gate",
    "line",
    "part",
    "raw",
    "reply",
    "script",
    "stall",
    "text",
    "thinking",
    "turn",
    "usage",
]

MODEL = "test-model"
Piece: TypeAlias = Step | Sequence[Step]
Context: TypeAlias = Literal["extends", "new", "aside"]
Json: TypeAlias = dict[str, Any]


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
    steps = _flat(pieces)
    data = [step.data for step in steps if isinstance(step, Event)]
    opening = delta({"role": "assistant", "content": ""})
    ending: list[Step] = []
    if not any(_reason(chunk) for chunk in data):
        ending += finish("tool_calls" if any("tool_calls" in _delta(chunk) for chunk in data) else "stop")
    if not any(chunk.get("usage") for chunk in data):
        ending += usage(tokens or counts())
    steps = [*opening, *steps, *ending, Done()]
    return bare(*steps, delivery=delivery, expect=expect, context=context)


def bare(
    *pieces: Piece, delivery: Delivery | None = None, expect: Expect | None = None, context: Context = "extends"
) -> Turn:
    """Exactly these pieces, then the regular end of the body: no opening, finish reason, usage or `[DONE]` added."""
    return Turn(tuple(_flat(pieces)), None, delivery or Delivery(), expect or Expect(), context)


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
    return [step for piece in _split(content, parts) for step in delta({"content": piece})]


def thinking(content: str, *, field: str = "reasoning_content", parts: int = 1) -> list[Step]:
    """Reasoning under the endpoint's field name."""
    return [step for piece in _split(content, parts) for step in delta({field: piece})]


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
    pieces = _split(written, parts) if written else []
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


def event(content: Json) -> list[Step]:
    """Any object by itself: `{"type": "ping"}`, `{"choices": None}`, `{}`."""
    return [Event(content, bare=True)]


def line(data: str) -> list[Step]:
    """Any text as the data of one event: garbage, half an object, an escaped lone surrogate."""
    return [Bytes(f"data: {data}\n\n".encode())]


def raw(data: bytes) -> list[Step]:
    """Bytes as they are, line ends included."""
    return [Bytes(data)]


def comment(content: str = "keep-alive") -> list[Step]:
    """A comment line."""
    return [Comment(content)]


def beat(every_ms: int, *, times: int | None = None, data: bytes = b": ping\n\n") -> list[Step]:
    """The same bytes at an interval; without `times` until the client goes."""
    return [Beat(data, every_ms, times)]


def gate(name: str = "gate") -> list[Step]:
    """Wait until the test releases this name."""
    return [Gate(name)]


def stall() -> list[Step]:
    """Say nothing more and keep the connection open."""
    return [Stall()]


def cut(how: CutHow = "close") -> list[Step]:
    """End here: politely (`end`), by closing or by resetting the connection."""
    return [Cut(how)]


def done() -> list[Step]:
    """The sentinel."""
    return [Done()]


def between(pieces: Iterable[Piece], *beats: Piece) -> list[Step]:
    """The pieces with all the beats behind each step of theirs."""
    return [part for step in _flat(pieces) for part in (step, *_flat(beats))]


def _flat(pieces: Iterable[Piece]) -> list[Step]:
    return [step for piece in pieces for step in (piece if isinstance(piece, Sequence) else (piece,))]


def _split(content: str, parts: int) -> list[str]:
    size = max(1, math.ceil(len(content) / parts))
    return [content[start : start + size] for start in range(0, len(content), size)] or [content]


def _choice(chunk: Json) -> Json:
    choices: list[Json] = chunk.get("choices") or [{}]
    return choices[0]


def _delta(chunk: Json) -> Json:
    return _choice(chunk).get("delta") or {}


def _reason(chunk: Json) -> str | None:
    return _choice(chunk).get("finish_reason")
