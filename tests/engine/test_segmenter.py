"""Deltas in any order become whole segments: the discipline holds, nothing is lost and nothing is glued together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from penguin_harness.contracts import BlockDelta, BlockEnd, CallDelta, ModelDelta, TextDelta, ThinkingDelta
from penguin_harness.engine.segmenter import Segmenter
from penguin_harness.engine.segments import MalformedStream
from penguin_harness.omnimessage import (
    InlineData,
    PartialText,
    PartialThinking,
    PartialToolCall,
    StopReason,
    Text,
    Thinking,
    ToolCall,
)
from tests.strategies import texts

PARTIALS = (PartialText, PartialThinking, PartialToolCall)


def content_of(payload: Any) -> str:
    match payload:
        case Text(text=text) | PartialText(text=text):
            return text
        case Thinking(thinking=text) | PartialThinking(thinking=text):
            return text
        case ToolCall(arguments=text) | PartialToolCall(arguments=text):
            return text
        case _:
            return ""


NO_IDS: frozenset[str] = frozenset()


def framed(
    deltas: Sequence[ModelDelta], stop: StopReason = "completed", used: frozenset[str] = frozenset()
) -> list[Any]:
    out: list[Any] = []
    segmenter = Segmenter(out.append, out.append, used)
    for delta in deltas:
        segmenter.push(delta)
    segmenter.close(stop)
    return out


def completes(payloads: list[Any]) -> list[Any]:
    """The complete payloads, after checking the streaming discipline of one producer."""
    whole: list[Any] = []
    streamed: list[str] | None = None
    stopped = None
    for payload in payloads:
        if isinstance(payload, PARTIALS):
            assert stopped is None, "the complete message is the very next one after stop"
            match payload.event_type:
                case "start":
                    assert streamed is None, "segments do not overlap"
                    assert content_of(payload) == ""
                    streamed = []
                case "delta":
                    assert streamed is not None
                    streamed.append(content_of(payload))
                case "stop":
                    assert streamed is not None
                    assert content_of(payload) == ""
                    stopped = payload
        else:
            if streamed is not None:
                assert stopped is not None, "no complete message before stop"
                assert stopped.stop_reason == payload.stop_reason
                assert "".join(streamed) == content_of(payload)
            streamed = stopped = None
            whole.append(payload)
    assert streamed is None, "nothing stays open"
    return whole


def call(index: int, arguments: str = "", id: str | None = None, name: str | None = None) -> CallDelta:  # noqa: A002
    return CallDelta(index, arguments, id, name)


def calls(*deltas: CallDelta) -> list[tuple[str, str, str]]:
    whole = completes(framed(list(deltas)))
    return [(one.tool_call_id, one.name, one.arguments) for one in whole]


raw_texts = st.text(st.characters(), max_size=6)
any_delta = st.one_of(
    st.builds(TextDelta, raw_texts, st.integers(0, 1)),
    st.builds(ThinkingDelta, raw_texts, st.integers(0, 1), st.sampled_from([Raw(b'{"s":1}')])),
    st.builds(CallDelta, st.integers(0, 2), texts, st.sampled_from([None, "", "x", "y"]), st.sampled_from([None, "t"])),
    st.just(BlockEnd()),
    st.just(BlockDelta(InlineData("assistant", "AA", "image/png"))),
)


@given(st.lists(any_delta, max_size=30), st.sampled_from(["completed", "aborted", "retryable", "fatal"]))
def test_the_discipline_holds_for_any_deltas(deltas: list[ModelDelta], stop: StopReason) -> None:
    out: list[Any] = []
    segmenter = Segmenter(out.append, out.append, NO_IDS)
    try:
        for delta in deltas:
            segmenter.push(delta)
    except MalformedStream:
        stop = "retryable"
    segmenter.close(stop)
    whole = completes(out)
    ids = [one.tool_call_id for one in whole if isinstance(one, ToolCall)]
    assert len(ids) == len(set(ids))
    for one in whole:
        content_of(one).encode()
        if stop == "completed":
            assert getattr(one, "stop_reason", "completed") == "completed"


@given(st.lists(st.text(st.characters(), min_size=1, max_size=8), min_size=1, max_size=10))
def test_text_cut_anywhere_is_the_same_text(pieces: list[str]) -> None:
    """Halves of a character that arrive in two deltas are joined; what stays alone becomes U+FFFD."""
    joined = "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    [text] = completes(framed([TextDelta(piece) for piece in pieces]))
    assert text.text == joined


def test_an_emoji_split_over_two_deltas_is_whole() -> None:
    assert completes(framed([TextDelta("a\ud83d"), TextDelta("\ude00b")])) == [Text("assistant", "a\U0001f600b")]
    assert completes(framed([TextDelta("a\ud83d")])) == [Text("assistant", "a\ufffd")]


@given(st.lists(st.tuples(st.integers(0, 2), st.text("ab", min_size=1, max_size=3)), max_size=20))
def test_interleaved_fragments_reach_their_own_call(fragments: list[tuple[int, str]]) -> None:
    """B019: assembly is by index; each call's fragments carry its id."""
    opened = [call(index, "", f"id{index}", "t") for index in range(3)]
    starts = [call(index, '{"k":"') for index in range(3)]
    ends = [call(index, '"}') for index in (2, 0, 1)]
    expected = [(f"id{n}", "t", '{"k":"' + "".join(p for i, p in fragments if i == n) + '"}') for n in range(3)]
    assert calls(*opened, *starts, *(call(index, piece) for index, piece in fragments), *ends) == expected


