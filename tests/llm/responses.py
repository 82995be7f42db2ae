"""The Responses API's wire in tests: events in a few words, and what becomes of them up to the next request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.engine.segmenter import Segmenter
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.openai_responses import PROTOCOL
from penguin_harness.llm.openai_responses.reader import EventReader
from penguin_harness.llm.sse import SseReader
from penguin_harness.omnimessage import AssistantContent, CompletePayload, Text
from tests.llm.server import event

ENDPOINT = Endpoint(ModelRef("custom", "m"), "http://127.0.0.1:1/v1", 128_000)


def said(kind: str, delta: object, index: int = 0, **more: object) -> bytes:
    """A delta of the item at this index."""
    return event({"type": f"response.{kind}.delta", "output_index": index, "delta": delta, **more})


def text(content: str, index: int = 0, **more: object) -> bytes:
    return said("output_text", content, index, content_index=0, **more)


def summary(content: str, index: int = 0, part: int = 0) -> bytes:
    return said("reasoning_summary_text", content, index, summary_index=part)


def arguments(content: str, index: int = 0, **more: object) -> bytes:
    return said("function_call_arguments", content, index, **more)


def added(index: int = 0, **item: object) -> bytes:
    return event({"type": "response.output_item.added", "output_index": index, "item": item})


def done(index: int = 0, **item: object) -> bytes:
    return event({"type": "response.output_item.done", "output_index": index, "item": item})


def raw_done(item: bytes, index: int = 0) -> bytes:
    """The end of an item that stands there byte for byte."""
    return b'data: {"type":"response.output_item.done","output_index":%d,"item":%b}\n\n' % (index, item)


def end(kind: str = "completed", **response: object) -> bytes:
    return event({"type": f"response.{kind}", "response": {"status": kind, **response}})


def cut(reason: str | None = "max_output_tokens", **response: object) -> bytes:
    return end("incomplete", incomplete_details={"reason": reason}, **response)


def message(*parts: Mapping[str, object], **more: object) -> dict[str, object]:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": list(parts),
        **more,
    }


def part(content: str, **more: object) -> dict[str, object]:
    return {"type": "output_text", "text": content, "annotations": [], **more}


def call(name: str, written: object = "", call_id: str = "c1", **more: object) -> dict[str, object]:
    named = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name}
    return {**named, "arguments": written, "status": "completed", **more}


def read(*chunks: bytes) -> list[ModelItem]:
    """What the adapter yields for these bytes."""
    sse, reader, items = SseReader(), EventReader(), list[ModelItem]()
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
    *deltas, last = read(*chunks)
    for delta in deltas:
        assert not isinstance(delta, Outcome)
        segmenter.push(delta)
    assert isinstance(last, Outcome)
    segmenter.close("fatal" if last.error_code == "output_limit" else last.status)
    return payloads


def sent(request: Request, endpoint: Endpoint = ENDPOINT, conversation: Conversation | None = None) -> bytes:
    """The body of a request."""
    return PROTOCOL.body(request, (conversation or Conversation(PROTOCOL, endpoint)).encode(request), endpoint)


def raw_items(payloads: Sequence[CompletePayload], endpoint: Endpoint = ENDPOINT) -> list[Raw]:
    """The items of a request, each byte for byte."""
    encoded = Conversation(PROTOCOL, endpoint).encode(Request("", payloads)).messages
    return msgspec.json.decode(b"[" + encoded + b"]", type=list[Raw])


def items(*payloads: CompletePayload, endpoint: Endpoint = ENDPOINT) -> list[dict[str, Any]]:
    """The items of a request as values."""
    return [msgspec.json.decode(item) for item in raw_items(payloads, endpoint)]


def replayed(*chunks: bytes, endpoint: Endpoint = ENDPOINT) -> list[Raw]:
    """The items that go out again of an answer that came in these bytes."""
    return raw_items([Text("user", "go"), *segments(*chunks)], endpoint)[1:]
