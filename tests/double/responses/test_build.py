from __future__ import annotations

import json
from typing import Any

from tests.double.protocol import Answer
from tests.double.responses.build import (
    bare,
    call,
    chunk,
    counts,
    error,
    failed,
    fails,
    filtered,
    finish,
    heartbeats,
    hidden_thinking,
    limit,
    open_thinking,
    refusal,
    reply,
    text,
    thinking,
    turn,
)
from tests.double.responses.conversation import answered, brought_back, request, user
from tests.double.responses.protocol import PROTOCOL
from tests.double.script import Cut, Delivery, Event, Reply
from tests.double.steps import Json, cut, gate


def sent(*pieces: Any, **extra: Any) -> Answer:
    return answered(turn(*pieces), request(**extra))


def types(answer: Answer) -> list[str]:
    return [str(event["type"]).removeprefix("response.") for event in answer.sent]


def last(answer: Answer) -> Json:
    return answer.sent[-1]["response"]


def test_items_and_parts_are_opened_and_closed_around_what_is_said() -> None:
    answer = sent(thinking("Hm.", parts=2), text("I look."), call("read_file", {"path": "a"}, parts=2))
    assert types(answer) == [
        "created", "in_progress",
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.delta",
        "function_call_arguments.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    assert [event["sequence_number"] for event in answer.sent] == list(range(21))
    assert [event.get("output_index") for event in answer.sent[2:-1]] == [0] * 7 + [1] * 6 + [2] * 5
    names = [PROTOCOL.render(step, answer)[1] for step in turn(text("Hi")).steps if isinstance(step, Event)]
    assert names[:3] == ["response.created", "response.in_progress", "response.output_item.added"]


def test_every_event_names_its_item() -> None:
    answer = sent(thinking("Hm."), text("Hi"), call("f"))
    ids = [event["item"]["id"] for event in answer.sent if event["type"] == "response.output_item.added"]
    assert [item_id.partition("_")[0] for item_id in ids] == ["rs", "msg", "fc"]
    for event in answer.sent[2:-1]:
        item_id = event["item_id"] if "item_id" in event else event["item"]["id"]
        assert item_id == ids[event["output_index"]]


def test_the_end_brings_the_whole_response() -> None:
    answer = answered(
        turn(text("Hi"), call("f", '{"a":1}'), tokens=counts(7, 3, cached=2, reasoning=1)),
        request(metadata={"a": "b"}, reasoning={"effort": "low"}),
    )
    whole = last(answer)
    assert (whole["status"], whole["error"], whole["incomplete_details"]) == ("completed", None, None)
    assert [item["type"] for item in whole["output"]] == ["message", "function_call"]
    assert whole["output"] == brought_back(answer)
    assert whole["output"][0]["content"] == [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}]
    assert whole["output"][1]["arguments"] == '{"a":1}'
    assert whole["usage"] == {
        "input_tokens": 7, "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 0},
        "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 10,
    }  # fmt: skip
    assert (whole["store"], whole["metadata"]) == (False, {"a": "b"})
    assert whole["reasoning"] == {"effort": "low", "summary": None}
    assert answer.sent[0]["response"]["output"] == []
    assert answer.sent[0]["response"]["status"] == "in_progress"


def test_the_limit_closes_what_is_open_as_incomplete() -> None:
    answer = sent(text("Half a sen"), limit(counts(5, 16)))
    assert types(answer)[-4:] == ["output_text.done", "content_part.done", "output_item.done", "incomplete"]
    assert answer.sent[-2]["item"]["status"] == "incomplete"
    assert (last(answer)["status"], last(answer)["usage"]["output_tokens"]) == ("incomplete", 16)
    assert last(answer)["incomplete_details"] == {"reason": "max_output_tokens"}
    answer = sent(text("Whole."), call("f", '{"a":'), limit())
    assert [item["status"] for item in last(answer)["output"]] == ["completed", "incomplete"]
    answer = sent(thinking("Half a thou"), limit())
    assert answer.sent[-3]["status"] == "incomplete"
    assert last(sent(text("Half"), filtered()))["incomplete_details"] == {"reason": "content_filter"}


def test_an_error_is_the_last_that_is_said() -> None:
    answer = sent(text("Half"), error("Overloaded", code="overloaded"))
    assert types(answer)[-2:] == ["output_text.delta", "error"]
    assert answer.sent[-1] == {
        "type": "error", "sequence_number": 5, "code": "overloaded", "message": "Overloaded", "param": None
    }  # fmt: skip
    answer = sent(text("Half"), failed("Slow down", code="rate_limit_exceeded"))
    assert types(answer)[-2:] == ["output_text.delta", "failed"]
    assert last(answer)["error"] == {"code": "rate_limit_exceeded", "message": "Slow down"}
    assert last(answer)["status"] == "failed"


