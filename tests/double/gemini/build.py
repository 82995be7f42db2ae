"""Scripts in a few words: `script(turn(text("Hi"), call("read_file", {"path": "a"})), reply("Done."))`."""

from __future__ import annotations

import json
from typing import cast

from tests.double import steps, strict_json
from tests.double.gemini.contents import NAME
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.failure import described, reason, retry_after
from tests.double.gemini.said import candidate_of, raw_parts
from tests.double.refusal import as_object
from tests.double.script import Delivery, Event, Expect, Reply, Script, Step, Turn
from tests.double.steps import MODEL, Context, Json, Piece, comment, event, flat, split

__all__ = [
    "MODEL",
    "bare",
    "blocked",
    "call",
    "candidate",
    "chunk",
    "counts",
    "error",
    "fails",
    "finish",
    "heartbeats",
    "limit",
    "malformed",
    "part",
    "refusal",
    "reply",
    "script",
    "text",
    "thinking",
    "turn",
]

DELIVERY = Delivery(newline="\r\n")


def script(*turns: Turn, model: str = MODEL, where: str = "", endpoint: GeminiEndpoint | None = None) -> Script:
    """What a model says, request by request."""
    return Script(model, turns, where, endpoint or GeminiEndpoint())


def counts(prompt: int = 100, output: int = 10, *, cached: int = 0, reasoning: int = 0) -> Json:
    """Usage metadata as the vendor writes them: `output` is candidates and thoughts, `prompt` includes `cached`."""
    tokens: Json = {"promptTokenCount": prompt, "candidatesTokenCount": output - reasoning}
    tokens |= {"cachedContentTokenCount": cached} if cached else {}
    tokens |= {"thoughtsTokenCount": reasoning} if reasoning else {}
    details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}]}
    return {**tokens, "totalTokenCount": prompt + output, **details}


def turn(
    *pieces: Piece,
    tokens: Json | None = None,
    delivery: Delivery | None = None,
    expect: Expect | None = None,
    context: Context = "extends",
) -> Turn:
    """A regular answer: the pieces, a finish reason if they lack one, and usage in every chunk.

    An answer without calls is signed in its last part, which has no text of its own.
    """
    flattened = flat(pieces)
    data = [step.data for step in flattened if isinstance(step, Event)]
    if not any("finishReason" in (candidate_of(one) or {}) or "promptFeedback" in one for one in data):
        calls = any("functionCall" in part for one in data for part in raw_parts(one))
        flattened += finish(parts=[{"text": ""} if calls else {"text": "", "thoughtSignature": True}])
    return bare(*_counted(flattened, tokens or counts()), delivery=delivery, expect=expect, context=context)


def bare(
    *pieces: Piece, delivery: Delivery | None = None, expect: Expect | None = None, context: Context = "extends"
) -> Turn:
    """Exactly these pieces, then the regular end of the body: no finish reason or usage added."""
    return steps.bare(*pieces, delivery=delivery or DELIVERY, expect=expect, context=context)


def reply(content: str, *, tokens: Json | None = None, context: Context = "extends") -> Turn:
    """A regular answer of one text."""
    return turn(text(content), tokens=tokens, context=context)


def fails(
    status: int,
    message: str = "An internal error has occurred. Please retry or report in"
    " https://developers.generativeai.google/guide/troubleshooting",
    *,
    code: str | None = None,
    kind: str | None = None,
    retry: float | None = None,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    delivery: Delivery | None = None,
) -> Turn:
    """An HTTP error: `code` is its reason, `kind` its status in words, `retry` the seconds to wait."""
    details = [*([reason(code)] if code else []), *([retry_after(retry)] if retry is not None else [])]
    written = json.dumps(described(status, message, status=kind, details=details)).encode()
    return Turn(reply=Reply(status, written if body is None else body, headers or {}), delivery=delivery or DELIVERY)


def text(content: str, *, parts: int = 1) -> list[Step]:
    """Text, in so many chunks."""
    return [step for piece in split(content, parts) for step in part({"text": piece})]


