"""Events of the Responses API to deltas and an outcome, and what of them goes out again, without a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from penguin_harness.contracts import BlockEnd, CallDelta, Outcome, TextDelta, ThinkingDelta
from penguin_harness.engine.segments import MalformedStream
from penguin_harness.omnimessage import Text, Thinking, TokenCounts, ToolCall
from tests.llm.responses import (
    added,
    arguments,
    call,
    cut,
    done,
    end,
    message,
    outcome,
    part,
    raw_done,
    read,
    replayed,
    said,
    segments,
    summary,
    text,
)
from tests.llm.server import event

DONE = b"data: [DONE]\n\n"
NOTHING: dict[str, object] = {}
COUNTS = {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}, "total_tokens": 15}
SEALED: dict[str, object] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e=="}


def thoughts(*texts: str) -> list[dict[str, object]]:
    return [{"type": "summary_text", "text": text} for text in texts]


def test_thinking_text_and_calls() -> None:
    sealed = {**SEALED, "summary": thoughts("Hm.", "So.")}
    assert read(
        event({"type": "response.created", "response": {"status": "in_progress", "usage": None}}),
        added(0, type="reasoning", id="rs_1", summary=[], encrypted_content="half"),
        event({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        summary("Hm"),
        summary("."),
        summary("So", part=1),
        summary(".", part=1),
        done(0, **sealed),
        added(1, **message(phase="commentary", status="in_progress")),
        text("Hi", 1),
        done(1, **message(part("Hi"), phase="commentary")),
        added(2, **call("a", status="in_progress")),
        arguments('{"x":', 2),
        arguments("1}", 2),
        event({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": '{"x":1}'}),
        done(2, **call("a", '{"x":1}')),
        end(usage=COUNTS, output=[]),
    ) == [
        ThinkingDelta("Hm", 0),
        ThinkingDelta(".", 0),
        ThinkingDelta("\n\nSo", 0),
        ThinkingDelta(".", 0),
        ThinkingDelta(
            "",
            0,
            Raw(
                b'{"reasoning":{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."},'
                b'{"type":"summary_text","text":"So."}],"encrypted_content":"e=="}}'
            ),
        ),
        BlockEnd(),
        TextDelta("Hi", 1),
        TextDelta("", 1, Raw(b'{"message":{"phase":"commentary"}}')),
        BlockEnd(),
        CallDelta(2, "", "c1", "a"),
        CallDelta(2, '{"x":'),
        CallDelta(2, "1}"),
        BlockEnd(),
        Outcome("completed", usage=TokenCounts.of(cache_read=4, cache_write=6, output=5)),
    ]


def test_b030_b038_each_reasoning_goes_back_at_its_place() -> None:
    first, second = ({**SEALED, "encrypted_content": name} for name in "ab")
    chunks = (
        done(0, **first),
        done(1, **call("f", "{}", "c1")),
        done(2, **second),
        done(3, **call("f", "{}", "c2")),
        end(),
    )
    kinds = [msgspec.json.decode(item) for item in replayed(*chunks)]
    assert [item.get("encrypted_content") or item["call_id"] for item in kinds] == ["a", "c1", "b", "c2"]
    assert not any("id" in item for item in kinds)


def test_b039_reasoning_that_shows_nothing_is_a_segment_too() -> None:
    kept = Raw(b'{"reasoning":{"type":"reasoning","summary":[],"encrypted_content":"e=="}}')
    hidden = Thinking("assistant", "", fidelity=kept)
    assert segments(done(0, **SEALED), text("x", 1), end()) == [hidden, Text("assistant", "x")]


def test_reasoning_that_holds_nothing_is_none() -> None:
    empty = done(0, type="reasoning", id="rs_1", summary=[], content=None, encrypted_content=None)
    assert segments(added(0, type="reasoning", summary=[]), empty, text("x", 1), end()) == [Text("assistant", "x")]


def test_readable_reasoning_of_open_models() -> None:
    content = [{"type": "reasoning_text", "text": "Hm."}]
    item: dict[str, object] = {"type": "reasoning", "id": "r", "summary": [], "content": content}
    chunks = [added(0, type="reasoning", id="r", summary=[]), said("reasoning_text", "Hm.", content_index=0)]
    chunks += [done(0, **item, encrypted_content=None, status="completed"), text("x", 1), end()]
    assert [(one.thinking, one.stop_reason) for one in segments(*chunks) if isinstance(one, Thinking)] == [
        ("Hm.", "completed")
    ]
    assert msgspec.json.decode(replayed(*chunks)[0]) == {"type": "reasoning", "summary": [], "content": content}


def test_reasoning_that_is_sent_in_two_ways_is_shown_once() -> None:
    chunks = [summary("Hm."), said("reasoning_text", "Hm.", content_index=0), summary("So.")]
    assert read(*chunks, end())[:-1] == [ThinkingDelta("Hm.", 0), ThinkingDelta("So.", 0)]


def test_b031_reasoning_that_was_cut_is_not_kept_whole() -> None:
    cut_off = segments(summary("Hm."), done(0, **SEALED, status="incomplete"), cut())
    assert [one.stop_reason for one in cut_off] == ["fatal"]


def test_a_phase_goes_back_with_its_text() -> None:
    chunks = (text("a"), done(0, **message(part("a"), phase="final_answer")), end())
    assert msgspec.json.decode(replayed(*chunks)[0])["phase"] == "final_answer"


def test_a_refusal_is_text_and_goes_back_as_one() -> None:
    refused = {"type": "refusal", "refusal": "I cannot."}
    chunks = (text("Well. "), said("refusal", "I cannot."), done(0, **message(part("Well. "), refused)), end())
    assert segments(*chunks)[0] == Text(
        "assistant",
        "Well. I cannot.",
        fidelity=Raw(
            b'{"message":{"content":[{"type":"output_text","text":"Well. ","annotations":[]},'
            b'{"type":"refusal","refusal":"I cannot."}]}}'
        ),
    )
    assert msgspec.json.decode(replayed(*chunks)[0])["content"] == [part("Well. "), refused]
    assert outcome(*chunks) == Outcome("completed")


def test_a_part_with_more_than_text_goes_back_as_it_came() -> None:
    signed = part("a", new={"mark": 1.0})
    assert msgspec.json.decode(replayed(text("a"), done(0, **message(signed)), end())[0])["content"] == [signed]


def test_parts_that_do_not_say_what_streamed_are_not_believed() -> None:
    refused = {"type": "refusal", "refusal": "Something else."}
    assert segments(text("a"), done(0, **message(refused)), end()) == [Text("assistant", "a")]


def test_an_empty_message_is_no_segment() -> None:
    chunks = (
        added(0, **message()),
        done(0, **message(part(""), phase="commentary")),
        done(1, **call("f", "{}")),
        end(),
    )
    assert segments(*chunks) == [ToolCall("assistant", "f", "{}", "c1")]


def test_what_did_not_stream_is_read_at_its_end() -> None:
    chunks = (
        done(0, **{**SEALED, "summary": thoughts("a", "b")}),
        done(1, **message(part("x"), part("y"))),
        added(2, **call("f", status="in_progress")),
        done(2, **call("f", '{"n":1}')),
        done(3, **call("g", {"n": 1.0}, "c2")),
        done(4, **call("h", None, "c3")),
        end(),
    )
    said_ = [getattr(one, "thinking", None) or getattr(one, "text", None) or one for one in segments(*chunks)]
    assert said_ == [
        "a\n\nb",
        "xy",
        ToolCall("assistant", "f", '{"n":1}', "c1"),
        ToolCall("assistant", "g", '{"n":1.0}', "c2"),
        ToolCall("assistant", "h", "", "c3"),
    ]


def test_b018_a_call_without_an_id_of_its_own() -> None:
    assert read(added(0, type="function_call", id="fc_1", call_id="", name="f"))[0] == CallDelta(0, "", "fc_1", "f")
    assert read(added(0, type="function_call", name="f"))[0] == CallDelta(0, "", None, "f")


def test_b019_interleaved_fragments_belong_to_their_calls() -> None:
    chunks = [added(n, **call("f", call_id=f"c{n}")) for n in (0, 1)]
    chunks += [arguments('{"t":', 0), arguments('{"t":', 1), arguments('"A"}', 0), arguments('"B"}', 1)]
    chunks += [done(n, **call("f", call_id=f"c{n}")) for n in (0, 1)]
    assert [one for one in read(*chunks, cut()) if isinstance(one, BlockEnd)] == []
    assert segments(*chunks, end()) == [
        ToolCall("assistant", "f", '{"t":"A"}', "c0"),
        ToolCall("assistant", "f", '{"t":"B"}', "c1"),
    ]


@pytest.mark.parametrize("ids", [("fc_c0", "fc_c1"), ("new", "newer"), (None, None)], ids=str)
@pytest.mark.parametrize("indexes", [(0, 0), (0, 1), (None, None)], ids=str)
def test_b020_b022_servers_that_number_or_name_badly(ids: tuple[str, str], indexes: tuple[int, int]) -> None:
    """One place for all items, or another id in each event."""
    chunks: list[bytes] = []
    for number, (label, index) in enumerate(zip(ids, indexes, strict=True)):
        item = call("f", call_id=f"c{number}")
        chunks += [event({"type": "response.output_item.added", "output_index": index, "item": item})]
        for piece in ('{"n":', f"{number}}}"):
            kind = "response.function_call_arguments.delta"
            chunks += [event({"type": kind, "output_index": index, "item_id": label, "delta": piece})]
        chunks += [event({"type": "response.output_item.done", "output_index": index, "item": item})]
    assert segments(*chunks, end()) == [ToolCall("assistant", "f", f'{{"n":{n}}}', f"c{n}") for n in (0, 1)]


def test_b019_one_place_for_all_items_and_fragments_in_turn() -> None:
    chunks = [added(0, **call("f", call_id=f"c{n}")) for n in (0, 1)]
    chunks += [arguments('{"n":', item_id=f"fc_c{n}") for n in (0, 1)]
    chunks += [arguments(f"{n}}}", item_id=f"fc_c{n}") for n in (0, 1)]
    assert segments(*chunks, end()) == [ToolCall("assistant", "f", f'{{"n":{n}}}', f"c{n}") for n in (0, 1)]


def test_one_place_for_items_of_different_types() -> None:
    assert segments(said("reasoning_text", "Hm."), text("a"), text("b"), end()) == [
        Thinking("assistant", "Hm."),
        Text("assistant", "ab"),
    ]


def test_b022_a_stray_fragment_is_never_given_to_another_call() -> None:
    stray = [added(n, **call("f", call_id=f"c{n}")) for n in (0, 1)] + [arguments("{}", 7, item_id="fc_9")]
    with pytest.raises(MalformedStream):
        segments(*stray, end())


def test_whole_items_without_id_and_place() -> None:
    whole = event({"type": "response.output_item.done", "item": message(part("a"), id=None)})
    assert segments(whole, whole, end()) == [Text("assistant", "a"), Text("assistant", "a")]


def test_items_without_id_and_place() -> None:
    chunks = [event({"type": "response.output_item.added", "item": {"type": "message"}})]
    chunks += [event({"type": "response.output_text.delta", "delta": "a"})]
    chunks += [event({"type": "response.output_item.done", "item": message(part("a"), id=None)})]
    assert segments(*chunks, *chunks, end()) == [Text("assistant", "a"), Text("assistant", "a")]


def test_deltas_of_items_that_nobody_announced() -> None:
    assert segments(said("reasoning_text", "Hm.", 0), text("a", 1), text("b", 1), end()) == [
        Thinking("assistant", "Hm."),
        Text("assistant", "ab"),
    ]


def test_two_messages_are_two_texts() -> None:
    chunks = [piece for n in (0, 1) for piece in (added(n, **message()), text("x", n), done(n, **message(part("x"))))]
    assert segments(*chunks, end()) == [Text("assistant", "x"), Text("assistant", "x")]


def test_a_calls_unknown_members_are_kept() -> None:
    item = call("f", "{}", namespace="n", caller={"type": "direct"}, other=None)
    fidelity = Raw(b'{"call":{"namespace":"n","caller":{"type":"direct"}}}')
    assert read(added(0, **item))[0] == CallDelta(0, "", "c1", "f", fidelity)
    assert msgspec.json.decode(replayed(done(0, **item), end())[0])["namespace"] == "n"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c9", "name": "f", "input": "x"},
        {"type": "mcp_list_tools", "id": 7, "name": NOTHING, "arguments": []},
        {"type": "image_generation_call", "result": "aGk="},
        {"type": None},
        {},
    ],
)
def test_items_of_the_vendors_own_tools_are_kept_out(item: dict[str, object]) -> None:
    with_item = read(text("a"), added(1, **item), said("custom_tool_call_input", "x", 1), done(1, **item), end())
    assert [one for one in with_item if not isinstance(one, BlockEnd)] == read(text("a"), end())


@pytest.mark.parametrize(
    "heartbeat",
    [
        b": comment\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data:\n\n",
        event({"type": "ping"}),
        event({"type": "keepalive", "sequence_number": 3}),
        event({"type": "response.in_progress", "response": {"status": "in_progress"}}),
        event({"type": "response.queued", "response": None}),
        event({"type": "response.content_part.added", "part": part("")}),
        event({"type": "response.output_text.annotation.added", "annotation": {"delta": 1}}),
        event({"type": "response.audio.delta", "delta": {"x": 1}}),
        event({"type": "response.output_text.delta", "delta": None}),
        event({"type": "response.output_text.delta", "delta": ""}),
        event({"type": "response.output_item.added", "item": None}),
        event({"type": "response.output_item.done"}),
        event({"type": 7, "output_index": "x"}),
        event({"type": ["x"]}),
        event({"error": None}),
        event({}),
        event([]),
        event(None),
        event(1),
    ],
)
def test_b060_heartbeats_are_no_content_and_no_error(heartbeat: bytes) -> None:
    body = [text("a"), text("b"), end(usage=COUNTS)]
    with_heartbeats = [piece for one in body for piece in (heartbeat, one)]
    assert read(*with_heartbeats) == read(*body)
    assert outcome(heartbeat, end()).error_message == "empty response (status completed)"


@pytest.mark.parametrize(
    ("ending", "status", "code"),
    [
        ([], "retryable", "malformed"),
        ([DONE], "retryable", "malformed"),
        ([end()], "completed", None),
        ([event({"type": "response.completed"})], "completed", None),
        ([event({"type": "response.completed", "response": {"status": 7, "usage": "soon"}})], "completed", None),
        ([end(), DONE], "completed", None),
        ([end(), b"data: junk\n\n"], "completed", None),
        ([cut()], "completed", "output_limit"),
        ([cut(None)], "completed", "output_limit"),
        ([end(incomplete_details={"reason": "max_output_tokens"})], "completed", "output_limit"),
        ([cut("content_filter")], "completed", None),
        ([end("failed", error={"code": "server_error", "message": "m"})], "retryable", "network"),
        ([event({"type": "response.failed"})], "retryable", "network"),
    ],
)
def test_b051_and_b052_only_the_vendors_last_event_ends_an_answer(
    ending: Sequence[bytes], status: str, code: str | None
) -> None:
    last = outcome(text("a"), *ending)
    assert (last.status, last.error_code) == (status, code)


def test_an_answer_without_content_is_malformed() -> None:
    last = outcome(summary("Hm."), done(0, **SEALED), end(usage=COUNTS))
    assert (last.status, last.error_code) == ("retryable", "malformed")
    assert last.error_message == "empty response (status completed)"
    assert last.usage == TokenCounts.of(cache_read=4, cache_write=6, output=5)
    assert outcome(cut()).error_code == "output_limit"


def test_a_filtered_answer_is_shown_as_far_as_it_came() -> None:
    assert outcome(text("a"), cut("content_filter")) == Outcome(
        "completed", None, "the vendor stopped the answer (content_filter)"
    )
    assert outcome(done(0, **SEALED), cut("content_filter")) == Outcome(
        "fatal", "rejected", "the vendor blocked the answer (content_filter)"
    )


@pytest.mark.parametrize("state", ["completed", "incomplete"])
def test_b074_a_call_at_the_output_limit_is_cut_whatever_its_state(state: str) -> None:
    """Some servers call every item completed. What stands before another item is whole."""
    first = (added(0, **call("f")), arguments("{}", 0), done(0, **call("f", "{}")))
    second = (added(1, **call("f", call_id="c2")), arguments("{}", 1), done(1, **call("f", "{}", "c2", status=state)))
    assert [one.stop_reason for one in segments(*first, *second, cut())] == ["completed", "fatal"]
    assert [one.stop_reason for one in segments(*first, *second, end())] == ["completed", "completed"]


def test_an_item_that_calls_itself_incomplete_is_not_said_to_be_whole() -> None:
    assert BlockEnd() not in read(text("a"), done(0, **message(part("a"), status="incomplete")), text("b", 1))


def test_b077_a_text_at_the_output_limit_is_cut() -> None:
    assert segments(text("a"), done(0, **message(part("a"), status="incomplete")), cut()) == [
        Text("assistant", "a", stop_reason="fatal")
    ]


@pytest.mark.parametrize("second", [added(1, **call("f")), text("b", 1), done(1, **message(part("b"))), end()])
def test_an_end_is_told_as_soon_as_it_is_certain(second: bytes) -> None:
    assert read(text("a"), done(0, **message(part("a"))))[1] == outcome(text("a"))
    assert read(text("a"), done(0, **message(part("a"))), second)[1] == BlockEnd()


def test_more_of_an_item_behind_its_end_belongs_to_it() -> None:
    assert segments(text("a"), done(0, **message(part("a"))), text("b"), end()) == [Text("assistant", "ab")]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (COUNTS, (4, 6, 5)),
        ({"input_tokens": 10, "output_tokens": 5}, (0, 10, 5)),
        ({"input_tokens": 10, "input_tokens_details": None}, (0, 10, 0)),
        ({"input_tokens": "10", "output_tokens": "5"}, (0, 10, 5)),
        ({"input_tokens": 3, "input_tokens_details": {"cached_tokens": 9}}, (3, 0, 0)),
        ({"input_tokens": 3, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 7}}, (0, 3, 9)),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": None}, None),
        ("soon", None),
        (None, None),
    ],
)
def test_b045_to_b050_usage(usage: object, expected: tuple[int, int, int] | None) -> None:
    counts = None
    if expected is not None:
        counts = TokenCounts.of(cache_read=expected[0], cache_write=expected[1], output=expected[2])
    for ending in (end(usage=usage), cut(usage=usage), end("failed", usage=usage, error={"message": "m"})):
        assert outcome(text("a"), ending).usage == counts


@pytest.mark.parametrize(
    ("chunk", "status", "code", "message_"),
    [
        (event({"type": "error", "code": "server_error", "message": "m"}), "retryable", "network", "m (server_error)"),
        (event({"type": "error", "code": None, "message": "m"}), "retryable", "network", "m"),
        (event({"type": "error", "error": {"type": "authentication_error", "message": "m"}}), "fatal", "auth", "m"),
        (event({"error": {"message": "m", "code": 400}}), "fatal", "rejected", "m"),
        (event({"type": "x", "delta": {}, "error": "sunk"}), "retryable", "network", "sunk"),
        (b"event: error\ndata: the queue is full\n\n", "retryable", "network", "the queue is full"),
        (b'event: error\ndata: {"type":"overloaded","message":"m"}\n\n', "retryable", "network", "m"),
        (
            end("failed", error={"code": "rate_limit_exceeded", "message": "m"}),
            "retryable",
            "network",
            "m (rate_limit_exceeded)",
        ),
        (end("failed", error={"code": "invalid_prompt", "message": "m"}), "fatal", "rejected", "m (invalid_prompt)"),
        (end("failed", error={"code": "cyber_policy", "message": "m"}), "fatal", "rejected", "m (cyber_policy)"),
        (end(error={"code": "server_error", "message": "m"}), "retryable", "network", "m (server_error)"),
        (
            event({"output": [], "status": "failed"}),
            "retryable",
            "network",
            "the provider gave no answer (status failed)",
        ),
        (
            event({"output": [], "status": "cancelled"}),
            "retryable",
            "network",
            "the provider gave no answer (status cancelled)",
        ),
    ],
)
def test_b056_an_error_inside_the_stream(chunk: bytes, status: str, code: str, message_: str) -> None:
    last = outcome(chunk, end())
    assert (last.status, last.error_code, last.error_message) == (status, code, message_)


def test_b083_an_overflow_is_recognised() -> None:
    words = "Your input exceeds the context window of this model. Please adjust your input and try again."
    assert outcome(end("failed", error={"code": "context_length_exceeded", "message": words})).overflow


def test_b057_an_error_after_half_a_call_ends_the_request() -> None:
    chunks = (added(0, **call("w")), arguments('{"path":"/a'), event({"type": "error", "message": "lost"}), end())
    assert read(*chunks)[-1] == Outcome("retryable", "network", "lost")
    assert [one.stop_reason for one in segments(*chunks)] == ["retryable"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"type":"response.output_text.delta","delta":"a', "an event is no JSON"),
        (b"upstream error", "an event is no JSON"),
        (b"[" * 100_000, "an event is no JSON"),
        (b'{"type":"response.output_text.delta","delta":{"a":1}}', "an event has an unknown shape"),
        (b'{"type":"response.output_item.done","output_index":{},"item":{}}', "an event has an unknown shape"),
        (b'{"type":"response.output_item.done","item":{"type":"message","id":7}}', "an output item has an unknown"),
    ],
)
def test_b059_an_event_that_cannot_be_read_makes_the_request_malformed(data: bytes, words: str) -> None:
    last = outcome(text("a"), b"data: " + data + b"\n\n", end())
    assert (last.status, last.error_code) == ("retryable", "malformed")
    assert words in (last.error_message or "")


def test_b063_separators_and_controls_inside_the_json() -> None:
    content = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    raw = b'data: {"type":"response.output_text.delta","delta":"' + content.encode() + b'"}\n\n'
    assert read(raw, end())[0] == TextDelta(content)


def test_b167_halves_of_characters_pass_and_pairs_are_joined() -> None:
    body = r'data: {"type":"response.output_text.delta","output_index":"0","delta":"\ud83c\udf78 %s"}' + "\n\n"
    assert read((body % r"\ud83d").encode(), end())[0] == TextDelta("🍸 \ud83d")
    assert read(b'data: {"type":"response.output_text.delta","delta":"\xff"}\n\n', end())[0] == TextDelta("\ufffd")
    lone = r'data: {"type":"response.output_text.delta","output_index":0,"delta":"%s"}' + "\n\n"
    halves = [(lone % half).encode() for half in (r"\ud83c", r"\udf78")]
    assert segments(*halves, end()) == [Text("assistant", "🍸")]


def test_b167_halves_in_whole_items_are_replaced() -> None:
    item = rb'{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"t\":\"\ud83c\"}"}'
    for spelled in (item, item.replace(rb"\ud83c", b"\xff")):
        assert segments(raw_done(spelled), end()) == [ToolCall("assistant", "f", '{"t":"\ufffd"}', "c1")]


def test_b167_half_a_character_changes_nothing_else_of_an_item() -> None:
    item = rb'{"type":"reasoning","encrypted_content":"\u0065==","new":[1e400, 1.0],"summary":[],"odd":"\ud83c"}'
    sent_back = bytes(replayed(raw_done(item), text("x", 1), end())[0])
    assert rb'"encrypted_content":"\u0065==","new":[1e400, 1.0]' in sent_back
    assert rb'"odd":"\ufffd"' in sent_back


def test_a_whole_answer_of_an_endpoint_that_does_not_stream() -> None:
    output = [{**SEALED, "summary": thoughts("Hm.")}, message(part("Hi")), call("f", "{}"), {"type": "other"}]
    whole = event({"object": "response", "status": "completed", "error": None, "output": output, "usage": COUNTS})
    assert [getattr(one, "thinking", None) or getattr(one, "text", None) or one for one in segments(whole)] == [
        "Hm.",
        "Hi",
        ToolCall("assistant", "f", "{}", "c1"),
    ]
    assert outcome(whole).usage == TokenCounts.of(cache_read=4, cache_write=6, output=5)
    assert outcome(event({"output": output})) == Outcome("completed")
    assert outcome(event({"output": output, "status": "in_progress"})).error_code == "malformed"
    details = {"reason": "max_output_tokens"}
    cut_off = event({"output": output, "status": "incomplete", "incomplete_details": details})
    assert [one.stop_reason for one in segments(cut_off)] == ["completed", "completed", "fatal"]


def test_an_answer_of_which_nothing_streamed_is_in_its_last_event() -> None:
    assert segments(end(output=[message(part("Hi"))])) == [Text("assistant", "Hi")]
    assert segments(text("Hi", 1), end(output=[message(part("Hi"))])) == [Text("assistant", "Hi")]


def test_call_arguments_without_fidelity_have_none() -> None:
    item = read(added(0, **call("f")))[0]
    assert isinstance(item, CallDelta)
    assert item.fidelity is UNSET


numbers = st.sampled_from([b"1.0", b"1e400", b"-0", b"1E5", b"0.10", b"123456789012345678901234567890"])
letters = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
strings = st.one_of(
    letters.map(lambda one: json.dumps(one, ensure_ascii=False).encode()),
    letters.map(lambda one: json.dumps(one).encode()),
    st.sampled_from([b'"\\u00e9\\/\\u003d"', b'"\\ud83d\\udc27"', b'"a\\u2028b"', b'"\xe2\x80\xa8"']),
)
values = st.recursive(
    numbers | strings | st.sampled_from([b"true", b"false", b"null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: b"[%b]" % b", ".join(items))
        | st.lists(st.tuples(strings, inner), max_size=3).map(
            lambda members: b"{%b}" % b" ,".join(b"%b : %b" % member for member in members)
        )
    ),
    max_leaves=8,
)
DUPLICATES = b'{"a":1.0,"a":1e400, "b":[ {} , {"a":null,"a":null} ]}'
DEEP = b"[" * 100 + b"1.0" + b"]" * 100


@given(values)
@example(DUPLICATES)
@example(DEEP)
def test_b032_opaque_values_go_back_byte_for_byte(value: bytes) -> None:
    """From the wire through segments into the next body; in reasoning, in a message and in a call."""
    held = b'{"mark":%b}' % value
    reasoning = b'{"id":"rs_1","encrypted_content":"e\\u003d","new":%b,"type":"reasoning","summary":[]}' % held
    spoken = b'{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}],"new":%b}' % held
    called = b'{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","new":%b}' % held
    first, second, third = replayed(raw_done(reasoning, 0), raw_done(spoken, 1), raw_done(called, 2), end())
    assert b'"encrypted_content":"e\\u003d","new":%b' % held in bytes(first)
    assert b'"new":%b' % held in bytes(second)
    assert b'"new":%b' % held in bytes(third)


@given(strings)
def test_b032_encrypted_content_goes_back_byte_for_byte(value: bytes) -> None:
    item = b'{"type":"reasoning","id":"rs_1","encrypted_content":%b,"summary":[{"type":"summary_text","text":%b}]}'
    items = replayed(raw_done(item % (value, value)), text("x", 1), end())
    if value == b'""':
        assert len(items) == 1
    else:
        assert bytes(items[0]).count(value) >= 2


BODY = b"".join([
    added(0, type="reasoning", id="rs_1", summary=[]),
    summary("漢字"),
    done(0, **{**SEALED, "summary": thoughts("漢字")}),
    event({"type": "ping"}),
    added(1, **message(phase="commentary")),
    text("🐧é", 1),
    done(1, **message(part("🐧é"), phase="commentary")),
    added(2, **call("f")),
    arguments('{"é":', 2),
    arguments('"🐧"}', 2),
    done(2, **call("f", '{"é":"🐧"}')),
    end(usage=COUNTS),
])  # fmt: skip


@given(st.lists(st.integers(0, len(BODY)), max_size=20))
def test_b062_and_b066_the_same_deltas_whatever_the_chunking(places: list[int]) -> None:
    borders = [0, *sorted(places), len(BODY)]
    chunks = [BODY[start:stop] for start, stop in pairwise(borders)]
    assert read(*filter(None, chunks)) == read(BODY)


def test_b062_one_byte_at_a_time() -> None:
    assert read(*(BODY[place : place + 1] for place in range(len(BODY)))) == read(BODY)


WORDS = (
    "type delta output_index item_id summary_index content_index item response output error id status call_id name "
    "arguments content summary text refusal usage input_tokens input_tokens_details incomplete_details reason message "
    "function_call reasoning completed response.completed response.failed response.output_item.added "
    "response.output_item.done response.output_text.delta response.function_call_arguments.delta "
    "response.reasoning_text.delta response.reasoning_summary_text.delta"
)
KEYS = st.sampled_from(WORDS.split(" "))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values | st.fixed_dictionaries({"type": KEYS}, optional={"item": json_values}), max_size=5))
def test_any_json_gives_deltas_or_a_failure_but_no_exception(given_values: list[object]) -> None:
    items = read(*map(event, given_values))
    assert [isinstance(item, Outcome) for item in items] == [False] * (len(items) - 1) + [True]


events = st.fixed_dictionaries(
    {"type": KEYS},
    optional={
        "output_index": st.integers(0, 2) | st.none(),
        "item_id": st.sampled_from(["a", "b", None]),
        "summary_index": st.integers(0, 1),
        "delta": st.sampled_from(["", "x", "{}"]),
        "item": st.fixed_dictionaries(
            {"type": KEYS},
            optional={"id": st.sampled_from(["a", "b"]), "status": KEYS, "arguments": json_values, "name": KEYS},
        ),
        "response": json_values,
    },
)


@given(st.lists(events, max_size=8))
def test_any_events_give_deltas_or_a_failure_but_no_exception(given_events: list[object]) -> None:
    assert isinstance(read(*map(event, given_events))[-1], Outcome)
