"""Chunks of generateContent to deltas and an outcome, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from penguin_harness.contracts import BlockDelta, BlockEnd, CallDelta, ModelItem, Outcome, TextDelta, ThinkingDelta
from penguin_harness.llm.gemini.reader import ChunkReader
from penguin_harness.llm.sse import WholeBody
from penguin_harness.omnimessage import InlineData, InlineThinking, Text, TokenCounts, ToolCall
from tests.llm.gemini import END, OWN, call, chunk, counts, outcome, read, segments, text
from tests.llm.server import DONE, event

NOTHING: dict[str, object] = {}
SIGNED = Raw(b'{"part":{"thoughtSignature":"s=="}}')


def test_thinking_text_and_parallel_calls() -> None:
    """B018: a call without an id on the wire has none, and the engine makes one."""
    assert read(
        chunk(text("hm", thought=True)),
        chunk(text("Hi")),
        chunk(call("a", {"x": 1}) | {"thoughtSignature": "s=="}),
        chunk(call("b", id="c7"), reason="STOP"),
        counts(promptTokenCount=10, candidatesTokenCount=5),
    ) == [
        ThinkingDelta("hm", 0, OWN),
        TextDelta("Hi", 1),
        CallDelta(0, '{"x":1}', None, "a", SIGNED),
        BlockEnd(),
        CallDelta(1, "{}", "c7", "b", Raw(b'{"part":{},"content":{"id":"c7"}}')),
        BlockEnd(),
        Outcome("completed", usage=TokenCounts.of(cache_write=10, output=5)),
    ]


def test_texts_of_one_kind_are_one_block() -> None:
    items = read(chunk(text("a")), chunk(text("b"), text("c", thought=False)), chunk(text("d", thought=True)), END)
    assert items[:-1] == [TextDelta("a"), TextDelta("b"), TextDelta("c"), ThinkingDelta("d", 1, OWN)]


def test_b041_a_signature_stays_on_its_own_part() -> None:
    items = read(
        chunk(text("a")),
        chunk(text("b", thoughtSignature="s==")),
        chunk(text("c")),
        chunk(text("d", thought=True, thoughtSignature="s==")),
        END,
    )
    assert items[:-1] == [
        TextDelta("a", 0),
        TextDelta("b", 1, SIGNED),
        TextDelta("c", 2),
        ThinkingDelta("d", 3, SIGNED),
    ]


@pytest.mark.parametrize("part", [text("", thoughtSignature="s=="), {"thoughtSignature": "s=="}])
def test_b041_an_empty_part_signs_the_text_before_it(part: object) -> None:
    after = Raw(b'{"part":{},"after":{"thoughtSignature":"s=="}}')
    assert read(chunk(text("a")), chunk(part), chunk(text("b"), reason="STOP"))[:-1] == [
        TextDelta("a"),
        TextDelta("", 0, after),
        TextDelta("b", 1),
    ]
    assert segments(chunk(text("a")), chunk(part, reason="STOP")) == [Text("assistant", "a", fidelity=after)]
    assert read(chunk(text("t", thought=True), part, call("f")), END)[1] == TextDelta("", 1, SIGNED)


def test_a_call_keeps_what_the_model_wrote() -> None:
    raw = (
        b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"n": 1.0, "n":1e400},"name":"f"}}]}}]}\n\n'
    )
    assert read(raw, END)[0] == CallDelta(0, '{"n": 1.0, "n":1e400}', None, "f")
    assert read(chunk({"functionCall": {"name": "f"}}), END)[0] == CallDelta(0, "{}", None, "f")
    assert read(chunk({"functionCall": {"name": "f", "args": None, "id": ""}}), END)[0] == CallDelta(
        0, "{}", None, "f", Raw(b'{"part":{},"content":{"id":""}}')
    )


@pytest.mark.parametrize("function", [{}, {"name": ""}, {"name": 7}, "f", []])
def test_a_call_without_a_name_is_malformed(function: object) -> None:
    end = outcome(chunk({"functionCall": function}), END)
    assert (end.error_code, end.error_message) == ("malformed", "a function call came without a name")


def test_a_name_that_was_mended_comes_back_as_the_tools_own() -> None:
    names = [item.name for item in read(chunk(call("_3d"), call("__3d"), call("_x"), call("a.b")), END)[::2][:4]]  # type: ignore[union-attr]
    assert names == ["3d", "_3d", "_x", "a.b"]


def ends(*chunks: bytes) -> list[type]:
    return [type(item) for item in read(*chunks)][:-1]


def test_b074_the_end_of_a_call_waits_for_the_reason() -> None:
    """A call that the output limit may have cut is not said to be whole; any other one starts at once."""
    assert ends(chunk(call("a"))) == [CallDelta]
    assert ends(chunk(call("a"), reason="MAX_TOKENS")) == [CallDelta]
    assert ends(chunk(call("a")), chunk(reason="MAX_TOKENS")) == [CallDelta]
    assert ends(chunk(call("a")), chunk(text("")), chunk(reason="OTHER")) == [CallDelta]
    assert ends(chunk(call("a"), reason="STOP")) == [CallDelta, BlockEnd]
    assert ends(chunk(call("a")), chunk(reason="STOP")) == [CallDelta, BlockEnd]
    assert ends(chunk(call("a"), text("x"), reason="MAX_TOKENS")) == [CallDelta, BlockEnd, TextDelta]
    assert ends(chunk(call("a"), call("b"), reason="MAX_TOKENS")) == [CallDelta, BlockEnd, CallDelta]
    cut = segments(chunk(call("a"), call("b"), reason="MAX_TOKENS"))
    assert [part.stop_reason for part in cut] == ["completed", "fatal"]


def test_data_of_the_model_is_kept_with_its_signature() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    named = {"inlineData": {"mimeType": "image/png", "data": "aGk=", "displayName": "x"}}
    assert read(chunk(image | {"thoughtSignature": "s=="}, named, image | {"thought": True}), END)[:-1] == [
        BlockDelta(InlineData("assistant", "aGk=", "image/png", fidelity=SIGNED)),
        BlockDelta(
            InlineData("assistant", "aGk=", "image/png", fidelity=Raw(b'{"part":{},"content":{"displayName":"x"}}'))
        ),
        BlockDelta(InlineThinking("assistant", "aGk=", "image/png", fidelity=OWN)),
    ]


def test_parts_of_the_vendors_own_tools_are_shown_and_kept_whole() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)\n"}, "thoughtSignature": "s=="}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    items = read(chunk(text("x"), code, result, {"newThing": [1]}), END)
    assert [item.text for item in items[:-1] if isinstance(item, TextDelta)] == [
        "x",
        "```python\nprint(1)\n```",
        "```\n1\n```",
        "",
    ]
    assert items[3] == TextDelta("", 3, Raw(b'{"part":{},"whole":{"newThing":[1]}}'))


@pytest.mark.parametrize(
    "heartbeat",
    [
        b": comment\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data:\n\n",
        b"data: null\n\n",
        b'data: "ping"\n\n',
        DONE,
        event({"type": "ping"}),
        event({}),
        event([]),
        event([1, None, [NOTHING]]),
        event(1),
        event({"error": None}),
        event({"candidates": None, "usageMetadata": None, "promptFeedback": None}),
        event({"candidates": []}),
        event({"candidates": "none"}),
        event({"candidates": [None]}),
        event({"candidates": [NOTHING]}),
        event({"candidates": [{"content": None}]}),
        event({"candidates": [{"content": {"role": "model"}}]}),
        event({"candidates": [{"content": {"parts": "none"}}]}),
        event({"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]}),
        event({"promptFeedback": {"safetyRatings": []}}),
        event({"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}),
        event({"usageMetadata": "soon"}),
        chunk(),
        chunk({}),
        chunk(text("")),
        chunk(None, 7, text("", thought=True), {"text": None}, {"text": "", "partMetadata": {}}),
        chunk({"thoughtSignature": None, "thought": True}),
    ],
)
def test_b060_heartbeats_are_no_content_and_no_error(heartbeat: bytes) -> None:
    body = [chunk(text("a")), chunk(text("b")), chunk(call("f")), END]
    with_heartbeats = [piece for part in body for piece in (heartbeat, part)]
    assert read(*with_heartbeats) == read(*body)
    assert outcome(heartbeat, chunk(reason="STOP")).error_message == "empty response (finishReason STOP)"


@pytest.mark.parametrize(
    ("ending", "status", "code", "message"),
    [
        ([], "retryable", "malformed", "the answer ended without a terminal signal"),
        ([DONE], "retryable", "malformed", "the answer ended without a terminal signal"),
        ([chunk(reason="STOP")], "completed", None, None),
        ([chunk(reason="OTHER")], "completed", None, None),
        ([chunk(reason="MADE_UP")], "completed", None, None),
        ([event({"candidates": [{"finishReason": 7}]})], "completed", None, None),
        ([chunk(reason="STOP"), chunk(text("b"))], "completed", None, None),
        (
            [chunk(reason="MAX_TOKENS")],
            "completed",
            "output_limit",
            "the answer was cut by the output limit (MAX_TOKENS)",
        ),
        ([chunk(reason="STOP"), chunk(reason="MAX_TOKENS")], "completed", "output_limit", ...),
        (
            [chunk(reason="MALFORMED_FUNCTION_CALL", message="print(f(")],
            "retryable",
            "malformed",
            "the model wrote what cannot be read (MALFORMED_FUNCTION_CALL: print(f()",
        ),
        ([chunk(reason="UNEXPECTED_TOOL_CALL")], "retryable", "malformed", ...),
        ([chunk(reason="SAFETY", message="No.")], "completed", None, "the vendor stopped the answer (SAFETY: No.)"),
        ([event({"promptFeedback": {"blockReason": "OTHER"}})], "completed", None, ...),
    ],
)
def test_b051_b052_and_b077_how_an_answer_ends(
    ending: Sequence[bytes], status: str, code: str | None, message: object
) -> None:
    end = outcome(chunk(text("a")), *ending)
    assert (end.status, end.error_code) == (status, code)
    assert message is ... or end.error_message == message


@pytest.mark.parametrize("reason", ["STOP", "OTHER", "NO_IMAGE"])
def test_an_answer_without_content_is_malformed(reason: str) -> None:
    """Thoughts alone answer nothing."""
    end = outcome(chunk(text("hm", thought=True)), chunk(reason=reason), counts(promptTokenCount=9))
    assert end == Outcome(
        "retryable", "malformed", f"empty response (finishReason {reason})", TokenCounts.of(cache_write=9)
    )


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        (chunk(reason="SAFETY"), "the vendor blocked the answer (SAFETY)"),
        (chunk(reason="PROHIBITED_CONTENT"), "the vendor blocked the answer (PROHIBITED_CONTENT)"),
        (chunk(reason="RECITATION", message="Cited."), "the vendor blocked the answer (RECITATION: Cited.)"),
        (event({"promptFeedback": {"blockReason": "SAFETY"}}), "the vendor blocked the prompt (SAFETY)"),
        (
            event({"promptFeedback": {"blockReason": "SPII", "blockReasonMessage": "A number."}}),
            "the vendor blocked the prompt (SPII: A number.)",
        ),
    ],
)
def test_a_block_without_any_text_is_a_rejection(ending: bytes, message: str) -> None:
    assert outcome(chunk(text("hm", thought=True)), ending) == Outcome("fatal", "rejected", message)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([counts(promptTokenCount=13, candidatesTokenCount=20, thoughtsTokenCount=7)], (0, 13, 27)),
        ([counts(promptTokenCount=100, cachedContentTokenCount=60, candidatesTokenCount=5)], (60, 40, 5)),
        ([counts(promptTokenCount=10, cachedContentTokenCount=60)], (10, 0, 0)),
        ([counts(promptTokenCount=10, toolUsePromptTokenCount=5, candidatesTokenCount=1)], (0, 15, 1)),
        ([counts(promptTokenCount=9, candidatesTokenCount=n) for n in (1, 2, 3)], (0, 9, 3)),
        ([counts(promptTokenCount=9, thoughtsTokenCount=4), counts(candidatesTokenCount=2)], (0, 9, 6)),
        ([counts(promptTokenCount=9, candidatesTokenCount=2), counts(promptTokenCount=None)], (0, 9, 2)),
        ([counts(promptTokenCount="9", candidatesTokenCount="2")], (0, 9, 2)),
        ([chunk(text("b"), usageMetadata={"promptTokenCount": 3})], (0, 3, 0)),
        ([chunk(call("f"), usageMetadata={"promptTokenCount": 3, "cachedContentTokenCount": 1})], (1, 2, 0)),
        ([counts(promptTokenCount=0, candidatesTokenCount=0)], None),
        ([counts()], None),
        ([event({"usageMetadata": None})], None),
    ],
)
def test_b045_to_b050_usage_is_cumulative(chunks: Sequence[bytes], expected: tuple[int, int, int] | None) -> None:
    """Later values replace earlier ones, each field by itself; null and only zeros say nothing."""
    usage = outcome(chunk(text("a")), *chunks, END).usage
    if expected is None:
        assert usage is None
    else:
        cache_read, cache_write, output = expected
        assert usage == TokenCounts.of(cache_read=cache_read, cache_write=cache_write, output=output)


@pytest.mark.parametrize(
    ("error", "status", "code", "message", "wait"),
    [
        ({"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}, "retryable", "network", "Overloaded.", None),
        ({"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}, "fatal", "rejected", "Bad.", None),
        ({"message": "No key.", "status": "UNAUTHENTICATED"}, "fatal", "auth", "No key.", None),
        (
            {"code": 429, "message": "Quota.", "details": [{"retryDelay": "2.5s"}]},
            "retryable",
            "network",
            "Quota.",
            2500,
        ),
    ],
)
def test_b056_and_b081_an_error_inside_the_stream(
    error: dict[str, object], status: str, code: str, message: str, wait: int | None
) -> None:
    usage = TokenCounts.of(cache_write=3)
    expected = Outcome(status, code, message, usage, wait)  # type: ignore[arg-type]
    assert outcome(counts(promptTokenCount=3), event({"error": error}), END) == expected
    assert outcome(counts(promptTokenCount=3), b"event: error\n" + event({"error": error}), END) == expected


def test_b057_an_error_behind_a_call_ends_the_request() -> None:
    items = read(chunk(call("f")), event({"error": {"code": 500, "message": "lost"}}), END)
    assert [type(item) for item in items] == [CallDelta, Outcome]
    assert items[-1] == Outcome("retryable", "network", "lost")


@pytest.mark.parametrize(
    "data",
    [
        b'{"candidates":[{"content":',
        b"upstream error",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[{},",
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":NaN}}}]}}]}',
    ],
)
def test_b059_an_event_that_is_no_json_makes_the_request_malformed(data: bytes) -> None:
    end = outcome(chunk(text("a")), b"data: " + data + b"\n\n", END)
    assert (end.status, end.error_code) == ("retryable", "malformed")
    assert "an event is no JSON" in (end.error_message or "")


def line(part: str) -> bytes:
    return b'data: {"candidates":[{"content":{"parts":[%b]}}]}\n\n' % part.encode("utf-8", "surrogateescape")


def test_b063_separators_and_controls_inside_the_json() -> None:
    content = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    assert read(line(f'{{"text":"{content}"}}'), END)[0] == TextDelta(content)


def test_b167_halves_of_characters_pass_and_pairs_are_joined() -> None:
    """The segmenter joins halves across deltas and replaces lone ones; what is opaque has whole characters only."""
    assert read(line(r'{"text":"\ud83c\udf78 \ud83d"}'), END)[0] == TextDelta("🍸 \ud83d")
    assert read(line('{"text":"\udcff"}'), END)[0] == TextDelta("\ufffd")
    assert read(line('{"text":"\udcff","thoughtSignature":"s=="}'), END)[0] == TextDelta("\ufffd", 0, SIGNED)
    halves = segments(line(r'{"text":"a\ud83d"}'), line(r'{"text":"\udc27b"}'), END)
    assert halves == [Text("assistant", "a🐧b")]
    (called,) = segments(line(r'{"functionCall":{"name":"f","args":{"t":"\ud83c"}},"x":"\ud83c"}'), END)
    assert called == ToolCall(
        "assistant", "f", '{"t":"\ufffd"}', "call_1", fidelity=Raw('{"part":{"x":"\ufffd"}}'.encode())
    )


WHOLE = b'{"candidates":[{"content":{"parts":[{"text":"all"}]},"finishReason":"STOP"}]}'


@pytest.mark.parametrize("body", [WHOLE, b"[" + WHOLE + b"]", b'[{"candidates":[]}\n,\n' + WHOLE + b"\n]\n"])
def test_an_answer_in_one_document_is_read_too(body: bytes) -> None:
    whole, reader = WholeBody(), ChunkReader()
    whole.feed(body)
    assert [*reader.read(whole.finish()), reader.outcome()] == [TextDelta("all"), Outcome("completed")]


def test_the_reader_waits_for_the_end_of_the_connection() -> None:
    """Older models repeat a finish reason in every chunk."""
    reader = ChunkReader()
    assert not reader.terminal
    assert list(reader.read([("", WHOLE), ("", WHOLE)])) == [TextDelta("all"), TextDelta("all")]
    assert (reader.terminal, reader.complete) == (True, False)


def test_a_text_without_a_signature_has_no_fidelity() -> None:
    item = read(chunk(text("a")), END)[0]
    assert isinstance(item, TextDelta)
    assert item.fidelity is UNSET


BODY = b"".join([
    chunk(text("漢字", thought=True)),
    event({"type": "ping"}),
    chunk(text("🐧é"), text("", thoughtSignature="s==")),
    chunk(call("f", {"é": "🐧"}, id="a") | {"thoughtSignature": "t=="}),
    chunk(call("g"), reason="STOP", usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 6}),
])  # fmt: skip


@given(st.lists(st.integers(0, len(BODY)), max_size=20))
def test_b062_and_b066_the_same_deltas_whatever_the_chunking(places: list[int]) -> None:
    borders = [0, *sorted(places), len(BODY)]
    chunks = [BODY[start:end] for start, end in pairwise(borders)]
    assert read(*filter(None, chunks)) == read(BODY)


def test_b062_one_byte_at_a_time() -> None:
    assert read(*(BODY[place : place + 1] for place in range(len(BODY)))) == read(BODY)


WORDS = (
    "candidates content parts text thought thoughtSignature functionCall name args id inlineData mimeType data error "
    "finishReason finishMessage promptFeedback blockReason usageMetadata promptTokenCount executableCode code"
)
KEYS = st.sampled_from(WORDS.split(" "))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
fields = st.dictionaries(KEYS, json_values, max_size=4)


def is_a_stream(items: Sequence[ModelItem]) -> bool:
    return [isinstance(item, Outcome) for item in items] == [False] * (len(items) - 1) + [True]


@given(st.lists(json_values, max_size=4))
def test_any_json_gives_deltas_or_a_failure_but_no_exception(values: list[object]) -> None:
    assert is_a_stream(read(*map(event, values)))


@given(st.lists(fields | json_values, max_size=3), json_values)
def test_any_part_gives_deltas_or_a_failure_but_no_exception(parts: list[object], reason: object) -> None:
    assert is_a_stream(read(event({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})))
