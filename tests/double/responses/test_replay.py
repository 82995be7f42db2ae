from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from tests.double.protocol import Answer
from tests.double.refusal import Refusal
from tests.double.responses.build import (
    call,
    failed,
    finish,
    hidden_thinking,
    limit,
    open_thinking,
    refusal,
    text,
    thinking,
    turn,
)
from tests.double.responses.conversation import (
    TOOL,
    answered,
    brought_back,
    output,
    refusals,
    request,
    user,
    without,
    written,
)
from tests.double.responses.endpoint import ResponsesEndpoint as Endpoint
from tests.double.steps import Json

FIRST = request(user("One"))
ROUND = (thinking("Hm."), text("I look."), call("read_file", {"path": "a"}))


def codes(body: Json | bytes, *past: Answer, endpoint: Endpoint | None = None) -> list[str | None]:
    return [refusal.code for refusal in refusals(body, *past, endpoint=endpoint)]


def going_on(*pieces: Any, first: Json = FIRST) -> tuple[Answer, list[Json]]:
    """An answer, and the items of the next request but for what the client adds."""
    answer = answered(turn(*pieces), first)
    return answer, [*first["input"], *deepcopy(brought_back(answer))]


def test_what_was_said_comes_back() -> None:
    answer, items = going_on(*ROUND)
    assert refusals(request(*items, output()), answer) == []
    nameless = [without(item, "id", "status") for item in items]
    assert refusals(request(*nameless, output()), answer) == []
    easy = [item | {"content": "I look."} if item.get("role") == "assistant" else item for item in nameless]
    assert refusals(request(*easy, output(), user("And?")), answer) == []


def test_a_second_round_brings_back_both() -> None:
    answer, items = going_on(*ROUND)
    second = request(*items, output())
    said = turn(hidden_thinking(), call("read_file", id="call_2"), hidden_thinking(), text("b"))
    other = answered(said, second, number=1)
    third = [*second["input"], *brought_back(other), output("call_2"), user("Thanks")]
    pairs = [*second["input"], *brought_back(other)[:2], output("call_2"), *brought_back(other)[2:], user("Thanks")]
    assert refusals(request(*third), answer, other) == []
    assert codes(request(*pairs), answer, other) == ["invalid_encrypted_content", "answer_moved", "answer_moved"]


PLACES = {"reasoning": 1, "message": 2, "call": 3}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_an_item_that_does_not_come_back_is_missed(place: int) -> None:
    answer, items = going_on(*ROUND)
    del items[place]
    items = [without(item, "id") for item in items]
    found = codes(request(*items, *([output()] if place != 3 else [])), answer)
    assert "answer_missing" in found


CHANGES: list[tuple[int, Json]] = [
    (2, {"content": [{"type": "output_text", "text": "I looked."}]}),
    (2, {"content": [{"type": "refusal", "refusal": "I look."}]}),
    (2, {"phase": "final_answer"}),
    (2, {"phase": None}),
    (3, {"arguments": '{"path":"a"}'}),
    (3, {"name": "other"}),
]


@pytest.mark.parametrize(("place", "change"), CHANGES, ids=str)
def test_an_item_that_comes_back_changed_is_refused(place: int, change: Json) -> None:
    answer, items = going_on(*ROUND)
    items[place] |= change
    [refusal] = refusals(request(*items, output()), answer)
    assert (refusal.code, refusal.param) == ("answer_changed", f"input[{place}]")


def test_a_call_keeps_its_id() -> None:
    answer, items = going_on(*ROUND)
    items[3]["call_id"] = "call_2"
    assert codes(request(*items, output("call_2")), answer) == ["answer_changed"]


def test_items_come_back_in_their_order() -> None:
    answer, items = going_on(text("I look."), call("read_file"))
    assert codes(request(items[0], items[2], items[1], output()), answer)[0] == "answer_moved"
    assert codes(request(*items, output(), user("So?")), answer) == []
    assert codes(request(items[0], user("Before"), *items[1:], output()), answer) == ["answer_moved", "answer_moved"]


EXEMPT: dict[str, tuple[Any, ...]] = {
    "cut by the limit": (*ROUND, limit()),
    "failed": (text("Half"), failed()),
    "reasoning alone": (thinking("Hm."),),
    "blank": (text(" \n"),),
    "nothing": (),
}


