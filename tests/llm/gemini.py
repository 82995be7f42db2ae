"""Gemini's wire in tests: events in a few words, and what becomes of them up to the next request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.engine.segmenter import Segmenter
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.gemini import PROTOCOL
from penguin_harness.llm.gemini.reader import ChunkReader
from penguin_harness.llm.sse import SseReader
from penguin_harness.omnimessage import AssistantContent, CompletePayload, Text
from tests.llm.server import event

ENDPOINT = Endpoint(ModelRef("custom", "m"), "http://127.0.0.1:1/v1beta", 128_000)
OLDER = msgspec.structs.replace(ENDPOINT, ref=ModelRef("gemini", "gemini-2.5-flash"))
OWN = Raw(b'{"part":{}}')


def chunk(*parts: object, reason: str | None = None, message: str | None = None, **more: object) -> bytes:
    """An event with these parts."""
    candidate: dict[str, object] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    candidate |= {"finishReason": reason} if reason else {}
    candidate |= {"finishMessage": message} if message else {}
    return event({"candidates": [candidate], **more})


def text(content: str, **more: object) -> dict[str, object]:
    return {"text": content, **more}


def call(name: str, args: object = None, **more: object) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": {} if args is None else args, **more}}


def counts(**tokens: object) -> bytes:
    return event({"usageMetadata": tokens})


END = chunk(text(""), reason="STOP")


def read(*chunks: bytes) -> list[ModelItem]:
    """What the adapter yields for these bytes."""
    sse, reader, items = SseReader(), ChunkReader(), list[ModelItem]()
    try:
        for piece in (*chunks, b""):
            items += reader.read(sse.feed(piece) if piece else sse.finish())
        return [*items, *reader.finish(), reader.outcome()]
    except TransportError as failure:
        return [*items, failure.outcome(reader.usage())]


def outcome(*chunks: bytes) -> Outcome:
    last = read(*chunks)[-1]
    assert isinstance(last, Outcome)
    return last


def segments(*chunks: bytes) -> list[AssistantContent]:
    """The complete payloads that the engine makes of these bytes."""
    payloads: list[AssistantContent] = []
    segmenter = Segmenter(lambda _: None, payloads.append, frozenset())
    *deltas, end = read(*chunks)
    for delta in deltas:
        assert not isinstance(delta, Outcome)
        segmenter.push(delta)
    assert isinstance(end, Outcome)
    segmenter.close("fatal" if end.error_code == "output_limit" else end.status)
    return payloads


def sent(request: Request, endpoint: Endpoint = ENDPOINT, conversation: Conversation | None = None) -> bytes:
    """The body of a request."""
    return PROTOCOL.body(request, (conversation or Conversation(PROTOCOL, endpoint)).encode(request), endpoint)


def raw_contents(payloads: Sequence[CompletePayload], endpoint: Endpoint = ENDPOINT) -> list[Raw]:
    """The contents of a request, each byte for byte."""
    return msgspec.json.decode(sent(Request("", payloads), endpoint), type=dict[str, list[Raw]])["contents"]


def contents(*payloads: CompletePayload, endpoint: Endpoint = ENDPOINT) -> list[dict[str, Any]]:
    """The contents of a request as values."""
    return [msgspec.json.decode(content) for content in raw_contents(payloads, endpoint)]


def replayed(*chunks: bytes, endpoint: Endpoint = ENDPOINT) -> list[Raw]:
    """The parts that go out again of an answer that came in these bytes."""
    content = raw_contents([Text("user", "go"), *segments(*chunks)], endpoint)[1]
    return msgspec.json.decode(msgspec.json.decode(content, type=dict[str, Raw])["parts"], type=list[Raw])
