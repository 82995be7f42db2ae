"""Events of Chat Completions to deltas and an outcome, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from penguin_harness.contracts import CallDelta, ModelItem, Outcome, TextDelta, ThinkingDelta
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.openai_chat.reader import ChunkReader
from penguin_harness.llm.sse import SseReader
from penguin_harness.omnimessage import TokenCounts
from tests.llm.server import DONE, delta, event, usage

CONTENT = Raw(b'{"reasoning_field":"reasoning_content"}')
NOTHING: dict[str, object] = {}
REASONING = Raw(b'{"reasoning_field":"reasoning"}')


def read(*chunks: bytes) -> list[ModelItem]:
    """What the adapter yields for these bytes."""
    sse, reader, items = SseReader(), ChunkReader(), list[ModelItem]()
    try:
        for chunk in (*chunks, b""):
            items += reader.read(sse.feed(chunk) if chunk else sse.finish())
        return [*items, *reader.finish(), reader.outcome()]
    except TransportError as failure:
        return [*items, failure.outcome(reader.usage())]


def outcome(*chunks: bytes) -> Outcome:
    last = read(*chunks)[-1]
    assert isinstance(last, Outcome)
    return last


def choice(**fields: object) -> dict[str, object]:
    return {"delta": NOTHING, **fields}


def calls(*fragments: object) -> bytes:
    return delta(tool_calls=list(fragments))


def test_text_thinking_and_calls() -> None:
    assert read(
        delta(role="assistant", content=""),
        delta(reasoning_content="hm"),
        delta(content="Hi"),
        calls({"index": 0, "id": "c1", "type": "function", "function": {"name": "a", "arguments": ""}}),
        calls({"index": 0, "function": {"arguments": '{"x":1}'}}),
        delta("tool_calls"),
        usage(10, 5),
        DONE,
    ) == [
        ThinkingDelta("hm", 0, CONTENT),
        TextDelta("Hi"),
        CallDelta(0, "", "c1", "a"),
        CallDelta(0, '{"x":1}'),
        Outcome("completed", usage=TokenCounts.of(cache_write=10, output=5)),
    ]


def test_b034_the_name_of_the_reasoning_field_is_on_record() -> None:
    assert read(delta(reasoning="a"), delta("stop", content="b"))[0] == ThinkingDelta("a", 0, REASONING)
    assert read(delta(reasoning="a", reasoning_content="a"), DONE)[:-1] == [ThinkingDelta("a", 0, CONTENT)]


def test_b018_and_b022_calls_are_labelled_as_the_provider_labels_them() -> None:
    """Generating ids and sorting out indexes is the segmenter's."""
    assert read(
        calls({"index": 0, "function": {"name": "a", "arguments": "{}"}}),
        calls({"index": 7, "id": "", "function": {"name": "", "arguments": "x"}}),
        DONE,
    )[:-1] == [CallDelta(0, "{}", None, "a"), CallDelta(7, "x")]


def test_old_shapes_of_calls() -> None:
    """No index; an index as text; arguments as an object; no function."""
    assert read(
        calls({"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b", "function": {"name": "g"}}),
        calls({"index": "2", "id": "c", "function": {"name": "h", "arguments": {"x": "é", "n": 1.0}}}),
        calls({"index": 3, "id": "d"}),
        DONE,
    )[:-1] == [
        CallDelta(0, "{}", "a", "f"),
        CallDelta(1, "", "b", "g"),
        CallDelta(2, '{"x":"é","n":1.0}', "c", "h"),
        CallDelta(3, "", "d"),
    ]


def test_b041_a_signature_beside_a_call_is_kept() -> None:
    extra = {"google": {"thought_signature": "s=="}}
    items = read(calls({"index": 0, "id": "a", "function": {"name": "f"}, "extra_content": extra}), DONE)
    assert items[0] == CallDelta(0, "", "a", "f", Raw(b'{"extra_content":{"google":{"thought_signature":"s=="}}}'))


def test_structured_reasoning_is_put_together() -> None:
    """OpenRouter's fragments become whole blocks before the content that follows them."""

    def detail(**fields: object) -> dict[str, object]:
        return {"type": "reasoning.text", "index": 0, **fields}

    items = read(
        delta(reasoning="ab", reasoning_details=[detail(text="ab")]),
        delta(reasoning="c", reasoning_details=[detail(text="c"), detail(signature="s", text=None)]),
        delta(content="x"),
        delta("stop", reasoning_details=[{"type": "reasoning.encrypted", "data": "e", "index": 1}]),
    )
    first = (
        b'{"reasoning_field":"reasoning","reasoning_details":'
        b'[{"type":"reasoning.text","index":0,"text":"abc","signature":"s"}]}'
    )
    second = (
        b'{"reasoning_field":"reasoning","reasoning_details":[{"type":"reasoning.encrypted","data":"e","index":1}]}'
    )
    assert items[:-1] == [
        ThinkingDelta("ab", 0, REASONING),
        ThinkingDelta("c", 0, REASONING),
        ThinkingDelta("", 0, Raw(first)),
        TextDelta("x"),
        ThinkingDelta("", 0, Raw(second)),
    ]