@pytest.mark.parametrize("pieces", EXEMPT.values(), ids=EXEMPT.keys())
def test_some_of_what_was_said_need_not_come_back(pieces: tuple[Any, ...]) -> None:
    answer, _ = going_on(*pieces)
    assert refusals(request(*FIRST["input"], user("Go on")), answer) == []


def test_half_an_answer_need_not_come_back() -> None:
    answer = answered(turn(*ROUND), FIRST, whole=False)
    assert refusals(request(*FIRST["input"], user("Go on")), answer) == []


def test_blank_messages_may_come_back_or_not() -> None:
    answer, items = going_on(thinking("Hm."), text(""), thinking("Then"), call("read_file"))
    assert refusals(request(*items, output()), answer) == []
    assert refusals(request(*items[:2], *items[3:], output()), answer) == []


def test_a_call_that_no_request_can_bring_back_is_mended() -> None:
    answer, items = going_on(call("read file", '{"a":'))
    items[1] |= {"name": "read_file", "arguments": "{}"}
    assert refusals(request(*items, output()), answer) == []
    answer, items = going_on(call("read_file", "[]"), hidden_thinking(), text("So."))
    items[1] |= {"arguments": "{}"}
    assert refusals(request(*items, output()), answer) == []
    items[1] |= {"name": "other"}
    assert "invalid_encrypted_content" in codes(request(*items, output()), answer)


def test_a_call_id_that_was_used_before_is_replaced() -> None:
    answer, items = going_on(call("read_file"))
    second = request(*items, output())
    other = answered(turn(call("read_file")), second, number=1)
    renamed = {**brought_back(other)[0], "call_id": "call_1_2"}
    assert refusals(request(*second["input"], renamed, output("call_1_2")), answer, other) == []


def reason(found: list[Refusal]) -> str:
    [text] = [refusal.message for refusal in found if refusal.code == "invalid_encrypted_content"]
    return text.partition("Reason: ")[2]


def test_reasoning_belongs_to_its_model() -> None:
    answer, items = going_on(*ROUND)
    found = refusals(request(*items, output(), model="other"))
    assert reason(found) == "Encrypted content model did not match the target model."
    assert reason(refusals(request(*items, output(), model="other"), endpoint=Endpoint(expect_prefix=False)))
    assert refusals(request(*items, output()), answer) == []


def test_reasoning_belongs_to_its_conversation() -> None:
    answer, items = going_on(*ROUND)
    moved = request(user("Another"), *items[1:], output())
    assert reason(refusals(moved)) == "Encrypted content prefix did not match the input."
    assert reason(refusals(request(*items, output(), instructions="Be long.")))
    assert reason(refusals(request(items[0], user("More"), *items[1:], output())))
    assert refusals(moved, answer, endpoint=Endpoint(expect_prefix=False)) == []


def test_reasoning_shows_what_it_showed() -> None:
    _, items = going_on(*ROUND)
    items[1]["summary"] = [{"type": "summary_text", "text": "Hm!"}]
    assert reason(refusals(request(*items, output()))) == "Encrypted content could not be decrypted or parsed."
    items[1] |= {"summary": [], "encrypted_content": items[1]["encrypted_content"][:-8]}
    assert reason(refusals(request(*items, output()), endpoint=Endpoint(expect_prefix=False)))
    del items[1]["id"]
    assert refusals(request(*items, output()))[0].message.startswith("The encrypted content gAAA... could not be")


def test_reasoning_of_one_answer_keeps_its_order() -> None:
    _, items = going_on(hidden_thinking(), text("a"), hidden_thinking(), text("b"))
    items = [without(item, "id") for item in items]
    swapped = [items[0], items[3], items[2], items[1], items[4]]
    assert codes(request(*swapped, user())) == ["invalid_encrypted_content"] * 2


def test_half_the_encrypted_content_is_none() -> None:
    answer, items = going_on(*ROUND)
    added = next(event["item"] for event in answer.sent if event["type"] == "response.output_item.added")
    items[1] |= {"encrypted_content": added["encrypted_content"]}
    assert reason(refusals(request(*items, output()), answer))


def test_reasoning_that_was_not_encrypted_cannot_come_back() -> None:
    first = request(user("One"), include=[])
    answer, items = going_on(*ROUND, first=first)
    [refusal] = refusals(request(*items, output()), answer)
    assert (refusal.status, refusal.message.partition(" not found.")[0]) == (404, f"Item with id '{items[1]['id']}'")
    without_it = [items[0], *(without(item, "id") for item in items[2:])]
    assert "answer_missing" in codes(request(*without_it, output()), answer)