def test_a_call_is_complete_as_soon_as_the_next_begins() -> None:
    """So that it can run while the rest still streams."""
    out: list[Any] = []
    segmenter = Segmenter(out.append, out.append, NO_IDS)
    segmenter.push(call(0, '{"a":1}', "x", "t"))
    assert not any(isinstance(payload, ToolCall) for payload in out)
    segmenter.push(call(1, "", "y", "t"))
    assert [payload for payload in out if isinstance(payload, ToolCall)] == [ToolCall("assistant", "t", '{"a":1}', "x")]


@pytest.mark.parametrize(
    ("deltas", "found"),
    [
        pytest.param(
            [call(0, '{"p":"a"}', "a", "read"), call(0, '{"p":"b"}', "b", "read")],
            [("a", "read", '{"p":"a"}'), ("b", "read", '{"p":"b"}')],
            id="B020-every-call-has-index-0",
        ),
        pytest.param(
            [call(0, '{"p":', "a", "read"), call(0, '"a"}'), call(0, '{"p":"b"}', "b", "read")],
            [("a", "read", '{"p":"a"}'), ("b", "read", '{"p":"b"}')],
            id="B020-index-0-in-fragments",
        ),
        pytest.param(
            [call(0, '{"p":"a"}', "x", "read"), call(0, '{"p":"b"}', "x", "read")],
            [("x", "read", '{"p":"a"}'), ("x#2", "read", '{"p":"b"}')],
            id="B013-one-constant-id",
        ),
        pytest.param(
            [call(0, '{"c":"he', "a", "w"), call(1, "llo"), call(2, '"}')],
            [("a", "w", '{"c":"hello"}')],
            id="B022-continuation-under-a-wrong-index",
        ),
        pytest.param(
            [call(0, "{}", None, "t"), call(1, "{}", "", "t")],
            [("call_1", "t", "{}"), ("call_2", "t", "{}")],
            id="B018-no-ids",
        ),
        pytest.param(
            [call(0, "", "a", None), call(0, "{", None, "t"), call(0, "}")], [("a", "t", "{}")], id="late-name"
        ),
        pytest.param(
            [call(0, "", "a#1", "t"), call(0, "{}", "a#1", "t"), call(1, "{}", "a#1", "t")],
            [("a#1#1", "t", "{}"), ("a#1#2", "t", "{}")],
            id="an-id-that-looks-like-ours",
        ),
        pytest.param([call(0, "", "a", "t")], [("a", "t", "")], id="B067-no-arguments"),
    ],
)
def test_calls_are_told_apart(deltas: list[CallDelta], found: list[tuple[str, str, str]]) -> None:
    assert calls(*deltas) == found


def test_ids_are_unique_within_the_file() -> None:
    """B013, B014: the suffix is the only change, so it can be taken off again outbound."""
    [first] = completes(framed([call(0, "{}", "x", "t")], used=frozenset({"x", "x#2"})))
    assert first.tool_call_id == "x#3"
    [made] = completes(framed([call(0, "{}", None, "t")], used=frozenset({"call_2", "y"})))
    assert made.tool_call_id == "call_3"


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([call(0, "{", "a", "t"), call(1, "{", "b", "t"), call(7, "}")], id="B022-two-open-calls"),
        pytest.param(
            [call(0, "{}", "a", "t"), call(1, "{}", "b", "t"), call(0, "more")], id="more-for-a-finished-call"
        ),
        pytest.param([call(3, "{}")], id="no-call-at-all"),
    ],
)
def test_a_fragment_that_fits_no_call_is_malformed(deltas: list[CallDelta]) -> None:
    with pytest.raises(MalformedStream):
        framed(list(deltas))


def test_text_after_a_call_began_waits_behind_it() -> None:
    """B024: segments never overlap."""
    deltas = [TextDelta("a"), call(0, '{"x":', "c", "t"), TextDelta("b"), call(0, "1}"), TextDelta("c")]
    whole = completes(framed(deltas))
    assert whole == [Text("assistant", "a"), ToolCall("assistant", "t", '{"x":1}', "c"), Text("assistant", "bc")]


def test_blocks_and_their_fidelity_stay_apart() -> None:
    """B030: thinking between calls keeps its own signature, in its place."""
    sign = Raw(b'{"signature":"s1"}')
    deltas = [ThinkingDelta("one", 0), ThinkingDelta("", 0, sign), call(0, "{}", "a", "t"), ThinkingDelta("two", 2)]
    thinking, _, second = completes(framed(deltas))
    assert (thinking.fidelity, second) == (sign, Thinking("assistant", "two"))
    [empty] = framed([ThinkingDelta("", 0, sign)])
    assert empty == Thinking("assistant", "", fidelity=sign)


def test_what_was_cut_bears_the_stop_reason_and_what_was_whole_does_not() -> None:
    deltas = [TextDelta("done"), call(0, '{"a":1}', "a", "t"), call(1, '{"b":', "b", "t")]
    assert [one.stop_reason for one in completes(framed(deltas, "aborted"))] == ["completed", "completed", "aborted"]
    assert [one.stop_reason for one in completes(framed(deltas, "fatal"))] == ["completed", "completed", "fatal"]
    assert [one.stop_reason for one in completes(framed(deltas[:2], "fatal"))] == ["completed", "fatal"]