@pytest.mark.parametrize(
    "heartbeat",
    [
        b": comment\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data:\n\n",
        b"data: null\n\n",
        b'data: "ping"\n\n',
        event({"type": "ping"}),
        event({"type": "keepalive"}),
        event({"choices": None}),
        event({"choices": []}),
        event({"choices": "none"}),
        event({}),
        event([]),
        event(1),
        event({"error": None}),
        event({"choices": [{"delta": None}]}),
        event({"choices": [choice(finish_reason="")]}),
        event({"usage": None, "choices": [{"index": 0, "delta": {"content": None}}]}),
    ],
)
def test_b060_heartbeats_are_no_content_and_no_error(heartbeat: bytes) -> None:
    body = [delta(content="a"), delta(content="b"), delta("stop"), DONE]
    with_heartbeats = [piece for part in body for piece in (heartbeat, part)]
    assert read(*with_heartbeats) == read(*body)
    assert outcome(heartbeat, DONE).error_message == "empty response (finish_reason None)"


@pytest.mark.parametrize(
    ("ending", "status", "code"),
    [
        ([], "retryable", "malformed"),
        ([DONE], "completed", None),
        ([delta(None), DONE], "completed", None),
        ([event({"choices": []}), DONE], "completed", None),
        ([delta("stop")], "completed", None),
        ([delta("made_up")], "completed", None),
        ([event({"choices": [choice(finish_reason=7)]})], "completed", None),
        ([delta("content_filter")], "completed", None),
        ([delta("length")], "completed", "output_limit"),
        ([delta("error")], "retryable", "network"),
    ],
)
def test_b051_and_b052_any_finish_reason_or_the_sentinel_ends_an_answer(
    ending: Sequence[bytes], status: str, code: str | None
) -> None:
    end = outcome(delta(content="a"), *ending)
    assert (end.status, end.error_code) == (status, code)


def test_an_answer_without_content_is_malformed() -> None:
    end = outcome(delta("stop"), usage(10, 0), DONE)
    assert (end.status, end.error_code) == ("retryable", "malformed")
    assert end.error_message == "empty response (finish_reason stop)"
    assert end.usage == TokenCounts.of(cache_write=10)
    assert outcome(delta("length")).error_code == "output_limit"


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([delta("stop"), usage(13, 20)], TokenCounts.of(cache_write=13, output=20)),
        ([event({"choices": [choice(finish_reason="stop")], "usage": {"prompt_tokens": 3}})], (0, 3, 0)),
        ([delta("stop"), event({"choices": [choice()], "usage": {"completion_tokens": 4}})], (0, 0, 4)),
        ([event({"choices": [{"finish_reason": "stop", "usage": {"completion_tokens": 4}}]})], (0, 0, 4)),
        ([usage(9, 1), usage(9, 2), delta("stop"), usage(9, 3)], (0, 9, 3)),
        ([usage(9, 1), delta("stop"), event({"choices": [], "usage": {"completion_tokens": None}})], (0, 9, 1)),
        ([delta("stop"), usage(100, 5, prompt_tokens_details={"cached_tokens": 60})], (60, 40, 5)),
        ([delta("stop"), usage(100, 5, prompt_tokens_details={"cached_tokens": None})], (0, 100, 5)),
        ([delta("stop"), usage(100, 5, prompt_cache_hit_tokens=70)], (70, 30, 5)),
        ([delta("stop"), usage(10, 5, prompt_cache_hit_tokens=70)], (10, 0, 5)),
        ([event({"choices": [choice(finish_reason="stop")], "usage": "soon"})], None),
        ([delta("stop"), usage(0, 0)], None),
        ([delta("stop"), event({"choices": [], "usage": None})], None),
        ([delta("stop"), DONE, usage(1, 1), b"data: junk\n\n"], None),
    ],
)
def test_b045_to_b050_usage_is_read_wherever_it_arrives(
    chunks: Sequence[bytes], expected: TokenCounts | tuple[int, int, int] | None
) -> None:
    """Later values replace earlier ones; null and only zeros say nothing."""
    if isinstance(expected, tuple):
        read_, write, output = expected
        expected = TokenCounts.of(cache_read=read_, cache_write=write, output=output)
    assert outcome(delta(content="a"), *chunks).usage == expected