def test_open_reasoning_comes_back_as_it_was() -> None:
    endpoint = Endpoint(open_reasoning=True)
    answer, items = going_on(open_thinking("Hm."), call("read_file"))
    assert refusals(request(*items, output()), answer, endpoint=endpoint) == []
    items[1]["content"] = [{"type": "reasoning_text", "text": "Ha."}]
    assert codes(request(*items, output()), answer, endpoint=endpoint) == ["answer_changed"]


def test_an_item_is_not_sent_without_the_reasoning_before_it() -> None:
    answer, items = going_on(thinking("Hm."), call("read_file"))
    [refusal] = refusals(request(items[0], items[2], output()), answer)
    assert refusal.message == (
        f"Item '{items[2]['id']}' of type 'function_call' was provided without its required 'reasoning' item:"
        f" '{items[1]['id']}'."
    )
    without_it = refusals(request(items[0], without(items[2], "id"), output()), answer)
    assert [refusal.code for refusal in without_it] == ["answer_missing"]


def test_the_request_goes_on_where_the_last_one_stopped() -> None:
    answer = answered(turn(), FIRST)
    assert codes(request(user("Two")), answer) == ["prefix_changed"]
    assert codes(request(user("One"), user("Two"), instructions="Be long."), answer) == ["instructions_changed"]
    assert codes(request(user("One"), user("Two"), tools=[]), answer) == ["tools_changed"]
    spaced = json.dumps(request(user("One"), user("Two")), separators=(",", ":")).encode()
    assert codes(spaced, answer) == ["prefix_bytes_changed", "tools_changed"]
    assert codes(request(user("One"), user("Two"), tools=[TOOL]), answer) == []
    longer = answered(turn(), request(user("One"), user("Two")))
    assert codes(request(user("One")), longer) == ["prefix_changed"]
    free = Endpoint(expect_prefix=False, same_tools=False)
    assert codes(request(user("Two"), tools=[], instructions="Be long."), answer, endpoint=free) == []


def test_a_cache_marker_is_no_part_of_the_conversation() -> None:
    marker = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    first = request(user([written('Say "prompt_cache_breakpoint": {}') | marker]))
    answer, items = going_on(thinking("Hm."), text("Hi"), first=first)
    items[0] = user([written('Say "prompt_cache_breakpoint": {}')])
    assert refusals(request(*items, user([marker | written("Two")])), answer) == []
    items[0] = user([written("Say prompt_cache_breakpoint")])
    assert "prefix_changed" in codes(request(*items, user("Two")), answer)


def test_what_was_said_need_not_come_back_where_nobody_demands_it() -> None:
    answer, items = going_on(*ROUND)
    endpoint = Endpoint(expect_replay=False)
    assert refusals(request(items[0], user("Go on")), answer, endpoint=endpoint) == []


def test_where_the_prefix_may_change_answers_still_come_back() -> None:
    answer, items = going_on(text("I look."), call("read_file"))
    endpoint = Endpoint(expect_prefix=False)
    assert refusals(request(user("New"), user("start"), *items[1:], output()), answer, endpoint=endpoint) == []
    assert codes(request(user("New"), items[1]), answer, endpoint=endpoint) == ["answer_missing"]


def test_a_server_that_keeps_items_takes_their_names() -> None:
    endpoint = Endpoint(stored=True)
    first = request(user("One"), store=True, include=[])
    answer, items = going_on(thinking("Hm."), refusal("No."), first=first)
    named = [items[0], *({"type": "item_reference", "id": item["id"]} for item in items[1:])]
    assert refusals(request(*named, user("Two"), store=True), answer, endpoint=endpoint) == []
    assert refusals(request(*items, user("Two"), store=True), answer, endpoint=endpoint) == []
    unknown = request(*items[:1], {"type": "item_reference", "id": "msg_2"}, store=True)
    assert refusals(unknown, answer, endpoint=endpoint)[0].status == 404
    forgotten, _ = going_on(refusal("No."), first=request(user("One")))
    assert refusals(request(*named[:1], named[2], store=True), forgotten, endpoint=endpoint)[0].status == 404


def test_what_came_in_events_counts_when_the_end_does_not_repeat_it() -> None:
    answer, items = going_on(text("Hi"), finish(output=[]))
    assert codes(request(items[0], user("Two")), answer) == ["answer_missing"]
