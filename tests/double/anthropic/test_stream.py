from __future__ import annotations

import json
from typing import Any

import pytest

from tests.double.anthropic.build import (
    MODEL,
    bare,
    block,
    call,
    counts,
    error,
    event,
    fails,
    finish,
    heartbeats,
    limit,
    redacted,
    refusal,
    reply,
    start,
    text,
    thinking,
    turn,
)
from tests.double.anthropic.conversation import Json, answer, asked, request
from tests.double.anthropic.protocol import PROTOCOL
from tests.double.script import Event, Turn


def sent(said: Turn) -> list[dict[str, Any]]:
    return answer(request(), said, number=7).sent


def kinds(said: Turn) -> list[str]:
    return [str(data.get("type")) for data in sent(said)]


def test_a_regular_answer_has_the_vendors_events() -> None:
    tokens = counts(100, 20, cached=60, written=30, reasoning=5)
    events = sent(turn(text("Hello", parts=2), call("read_file", {"a": 1}, parts=2), tokens=tokens))
    assert events[0] == {
        "type": "message_start",
        "message": {
            "id": "msg_01Double000000000007",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 30,
                "cache_read_input_tokens": 60,
                "output_tokens": 1,
                "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
            },
        },
    }
    head = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {}, "caller": {"type": "direct"}}
    assert events[1:] == [
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": head},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None, "stop_details": None},
            "usage": tokens,
        },
        {"type": "message_stop"},
    ]


def test_every_event_is_named_by_its_type_unless_it_is_bare() -> None:
    given = answer(request(), turn())
    assert PROTOCOL.render(Event({"type": "ping"}), given) == ({"type": "ping"}, "ping")
    assert PROTOCOL.render(Event({"type": "ping"}, bare=True), given) == ({"type": "ping"}, "")
    assert PROTOCOL.render(Event({}, bare=True, name="x"), given) == ({}, "x")


def test_thinking_ends_with_its_signature() -> None:
    _, _, head, *deltas, signed, end, _, _ = sent(turn(thinking("Hm, so.", parts=2)))
    assert head["content_block"] == {"type": "thinking", "thinking": "", "signature": ""}
    assert [delta["delta"]["thinking"] for delta in deltas] == ["Hm, ", "so."]
    assert signed["delta"]["type"] == "signature_delta"
    assert len(signed["delta"]["signature"]) == 88
    assert end == {"type": "content_block_stop", "index": 0}
    omitted = sent(turn(thinking("")))
    assert [data.get("delta", {}).get("type") for data in omitted[3:5]] == ["signature_delta", None]


def test_what_is_redacted_is_one_sealed_block() -> None:
    _, _, head, end, _, _ = sent(turn(redacted("secret")))
    assert "secret" not in head["content_block"]["data"]
    assert (head["index"], end) == (0, {"type": "content_block_stop", "index": 0})


@pytest.mark.parametrize(
    ("said", "delta"),
    [
        (reply("Hi"), {"stop_reason": "end_turn"}),
        (turn(text("Hi"), finish("stop_sequence", sequence="END")), {"stop_reason": "stop_sequence",
                                                                     "stop_sequence": "END"}),
        (turn(call("f", '{"a', id="a"), limit()), {"stop_reason": "max_tokens"}),
        (turn(text("I"), refusal("No.")), {"stop_reason": "refusal", "stop_details": {
            "type": "refusal", "category": None, "explanation": "No."}}),
    ],
    ids=["end_turn", "stop_sequence", "max_tokens", "refusal"],
)  # fmt: skip
def test_an_answer_says_why_it_stops(said: Turn, delta: Json) -> None:
    *_, ending, last = sent(said)
    assert ending["delta"] == {"stop_sequence": None, "stop_details": None} | delta
    assert ending["usage"] == counts()
    assert last == {"type": "message_stop"}


def test_the_limit_may_say_its_own_tokens() -> None:
    assert sent(turn(text("Hi"), limit(counts(5, 6))))[-2]["usage"] == counts(5, 6)


def test_an_error_ends_the_stream() -> None:
    assert kinds(turn(text("Half"), error())) == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "error",
    ]
    assert sent(turn(error("Slow down", code="rate_limit_error")))[-1] == {
        "type": "error",
        "error": {"details": None, "type": "rate_limit_error", "message": "Slow down"},
        "request_id": "req_011CDouble000000000007",
    }


def test_pieces_are_sent_as_written() -> None:
    odd = block({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, index=5)
    assert sent(bare(start(), odd, event({"type": "new_event"})))[1:] == [
        {"type": "content_block_start", "index": 5, "content_block": odd_head()},
        {"type": "content_block_stop", "index": 5},
        {"type": "new_event"},
    ]


def odd_head() -> Json:
    return {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def test_heartbeats_say_nothing() -> None:
    said = turn(heartbeats(), text("Hi"), heartbeats())
    assert set(kinds(said)) - set(kinds(reply("Hi"))) == {"keepalive", "None"}


def test_a_failure_has_the_vendors_body() -> None:
    failed = fails(529, "Overloaded", headers={"Retry-After": "3"}).reply
    assert failed is not None
    body = json.loads(failed.body)
    assert body["error"] == {"type": "overloaded_error", "message": "Overloaded"}
    assert failed.headers == {"request-id": body["request_id"], "Retry-After": "3"}
    coded = fails(400, "No", code="image_dimensions_too_large", kind="custom_error").reply
    assert coded is not None
    assert json.loads(coded.body)["error"] == {
        "type": "custom_error", "message": "No", "details": {"error_code": "image_dimensions_too_large"}
    }  # fmt: skip
    page = fails(502, body=b"<html>").reply
    assert page is not None
    assert (page.status, page.body) == (502, b"<html>")


def test_the_list_of_models_is_the_vendors() -> None:
    question = asked(b"")
    listed = PROTOCOL.models(type(question)("GET", "/v1/models?limit=5", question.headers, b""), ["a", "b"])
    assert listed is not None
    body = json.loads(listed.body)
    assert [(one["id"], one["type"]) for one in body["data"]] == [("a", "model"), ("b", "model")]
    assert (body["first_id"], body["last_id"], body["has_more"]) == ("a", "b", False)
    refused = PROTOCOL.models(type(question)("GET", "/v1/models", {}, b""), [])
    assert refused is not None
    assert refused.status == 401
    assert PROTOCOL.models(question, []) is None
    assert not PROTOCOL.streams(type(question)("POST", "/v1/messages/count_tokens", {}, b""))