def thinking(content: str, *, parts: int = 1) -> list[Step]:
    """A summary of thoughts, in so many chunks; the vendor signs what comes behind it."""
    return [step for piece in split(content, parts) for step in part({"text": piece, "thought": True})]


def call(
    name: str,
    arguments: Json | str = "{}",
    *,
    id: str | None = "call_1",  # noqa: A002  the wire's word
    parts: int = 1,
    signed: bool | None = None,
) -> list[Step]:
    """A whole tool call, signed if it is the first of its answer; the vendor sends it in one part, whatever `parts`.

    What is no JSON object, or no possible name, is what the vendor calls a malformed function call.
    """
    written = json.dumps(arguments) if isinstance(arguments, dict) else arguments
    try:
        args = as_object(strict_json.loads(written or "{}"))
    except ValueError:
        args = None
    if args is None or not NAME.fullmatch(name):
        return malformed(f"{name}({written})")
    labels: Json = {"id": id} if id is not None else {}
    content: Json = {"functionCall": {**labels, "name": name, "args": args}}
    return part(content | ({"thoughtSignature": signed or None} if signed is not None else {}))


def refusal(content: str, *, parts: int = 1) -> list[Step]:
    """Text, and that the vendor's filter stopped the answer there."""
    return [*text(content, parts=parts), *finish("SAFETY")]


def malformed(written: str = "print(default_api.f(") -> list[Step]:
    """The ending of an answer whose call could not be read."""
    return finish("MALFORMED_FUNCTION_CALL", message=f"Malformed function call: {written}")


def limit(tokens: Json | None = None) -> list[Step]:
    """The ending of an answer that the output limit cut: its content has no parts."""
    return finish("MAX_TOKENS", tokens=tokens)


def blocked(word: str = "PROHIBITED_CONTENT") -> list[Step]:
    """An answer without candidates: the prompt was blocked."""
    return chunk({"promptFeedback": {"blockReason": word}})


def finish(
    word: str = "STOP", *, parts: list[Json] | None = None, message: str | None = None, tokens: Json | None = None
) -> list[Step]:
    """The chunk with the finish reason, and usage in it if given."""
    content: Json = {"role": "model", **({"parts": parts} if parts else {})}
    ending: Json = {"content": content, "finishReason": word}
    ending |= {"finishMessage": message} if message else {}
    return candidate(ending, tokens=tokens)


def part(content: Json) -> list[Step]:
    """A chunk with one part; a thoughtSignature of true is filled in."""
    return candidate({"content": {"parts": [content], "role": "model"}})


def candidate(content: Json, *, tokens: Json | None = None) -> list[Step]:
    """A chunk with one candidate."""
    return chunk({"candidates": [{**content, "index": 0}], **({"usageMetadata": tokens} if tokens else {})})


def chunk(content: Json) -> list[Step]:
    """Any object with the model's version and the answer's id, which it may replace."""
    return [Event(content)]


def error(message: str = "The model is overloaded. Please try again later.", *, code: int = 503) -> list[Step]:
    """An error object in the stream, behind a 200."""
    return event(cast("Json", described(code, message)))


def heartbeats() -> list[Step]:
    """What gateways send so that the connection stays open, none of it part of the answer."""
    pings = [*event({"type": "ping"}), *event({"type": "keepalive"}), *event({})]
    return [*comment(), *pings, *chunk({}), *chunk({"candidates": []}), *candidate({"content": {"role": "model"}})]


def _counted(steps_: list[Step], tokens: Json) -> list[Step]:
    """The steps with usage in every chunk: the prompt from the first on, the candidates in the last."""
    chunks = [place for place, step in enumerate(steps_) if isinstance(step, Event) and not step.bare]
    return [
        Event({**step.data, "usageMetadata": tokens if place == chunks[-1] else _early(tokens)})
        if isinstance(step, Event) and place in chunks and "usageMetadata" not in step.data
        else step
        for place, step in enumerate(steps_)
    ]


def _early(tokens: Json) -> Json:
    seen = {key: value for key, value in tokens.items() if key not in ("candidatesTokenCount", "totalTokenCount")}
    return {**seen, "totalTokenCount": tokens.get("promptTokenCount", 0) + tokens.get("thoughtsTokenCount", 0)}