def test_a_cut_answer_has_open_items() -> None:
    steps = turn(gate(), text("half"), cut(), text("never")).steps
    before = [step.data["type"] for step in steps[: steps.index(Cut("close"))] if isinstance(step, Event)]
    assert before[-3:] == ["response.output_item.added", "response.content_part.added", "response.output_text.delta"]


def test_pieces_of_one_kind_are_one_item() -> None:
    answer = sent(thinking("a"), thinking("b"), text("c"), gate(), text("d"), refusal("e"))
    assert [item["type"] for item in brought_back(answer)] == ["reasoning", "message"]
    thought, message = brought_back(answer)
    assert thought["summary"] == [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    assert [part.get("text", part.get("refusal")) for part in message["content"]] == ["cd", "e"]
    indices = [event["content_index"] for event in answer.sent if event["type"] == "response.refusal.delta"]
    assert indices == [1]


def test_reasoning_can_be_hidden_or_open() -> None:
    first, second = brought_back(sent(hidden_thinking(), hidden_thinking()))
    assert first["summary"] == second["summary"] == []
    assert len({first["encrypted_content"], second["encrypted_content"]}) == 2
    answer = sent(open_thinking("Let me see", parts=2), text("Hi"))
    assert types(answer)[2:9] == [
        "output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.delta",
        "reasoning_text.done", "content_part.done", "output_item.done",
    ]  # fmt: skip
    assert brought_back(answer)[0]["content"] == [{"type": "reasoning_text", "text": "Let me see"}]
    assert "encrypted_content" not in brought_back(answer)[0]


def test_a_message_before_a_call_is_commentary() -> None:
    answer = sent(text("a"), call("f"), text("b"), call("g", id="call_2"), text("c"))
    assert [item.get("phase") for item in brought_back(answer)] == [
        "commentary", None, "commentary", None, "final_answer"
    ]  # fmt: skip
    chosen = brought_back(sent(text("a", phase="final_answer"), text("b", phase=""), call("f")))
    assert [item.get("phase") for item in chosen] == ["final_answer", None, None]
    assert "phase" not in chosen[1]


def test_encrypted_content_is_sent_only_if_asked_for_and_whole_only_at_the_end() -> None:
    answer = sent(thinking("Hm."))
    added, done = (event["item"] for event in answer.sent if "item" in event)
    assert added["encrypted_content"] != done["encrypted_content"]
    assert done["encrypted_content"].startswith("gAAAA")
    assert all("encrypted_content" not in item for item in brought_back(sent(thinking("Hm."), include=[])))


def test_deltas_are_padded_unless_the_request_forbids_it() -> None:
    deltas = [event for event in sent(text("abc", parts=3)).sent if event["type"].endswith(".delta")]
    assert all(event["obfuscation"] for event in deltas)
    assert all(event["logprobs"] == [] for event in deltas)
    plain = sent(text("a"), stream_options={"include_obfuscation": False})
    assert not any("obfuscation" in event for event in plain.sent)


def test_heartbeats_are_no_part_of_the_answer() -> None:
    answer = sent(heartbeats(), text("a"), heartbeats(), text("b"))
    assert [item["content"][0]["text"] for item in brought_back(answer)] == ["ab"]
    assert {"type": "ping"} in answer.sent
    assert {} in answer.sent
    numbers = [event["sequence_number"] for event in answer.sent if "sequence_number" in event]
    assert numbers == list(range(len(numbers)))


def test_a_script_has_the_last_word_on_an_event() -> None:
    answer = answered(
        bare(
            text("a"),
            chunk("output_item.added", item={"type": "message", "id": "msg_own"}, output_index=4),
            chunk("output_text.delta", delta="b", output_index=4, sequence_number=70),
            chunk("output_item.done", item={"type": "reasoning", "encrypted_content": "own", "summary": []}),
            finish(output=[]),
        ),
        request(),
    )
    stray, added, delta, done, end = answer.sent
    assert (stray["item_id"].partition("_")[0], stray["output_index"]) == ("msg", 0)
    assert (added["output_index"], delta["item_id"], delta["sequence_number"]) == (4, "msg_own", 70)
    assert done["item"]["encrypted_content"] == "own"
    assert end["response"]["output"] == []


def test_an_http_error_has_the_vendors_body() -> None:
    failure = fails(429, "Slow down", code="rate_limit_exceeded", kind="requests", headers={"Retry-After": "3"}).reply
    assert failure is not None
    assert failure.headers == {"x-request-id": "req_double", "Retry-After": "3"}
    assert json.loads(failure.body) == {
        "error": {"message": "Slow down", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
    }
    assert fails(500, body=b"<html>").reply == Reply(500, b"<html>", {"x-request-id": "req_double"})


def test_a_delivery_keeps_its_headers() -> None:
    assert turn(text("a"), delivery=Delivery(headers={"a": "b"})).delivery.headers == {
        "x-request-id": "req_double", "a": "b"
    }  # fmt: skip
    assert [item["type"] for item in brought_back(answered(reply("Hi"), request(user())))] == ["message"]
