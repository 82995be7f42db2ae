from __future__ import annotations

import base64
import copy
from collections.abc import Sequence
from typing import Any

import pytest

from tests.double.gemini.build import call, limit, malformed, refusal, text, thinking, turn
from tests.double.gemini.conversation import asked, output, request, said, user
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.protocol import PROTOCOL
from tests.double.gemini.said import raw_parts
from tests.double.protocol import Answer, Asked
from tests.double.script import Event, Turn
from tests.double.steps import MODEL, Json


def asking(*contents: Json, model: str = MODEL, **extra: object) -> Asked:
    return asked(request(*contents, **extra), model=model)


def played(one: Turn, question: Asked, *, whole: bool = True) -> Answer:
    """The answer as the double sends it."""
    answer = Answer(question, MODEL, 0)
    for step in one.steps:
        assert isinstance(step, Event)
        answer.sent.append(PROTOCOL.render(step, answer)[0])
    answer.whole = whole
    return answer


def parts_of(answer: Answer) -> list[Json]:
    """The parts as they were sent, those left out that show nothing."""
    parts: list[Json] = copy.deepcopy([part for event in answer.sent for part in raw_parts(event)])
    return [part for part in parts if part.get("text") != "" or "thoughtSignature" in part]


def codes(question: Asked, past: Sequence[Answer] = (), endpoint: GeminiEndpoint | None = None) -> list[object]:
    return [refusal.code for refusal in PROTOCOL.check(question, endpoint or GeminiEndpoint(), past)]


STEP = turn(thinking("Hm."), text("I look."), call("read_file", {"path": "a"}), call("read_file", id="call_2"))
FIRST = user("Look")
RESULTS = output("call_1", "call_2")


def test_the_first_call_of_an_answer_is_signed_and_no_other_part() -> None:
    parts = parts_of(played(STEP, asking(FIRST)))
    assert ["thoughtSignature" in part for part in parts] == [False, False, True, False]
    assert codes(asking(FIRST, said(*parts), RESULTS)) == []


def test_an_answer_without_calls_is_signed_at_its_end_in_a_part_without_text() -> None:
    answer = played(turn(text("Hello there", parts=3)), asking(FIRST))
    *texts, last = parts_of(answer)
    assert (last["text"], "".join(part["text"] for part in texts)) == ("", "Hello there")
    assert codes(asking(FIRST, said("Hello there", last), user("And?")), [answer]) == []
    assert codes(asking(FIRST, said(*texts, last), user("And?")), [answer]) == []
    assert codes(asking(FIRST, *map(said, [*texts, last]), user("And?")), [answer]) == []


def test_a_signature_may_come_back_in_the_other_alphabet_of_base64() -> None:
    parts = parts_of(played(STEP, asking(FIRST)))
    signature = base64.b64decode(parts[2]["thoughtSignature"])
    parts[2]["thoughtSignature"] = base64.urlsafe_b64encode(signature).decode().rstrip("=")
    assert codes(asking(FIRST, said(*parts), RESULTS)) == []


def changed(parts: list[Json]) -> dict[str, list[Json]]:
    """The parts of an answer, changed in ways that each leave a signature where it does not belong."""
    thought, words, first, second = parts
    signature = {"thoughtSignature": first["thoughtSignature"]}
    bare = {"functionCall": first["functionCall"]}
    other = {"functionCall": {**first["functionCall"], "args": {"path": "b"}}}
    flipped = {"thoughtSignature": f"{signature['thoughtSignature'][:-3]}AA="}
    return {
        "another call": [thought, words, {**other, **signature}, second],
        "moved to the second call": [thought, words, {**bare, "thoughtSignature": "skip_thought_signature_validator"},
                                     {**second, **signature}],
        "moved to the text": [thought, {**words, **signature}, first, second],
        "another thought before it": [{**thought, "text": "Hmm."}, words, first, second],
        "no thought before it": [words, first, second],
        "another text before it": [thought, {"text": "I looked."}, first, second],
        "another byte": [thought, words, {**bare, **flipped}, second],
        "cut": [thought, words, {**bare, "thoughtSignature": signature["thoughtSignature"][:20]}, second],
    }  # fmt: skip


@pytest.mark.parametrize("name", changed([{"functionCall": {}, "thoughtSignature": ""}] * 4))
def test_a_signature_that_does_not_belong_to_its_part_is_refused(name: str) -> None:
    answer = played(STEP, asking(FIRST))
    question = asking(FIRST, said(*changed(parts_of(answer))[name]), RESULTS)
    found = PROTOCOL.check(question, GeminiEndpoint(), ())
    assert found
    assert {refusal.message for refusal in found} <= {"Corrupted thought signature.", "Invalid thought signature."}


def test_a_signature_of_another_conversation_or_model_is_refused() -> None:
    parts = parts_of(played(STEP, asking(FIRST)))
    elsewhere = asking(user("Look."), said(*parts), RESULTS)
    assert codes(elsewhere) == ["signature_of_conversation"]
    assert codes(elsewhere, endpoint=GeminiEndpoint(expect_prefix=False)) == []
    switched = asking(FIRST, said(*parts), RESULTS, model="other")
    assert codes(switched) == ["signature_of_model"]
    assert codes(switched, endpoint=GeminiEndpoint(expect_prefix=False)) == ["signature_of_model"]


def test_the_way_json_is_written_does_not_matter_to_a_signed_call() -> None:
    answer = played(turn(call("read_file", '{"b": 1.0, "a": [2]}')), asking(FIRST))
    [part] = parts_of(answer)
    part["functionCall"]["args"] = {"a": [2.0], "b": 1}
    assert codes(asking(FIRST, said(part), output("call_1")), [answer]) == []