def test_b048_usage_beside_an_empty_delta_adds_no_text() -> None:
    both = event({"choices": [{"delta": {"content": ""}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})
    assert [type(item) for item in read(delta(content="a"), delta("stop"), both)] == [TextDelta, Outcome]


@pytest.mark.parametrize(
    ("chunk", "status", "code", "text"),
    [
        (event({"error": {"message": "Overloaded", "code": 529}}), "retryable", "network", "Overloaded"),
        (event({"error": {"message": "No", "type": "authentication_error"}}), "fatal", "auth", "No"),
        (event({"error": "sunk"}), "retryable", "network", "sunk"),
        (event({"type": "error", "error": {"type": "overloaded_error", "message": "b"}}), "retryable", "network", "b"),
        (event({"object": "error", "message": "bad", "code": 400}), "fatal", "rejected", "bad"),
        (
            event({"error": {"message": "up", "code": 502}, "choices": [choice(finish_reason="error")]}),
            "retryable",
            "network",
            "up",
        ),
        (b"event: error\ndata: the queue is full\n\n", "retryable", "network", "the queue is full"),
        (b'event: error\ndata: {"error":{"message":"x","code":400}}\n\n', "fatal", "rejected", "x"),
    ],
)
def test_b056_an_error_inside_the_stream(chunk: bytes, status: str, code: str, text: str) -> None:
    end = outcome(chunk, DONE)
    assert (end.status, end.error_code, end.error_message) == (status, code, text)


def test_b057_an_error_after_half_a_call_ends_the_request() -> None:
    half = calls({"index": 0, "id": "a", "function": {"name": "w", "arguments": '{"path":"/a'}})
    items = read(half, event({"error": {"message": "lost"}}), DONE)
    assert [type(item) for item in items] == [CallDelta, Outcome]
    assert items[-1] == Outcome("retryable", "network", "lost")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b'{"choices":[{"delta":{"content":"a', "an event is no JSON"),
        (b"upstream error", "an event is no JSON"),
        (b"[" * 100_000, "an event is no JSON"),
        (b'{"choices":[{"delta":{"tool_calls":"x"}}]}', "an event has an unknown shape"),
        (b'{"choices":["x"]}', "an event has an unknown shape"),
    ],
)
def test_b059_an_event_that_cannot_be_read_makes_the_request_malformed(data: bytes, part: str) -> None:
    end = outcome(delta(content="a"), b"data: " + data + b"\n\n", delta("stop"), DONE)
    assert (end.status, end.error_code) == ("retryable", "malformed")
    assert part in (end.error_message or "")


def test_b063_separators_and_controls_inside_the_json() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    raw = b'data: {"choices":[{"delta":{"content":"' + text.encode() + b'"}}]}\n\n'
    assert read(raw, DONE)[0] == TextDelta(text)


def test_b167_halves_of_characters_pass_and_pairs_are_joined() -> None:
    """The segmenter joins halves across deltas and replaces lone ones."""
    body = r'data: {"choices":[{"delta":{"content":"\ud83c\udf78 %s"}}]}' + "\n\n"
    assert read((body % r"\ud83d").encode(), DONE)[0] == TextDelta("🍸 \ud83d")
    assert read((body % "x").encode(), DONE)[0] == TextDelta("🍸 x")
    assert read(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n', DONE)[0] == TextDelta("\ufffd")


def test_content_in_parts_refusals_and_whole_messages_are_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, 7, {"type": "text", "text": "b"}]
    assert read(delta(content=parts), DONE)[0] == TextDelta("ab")
    assert read(delta(refusal="no"), DONE)[0] == TextDelta("no")
    whole = event({"choices": [{"message": {"content": "all"}, "finish_reason": "stop"}]})
    assert read(whole) == [TextDelta("all"), Outcome("completed")]


def test_call_arguments_without_fidelity_have_none() -> None:
    item = read(calls({"index": 0, "id": "a", "function": {"name": "f"}}), DONE)[0]
    assert isinstance(item, CallDelta)
    assert item.fidelity is UNSET


BODY = b"".join([
    delta(role="assistant"),
    delta(reasoning_content="漢字"),
    delta(content="🐧é"),
    event({"type": "ping"}),
    calls({"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"é":'}}),
    calls({"index": 0, "function": {"arguments": '"🐧"}'}}),
    delta("tool_calls"),
    usage(5, 6),
    DONE,
])  # fmt: skip


@given(st.lists(st.integers(0, len(BODY)), max_size=20))
def test_b062_and_b066_the_same_deltas_whatever_the_chunking(places: list[int]) -> None:
    borders = [0, *sorted(places), len(BODY)]
    chunks = [BODY[start:end] for start, end in pairwise(borders)]
    assert read(*filter(None, chunks)) == read(BODY)


def test_b062_one_byte_at_a_time() -> None:
    assert read(*(BODY[place : place + 1] for place in range(len(BODY)))) == read(BODY)


WORDS = (
    "choices delta message content tool_calls function arguments index id name usage error finish_reason "
    "reasoning reasoning_details prompt_tokens prompt_tokens_details cached_tokens type object code text"
)
KEYS = st.sampled_from(WORDS.split(" "))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=4))
def test_any_json_gives_deltas_or_a_failure_but_no_exception(values: list[object]) -> None:
    items = read(*(event(value) for value in values))
    assert [isinstance(item, Outcome) for item in items] == [False] * (len(items) - 1) + [True]


fields = st.dictionaries(KEYS, json_values, max_size=4)
deltas = fields | st.fixed_dictionaries({"tool_calls": st.lists(fields | json_values, max_size=2)}) | json_values


@given(st.lists(st.fixed_dictionaries({"delta": deltas, "finish_reason": json_values}) | fields, max_size=3))
def test_any_choice_gives_deltas_or_a_failure_but_no_exception(choices: list[object]) -> None:
    assert isinstance(read(*(event({"choices": [choice]}) for choice in choices))[-1], Outcome)
