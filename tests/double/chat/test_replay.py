from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import structs

from tests.double.chat.build import Endpoint, delta, error, finish, refusal, text, thinking, turn
from tests.double.chat.build import call as calls
from tests.double.chat.conversation import Json, called, output, request, said, user
from tests.double.chat.protocol import PROTOCOL
from tests.double.chat.replay import check_replay
from tests.double.protocol import Answer, Asked
from tests.double.script import Event, Turn

OPEN = Endpoint(
    reasoning_fields=("reasoning", "reasoning_content"),
    assistant_keys=("reasoning_details",),
    call_keys=("extra_content",),
)
SIGNED = {"google": {"thought_signature": "c2ln"}}


def encoded(*messages: Json) -> bytes:
    return json.dumps(request(*messages)).encode()


def answered(one: Turn, *messages: Json, whole: bool = True) -> Answer:
    """The answer that these messages were given, as the double sends it."""
    answer = Answer(Asked("POST", "/v1/chat/completions", {}, encoded(*messages)), "test-model", 0)
    for step in one.steps:
        if isinstance(step, Event):
            answer.sent.append(PROTOCOL.render(step, answer)[0])
    answer.whole = whole
    return answer


def found(one: Turn, *messages: Json, endpoint: Endpoint = OPEN, whole: bool = True) -> list[tuple[Any, Any]]:
    """Why these messages do not go on behind the answer to their first one."""
    past = [answered(one, messages[0], whole=whole)]
    return [(refusal.code, refusal.param) for refusal in check_replay(encoded(*messages), past, endpoint)]


DETAILS = [
    {"type": "reasoning.text", "index": 0, "text": "I must "},
    {"type": "reasoning.text", "index": 0, "text": "look."},
    {"type": "reasoning.text", "index": 0, "text": "", "signature": "c2ln"},
    {"type": "reasoning.encrypted", "index": 1, "data": "YQ=="},
    {"type": "reasoning.encrypted", "index": 1, "data": "Yg=="},
]
JOINED = [{"type": "reasoning.text", "index": 0, "text": "I must look.", "signature": "c2ln"}, *DETAILS[3:]]
DETAILED = turn(*(delta({"reasoning_details": [detail]}) for detail in DETAILS), text("Here."))
SIGNED_CALL = delta({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"},
                                     "extra_content": SIGNED}]})  # fmt: skip
FULL = turn(thinking("Hm, hm.", parts=3), text("I look.", parts=2), calls("f", {"a": 1}, id="a", parts=4))
BACK = called("a", name="f", arguments='{"a": 1}', content="I look.", reasoning_content="Hm, hm.")

PASSES: list[tuple[Turn, list[Json]]] = [
    (turn(text("Hello", parts=3)), [said("Hello"), user()]),
    (turn(text("Hello")), [said([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]), user()]),
    (turn(refusal("No.", parts=2)), [said("No."), user()]),
    (turn(refusal("No.")), [said(None, refusal="No."), user()]),
    (turn(text(" \n"), calls("f", id="a")), [called("a", name="f"), output("a")]),
    (turn(thinking("Hm.")), [user()]),
    (FULL, [BACK, output("a")]),
    (turn(thinking("  "), text("Hello")), [said("Hello"), user()]),
    (turn(calls("f", '{"a": ', id="a")), [called("a", name="f"), output("a")]),
    (turn(calls("no name", id="a")), [called("a", name="no_name"), output("a")]),
    (DETAILED, [said("Here.", reasoning_details=DETAILS), user()]),
    (DETAILED, [said("Here.", reasoning_details=JOINED), user()]),
    (turn(SIGNED_CALL), [{**said(None), "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": SIGNED},
    ]}, output("a")]),
    (turn(text("half"), finish("length")), [user()]),
    (turn(text("half"), error("Overloaded")), [user()]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "messages"), PASSES, ids=str)
def test_what_a_whole_answer_said_comes_back(one: Turn, messages: list[Json]) -> None:
    assert found(one, user("Go"), *messages) == []


AT = "messages[2]"
LACKS: list[tuple[Turn, list[Json], str, str]] = [
    (turn(text("Hello")), [], "answer_missing", "messages"),
    (turn(text("Hello")), [user(), said("Hello"), user()], "answer_missing", "messages"),
    (turn(text("Hello")), [said("Hello."), user()], "answer_changed", f"{AT}.content"),
    (turn(text("Hello")), [said(None, reasoning="Hello"), user()], "answer_changed", f"{AT}.content"),
    (FULL, [{**BACK, "content": None}, output("a")], "answer_changed", f"{AT}.content"),
    (FULL, [{**BACK, "reasoning_content": "Hm"}, output("a")], "answer_changed", f"{AT}.reasoning_content"),
    (FULL, [{**BACK, "reasoning_content": ""}, output("a")], "answer_changed", f"{AT}.reasoning_content"),
    (FULL, [{**BACK, **called("a", name="g", arguments='{"a": 1}', content="I look.")}, output("a")],
     "answer_changed", f"{AT}.tool_calls[0].function.name"),
    (FULL, [{**BACK, **called("a", name="f", arguments='{"a":1}', content="I look.")}, output("a")],
     "answer_changed", f"{AT}.tool_calls[0].function.arguments"),
    (DETAILED, [said("Here."), user()], "answer_changed", f"{AT}.reasoning_details"),
    (DETAILED, [said("Here.", reasoning_details=JOINED[:2]), user()], "answer_changed", f"{AT}.reasoning_details"),
    (DETAILED, [said("Here.", reasoning_details=[*JOINED[1:], JOINED[0]]), user()], "answer_changed",
     f"{AT}.reasoning_details"),
    (turn(SIGNED_CALL), [called("a", name="f"), output("a")], "answer_changed", f"{AT}.tool_calls[0].extra_content"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "messages", "code", "param"), LACKS, ids=str)
def test_what_is_missing_or_changed_is_named(one: Turn, messages: list[Json], code: str, param: str) -> None:
    assert found(one, user("Go"), *messages) == [(code, param)]


def test_all_calls_come_back_in_their_order() -> None:
    two = turn(calls("f", id="a"), calls("g", id="b", index=1))
    swapped = called("b", "a", name="f")
    assert [param for _, param in found(two, user("Go"), swapped, output("b"), output("a"))] == [
        f"{AT}.tool_calls[1].function.name"
    ]
    assert len(found(two, user("Go"), called("a", name="f"), output("a"))) == 2


def test_an_answer_that_was_not_whole_may_stay_away() -> None:
    assert found(turn(text("Hello")), user("Go"), user("On"), whole=False) == []


def test_only_what_the_endpoint_takes_is_demanded() -> None:
    """And nothing at all where it demands nothing."""
    bare = called("a", name="f", arguments='{"a": 1}', content="I look.")
    assert found(FULL, user("Go"), bare, output("a"), endpoint=Endpoint()) == []
    assert found(FULL, user("Go"), user(), endpoint=Endpoint(expect_replay=False)) == []


def test_where_the_prefix_may_change_only_the_order_counts() -> None:
    past = [answered(turn(text(word)), user("Go")) for word in ("One", "Two")]
    anywhere = structs.replace(OPEN, expect_prefix=False)

    def missing(*words: str) -> list[Any]:
        return [refusal.code for refusal in check_replay(encoded(user("Other"), *map(said, words)), past, anywhere)]

    assert missing("Zero", "One", "Two", "Three") == []
    assert missing("Two", "One") == ["answer_missing"]
    assert missing("One") == ["answer_missing"]
    assert missing("One", "Too") == ["answer_changed"]