def test_a_later_step_keeps_the_signatures_of_the_earlier_ones() -> None:
    first = played(STEP, asking(FIRST))
    so_far = [FIRST, said(*parts_of(first)), RESULTS]
    second = played(turn(call("read_file", id="call_3")), asking(*so_far))
    whole = [*so_far, said(*parts_of(second)), output("call_3")]
    assert codes(asking(*whole), [first, second]) == []
    [lost] = parts_of(second)
    del lost["thoughtSignature"]
    assert codes(asking(*so_far, said(lost), output("call_3"))) == ["signature_missing"]
    after = [said(lost), output("call_3"), said("Done."), user("Thanks")]
    assert codes(asking(*so_far, *after)) == []
    assert codes(asking(*so_far, *after), [first, second]) == ["answer_changed"]


def lacking(parts: list[Json]) -> dict[str, list[Json]]:
    thought, words, first, second = parts
    placeholder = {"functionCall": first["functionCall"], "thoughtSignature": "skip_thought_signature_validator"}
    return {
        "thought": [words, placeholder, second],
        "text": [thought, placeholder, second],
        "call": [thought, words, placeholder],
        "order": [words, thought, placeholder, second],
        "signature": [thought, words, placeholder, second],
        "changed text": [thought, {"text": "I look"}, placeholder, second],
    }


@pytest.mark.parametrize("name", lacking([{"functionCall": {}}] * 4))
def test_what_an_answer_said_must_come_back(name: str) -> None:
    answer = played(STEP, asking(FIRST))
    parts = lacking(parts_of(answer))[name]
    results = RESULTS if len([part for part in parts if "functionCall" in part]) == 2 else output("call_1")
    question = asking(FIRST, said(*parts), results)
    assert codes(question, [answer]) == ["answer_changed"]
    assert codes(question, [answer], GeminiEndpoint(expect_replay=False)) == []


def test_an_answer_that_is_missing_is_missed() -> None:
    answer = played(turn(text("Hi")), asking(FIRST))
    assert codes(asking(FIRST, user("And?")), [answer]) == ["answer_changed"]
    assert codes(asking(FIRST), [answer]) == ["answer_changed"]


UNFINISHED: list[tuple[Turn, bool]] = [
    (turn(text("Hal")), False),
    (turn(text("Hal"), limit()), True),
    (turn(refusal("No")), True),
    (turn(malformed()), True),
    (turn(thinking("Hm.")), True),
    (turn(text(" \n")), True),
]


@pytest.mark.parametrize(("one", "whole"), UNFINISHED, ids=str)
def test_what_an_answer_did_not_complete_need_not_come_back(one: Turn, whole: bool) -> None:
    answer = played(one, asking(FIRST), whole=whole)
    assert codes(asking(FIRST, user("And?")), [answer]) == []


def test_what_stood_before_the_cut_text_must_come_back() -> None:
    answer = played(turn(call("read_file"), text("Hal"), limit()), asking(FIRST))
    parts = parts_of(answer)
    assert codes(asking(FIRST, said(parts[0]), output("call_1")), [answer]) == []
    assert codes(asking(FIRST, said(*parts), output("call_1")), [answer]) == []
    assert codes(asking(FIRST, user("And?")), [answer]) == ["answer_changed"]


def test_where_the_prefix_may_change_answers_come_back_in_their_order() -> None:
    free = GeminiEndpoint(expect_prefix=False)
    one, two = (played(turn(text(words)), asking(FIRST)) for words in ("One", "Two"))
    first, second = (said(words, parts_of(answer)[-1]) for words, answer in (("One", one), ("Two", two)))
    question = [user("Before"), first, user("So"), second, user("And?")]
    assert codes(asking(*question), [one, two], free) == []
    question[1], question[3] = second, first
    assert codes(asking(*question), [one, two], free) == ["answer_changed"]


PREFIXES: list[tuple[Asked, list[object]]] = [
    (asking(FIRST, user("And?")), []),
    (asking(user("Look "), user("And?")), ["prefix_changed"]),
    (asking(user({"text": "Look", "thought": False})), ["prefix_changed"]),
    (asking(FIRST, systemInstruction={"parts": [{"text": "Be long."}]}), ["prefix_changed"]),
    (asking(FIRST, tools=[{"functionDeclarations": [{"name": "f", "description": "F."}]}]), ["tools_changed"]),
]


@pytest.mark.parametrize(("question", "expected"), PREFIXES, ids=str)
def test_a_context_goes_on_with_the_same_bytes(question: Asked, expected: list[object]) -> None:
    before = Answer(asking(FIRST), MODEL, 0)
    assert codes(question, [before]) == expected
    assert codes(question, [before], GeminiEndpoint(expect_prefix=False, same_tools=False)) == []


def test_a_shorter_conversation_is_no_continuation() -> None:
    before = Answer(asking(FIRST, user("And?")), MODEL, 0)
    assert codes(asking(FIRST), [before]) == ["prefix_changed"]


def test_a_script_may_leave_signatures_out_or_set_them() -> None:
    unsigned = played(turn(call("read_file", signed=False), call("read_file", signed=True)), asking(FIRST))
    assert ["thoughtSignature" in part for part in parts_of(unsigned)] == [False, True]
    own: dict[str, Any] = {"text": "Hi", "thoughtSignature": "QUJD"}
    event = Event({"candidates": [{"content": {"parts": [own]}}]})
    assert raw_parts(PROTOCOL.render(event, unsigned)[0]) == [own]
