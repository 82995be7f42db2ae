"""Events of Anthropic Messages to deltas and an outcome, without a network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from penguin_harness.contracts import BlockEnd, CallDelta, ModelItem, Outcome, TextDelta, ThinkingDelta
from penguin_harness.llm.anthropic.reader import EventReader
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.sse import SseReader, WholeBody
from penguin_harness.omnimessage import TokenCounts


def read(*chunks: bytes, whole: bool = False) -> list[ModelItem]:
    """What the adapter yields for these bytes."""
    framing, reader, items = WholeBody() if whole else SseReader(), EventReader(), list[ModelItem]()
    try:
        for chunk in (*chunks, b""):
            items += reader.read(framing.feed(chunk) if chunk else framing.finish())
        return [*items, *reader.finish(), reader.outcome()]
    except TransportError as failure:
        return [*items, failure.outcome(reader.usage())]


def event(kind: str, **fields: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode({"type": kind, **fields}))


def start(**usage: int | None) -> bytes:
    return event("message_start", message={"id": "msg_1", "role": "assistant", "content": [], "usage": usage})


def block(index: int, kind: str, **fields: Any) -> bytes:
    return event("content_block_start", index=index, content_block={"type": kind, **fields})


def delta(index: int, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta=fields)


def text(index: int, piece: str) -> bytes:
    return delta(index, type="text_delta", text=piece)


def stop(index: int) -> bytes:
    return event("content_block_stop", index=index)


def end(reason: str | None = "end_turn", /, **usage: int | None) -> bytes:
    return event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)


STOP = event("message_stop")
SAID = (block(0, "text", text=""), text(0, "Hi"), stop(0))


def outcome(*chunks: bytes) -> Outcome:
    last = read(*chunks)[-1]
    assert isinstance(last, Outcome)
    return last


def test_text_thinking_and_calls() -> None:
    assert read(
        start(input_tokens=10, output_tokens=1),
        block(0, "thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="Hm"),
        delta(0, type="signature_delta", signature="s=="),
        stop(0),
        block(1, "text", text=""),
        event("ping"),
        text(1, "Let me."),
        stop(1),
        block(2, "tool_use", id="toolu_1", name="a", input={}),
        delta(2, type="input_json_delta", partial_json=""),
        delta(2, type="input_json_delta", partial_json='{"x":1}'),
        stop(2),
        end("tool_use", output_tokens=20),
        STOP,
    ) == [
        ThinkingDelta("Hm", 0),
        ThinkingDelta("", 0, Raw(b'{"signature":"s=="}')),
        BlockEnd(),
        TextDelta("Let me.", 1),
        BlockEnd(),
        CallDelta(2, "", "toolu_1", "a"),
        CallDelta(2, '{"x":1}'),
        BlockEnd(),
        Outcome("completed", usage=TokenCounts.of(cache_write=10, output=20)),
    ]


def test_b074_the_last_block_of_a_cut_answer_is_not_called_whole() -> None:
    call = (
        block(1, "tool_use", id="toolu_1", name="a", input={}),
        delta(1, type="input_json_delta", partial_json='{"x":1}'),
        stop(1),
    )
    for reason in ("max_tokens", "model_context_window_exceeded"):
        items = read(start(), *SAID, *call, end(reason), STOP)
        assert items.count(BlockEnd()) == 1  # of the text before it
        assert (items[-1].status, items[-1].error_code) == ("completed", "output_limit")  # type: ignore[union-attr]


def test_thinking_that_only_the_vendor_can_read() -> None:
    raw = b'{"type":"redacted_thinking","data":"d=="}'
    assert read(block(0, "redacted_thinking", data="d=="), stop(0), end(), STOP)[0] == ThinkingDelta(
        "", 0, Raw(b'{"redacted_thinking":%b}' % raw)
    )


def test_thinking_without_a_signature_and_with_members_that_nobody_knows() -> None:
    plain = read(block(0, "thinking", thinking="Hm."), stop(0), end(), STOP)
    assert plain[:2] == [ThinkingDelta("Hm.", 0), ThinkingDelta("", 0, Raw(b'{"block":{}}'))]
    odd = read(block(0, "thinking", thinking="", signature="a", new={"x": 1}), stop(0), end(), STOP)
    assert odd[0] == ThinkingDelta("", 0, Raw(b'{"signature":"a","block":{"new":{"x":1}}}'))
    pieces = read(
        block(0, "thinking", thinking=""),
        delta(0, type="signature_delta", signature="a"),
        delta(0, type="signature_delta", signature="b"),
        stop(0),
        end(),
        STOP,
    )
    assert pieces[0] == ThinkingDelta("", 0, Raw(b'{"signature":"ab"}'))


def test_a_call_whose_input_comes_at_once() -> None:
    items = read(block(0, "tool_use", id="t", name="a", input={"x": 1}), stop(0), end("tool_use"), STOP)
    assert items[:2] == [CallDelta(0, "", "t", "a"), CallDelta(0, '{"x":1}')]


def test_an_answer_in_one_document() -> None:
    document = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Hi."},
            {"type": "tool_use", "id": "t", "name": "a", "input": {"x": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    assert read(msgspec.json.encode(document), whole=True) == [
        ThinkingDelta("Hm.", 0),
        ThinkingDelta("", 0, Raw(b'{"signature":"s"}')),
        BlockEnd(),
        TextDelta("Hi.", 1),
        BlockEnd(),
        CallDelta(2, "", "t", "a"),
        CallDelta(2, '{"x":1}'),
        BlockEnd(),
        Outcome("completed", usage=TokenCounts.of(cache_write=3, output=4)),
    ]


def test_b045_counts_are_cumulative() -> None:
    counts = {"input_tokens": 14, "cache_creation_input_tokens": 8012, "cache_read_input_tokens": 120_000}
    usage = outcome(start(**counts, output_tokens=4), *SAID, end(**counts, output_tokens=47), STOP).usage
    assert usage == TokenCounts(cache_read=120_000, cache_write=8026, output=47, total=128_073)
    late = outcome(start(input_tokens=0, output_tokens=0), *SAID, end(input_tokens=7, output_tokens=None), STOP).usage
    assert late == TokenCounts.of(cache_write=7)
    assert outcome(start(input_tokens=0), *SAID, end(output_tokens=0), STOP).usage is None


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ((start(input_tokens=5), *SAID), ("retryable", "malformed")),
        ((start(), *SAID, end()), ("completed", None)),
        ((start(), *SAID, STOP), ("completed", None)),
        ((start(), end(), STOP), ("retryable", "malformed")),
        ((start(), *SAID, end("refusal"), STOP), ("fatal", "rejected")),
        ((start(), *SAID, end("pause_turn"), STOP), ("completed", None)),
        ((start(), *SAID, end("something_new"), STOP), ("completed", None)),
        ((start(), *SAID, end(None), STOP), ("completed", None)),
        ((start(), b'data: {"type": "content_block_del\n\n', *SAID, end(), STOP), ("retryable", "malformed")),
        ((start(), event("content_block_delta", index=0, delta=[1]), end(), STOP), ("retryable", "malformed")),
        ((event("error", error={"type": "overloaded_error", "message": "Overloaded"}),), ("retryable", "network")),
        ((start(), event("error", error={"type": "invalid_request_error", "message": "m"})), ("fatal", "rejected")),
        ((start(), event("error", error={"type": "authentication_error", "message": "m"})), ("fatal", "auth")),
        ((start(), b'data: {"error":{"type":"api_error","message":"m"}}\n\n'), ("retryable", "network")),
    ],
)
def test_how_an_answer_counts(chunks: tuple[bytes, ...], expected: tuple[str, str | None]) -> None:
    """B051, B052, B056, B059."""
    found = outcome(*chunks)
    assert (found.status, found.error_code) == expected


def test_an_errors_request_id_is_told() -> None:
    told = outcome(event("error", error={"type": "api_error", "message": "m"}, request_id="req_1"))
    assert told.error_message == "(request id req_1) m"


def test_b060_heartbeats_and_unknown_events_are_no_content() -> None:
    beats = (
        b": comment\n\n",
        event("ping"),
        event("keepalive"),
        event("content_block_frob", index=9),
        b"data: {}\n\n",
        b"data: null\n\n",
        b'data: {"choices":null}\n\n',
        event("content_block_delta", index=0, delta={"type": "new_delta", "frob": 1}),
        event("content_block_delta", index=0, delta=None),
        event("content_block_start", index=7, content_block={"type": "server_tool_use", "id": "x", "name": "web"}),
        b"data:\n\n",
    )
    items = read(start(), *beats, *SAID, *beats, end(), *beats, STOP)
    assert [item for item in items if item != BlockEnd()] == [TextDelta("Hi", 0), Outcome("completed")]


def test_b167_half_characters_pass_on_to_who_joins_them() -> None:
    half = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\ud83d"}}\n\n'
    other = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\udc27"}}\n\n'
    assert read(start(), half, other, end(), STOP)[:2] == [TextDelta("\ud83d", 0), TextDelta("\udc27", 0)]


ANSWER = b"".join(
    (
        start(input_tokens=10),
        block(0, "thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="日本🐧"),
        delta(0, type="signature_delta", signature="s=="),
        stop(0),
        block(1, "text", text=""),
        text(1, "a\u2028b\u0085c"),
        stop(1),
        block(2, "tool_use", id="t", name="a", input={}, caller={"type": "direct"}),
        delta(2, type="input_json_delta", partial_json='{"x": "é"}'),
        stop(2),
        end("tool_use", output_tokens=5),
        STOP,
    )
)


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_b066_any_chunking_gives_the_same_items(cuts: list[int]) -> None:
    borders = sorted({0, *cuts, len(ANSWER)})
    pieces = [ANSWER[begin:stop] for begin, stop in pairwise(borders)]
    assert read(*pieces) == read(ANSWER)
