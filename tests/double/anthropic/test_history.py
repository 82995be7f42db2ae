"""Signatures, the place of thinking, and what must come back of the answers before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.double.anthropic.build import call, error, finish, limit, redacted, refusal, reply, text, thinking, turn
from tests.double.anthropic.conversation import (
    BUDGET,
    TOOL,
    Json,
    answer,
    assistant,
    called,
    message,
    outputs,
    request,
    result,
    tool,
    use,
    user,
    words,
)
from tests.double.anthropic.endpoint import AnthropicEndpoint as Endpoint
from tests.double.anthropic.verdict import codes, texts

MOVED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)
ASKED = request(thinking=BUDGET)
SAID = answer(ASKED, turn(thinking("Hm."), redacted(), text("I look."), thinking("And so."), call("read_file", id="a")))
BACK = message(SAID)


def on(*messages: Json) -> Json:
    """The request that goes on behind an answer."""
    return request(user(), *messages, thinking=BUDGET)


def edited(place: int, **fields: object) -> Json:
    blocks = list(BACK["content"])
    blocks[place] = blocks[place] | fields
    return assistant(*blocks)


def test_what_was_said_comes_back_whole() -> None:
    assert texts(on(BACK, outputs("a")), past=[SAID]) == []
    blocks = BACK["content"]
    for place in range(1, len(blocks)):
        assert texts(on(assistant(*blocks[:place]), assistant(*blocks[place:]), outputs("a")), past=[SAID]) == []


FORGED: list[tuple[Json, str]] = [
    (edited(0, thinking="Hm!"), "messages.1.content.0: Invalid `signature` in `thinking` block"),
    (edited(0, signature="c2lnbmVk"), "messages.1.content.0: Invalid `signature` in `thinking` block"),
    (edited(0, signature="no base64"), "messages.1.content.0: Invalid `signature` in `thinking` block"),
    (edited(0, signature=""), "messages.1.content.0.thinking: each thinking block must contain thinking"),
    (edited(0, cache_control=None), "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    (edited(1, data="c2VhbGVk"), "messages.1.content.1: Invalid `data` in `redacted_thinking` block"),
    (edited(2, text="I looked."), f"messages.1.content.3: {MOVED}"),
    (assistant(*BACK["content"][1:]), f"messages.1.content.0: {MOVED}"),
    (assistant(*BACK["content"][:2], *BACK["content"][3:]), f"messages.1.content.2: {MOVED}"),
]


@pytest.mark.parametrize(("back", "expected"), FORGED, ids=[expected for _, expected in FORGED])
def test_thinking_comes_back_unmodified_and_at_its_place(back: Json, expected: str) -> None:
    assert texts(on(back, outputs("a")))[0] == expected


def test_a_signature_is_bound_to_the_model_and_to_the_conversation() -> None:
    other = request(user("Hi"), BACK, outputs("a"), thinking=BUDGET)
    assert codes(other) == ["moved", "moved", "moved"]
    assert codes(other, Endpoint(expect_prefix=False)) == []
    assert set(codes(on(BACK, outputs("a")) | {"model": "another"})) == {"invalid_signature"}
    later = on(BACK, outputs("a"), called("b"), outputs("b"))
    assert codes(later) == []
    later["messages"][0] = user("Hi")
    binding = "prefix binding does not match this request (prefix_binding_mismatch)"
    assert texts(later)[0] == f"messages.1.content.0: the thinking block's {binding}"


def test_markers_may_move_but_nothing_else() -> None:
    first = request(user([words("One", cache_control={"type": "ephemeral"})]), system=[words("Be brief.")])
    said = answer(first, turn(thinking("Hm."), text("Two")))
    moved = request(user([words("One")]), message(said), user([words("Three", cache_control={"type": "ephemeral"})]))
    moved["system"] = [words("Be brief.", cache_control=None)]
    assert texts(moved, past=[said]) == []
    moved["messages"][0] = user("One")
    assert codes(moved, past=[said]) == ["moved", "prefix_changed"]


ORDER: list[tuple[list[Json], str]] = [
    ([called("b"), outputs("b")],
     "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is "
     "enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
     "`tool_use` and `tool_result` blocks). "),
    ([assistant(words("I look."), use("b")), outputs("b")],
     "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."),
    ([called("b"), user([result("b"), words("Quick!")])],
     "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."),
    ([assistant(words("Well"), *BACK["content"]), outputs("a")],
     "messages.1.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` "
     "or `redacted_thinking`. Found `text`."),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), ORDER, ids=str)
def test_with_a_budget_thinking_comes_first(messages: list[Json], expected: str) -> None:
    assert texts(on(*messages))[0].startswith(expected)
    adaptive = on(*messages) | {"thinking": {"type": "adaptive"}}
    assert "Expected" not in "".join(texts(adaptive))


def test_only_the_loop_that_goes_on_must_begin_with_thinking() -> None:
    assert codes(on(called("b"), outputs("b"), user("So?"))) == ["thinking_missing"]
    assert codes(on(called("b"), outputs("b"), assistant(words("Done.")), user("So?"))) == []
    assert codes(on(BACK, outputs("a"), called("b"), outputs("b"))) == []


def test_thinking_is_not_the_last_that_is_said() -> None:
    [found] = texts(on(assistant(*BACK["content"][:1]), user("So?")))
    assert found == "messages.1.content.0: The final block in an assistant message cannot be `thinking`."


PLAIN = answer(request(), turn(text("I look."), call("read_file", {"path": "a", "n": 1}, id="a")))
GIVEN = message(PLAIN)["content"]
REPLAYS: list[tuple[list[Json], list[str | None]]] = [
    ([assistant(*GIVEN), outputs("a")], []),
    ([assistant(*GIVEN[:1]), user("So?")], ["answer_missing"]),
    ([assistant(*GIVEN[1:]), outputs("a")], ["answer_changed"]),
    ([assistant(words("I look. "), GIVEN[1]), outputs("a")], ["answer_changed"]),
    ([assistant(GIVEN[0], use("a", input={"n": 1, "path": "a"})), outputs("a")], ["answer_changed"]),
    ([assistant(GIVEN[0], use("a", input={"path": "a", "n": 1.0})), outputs("a")], ["answer_changed"]),
    ([assistant(GIVEN[0], use("b", input={"path": "a", "n": 1})), outputs("b")], ["answer_changed"]),
    ([assistant(GIVEN[1], GIVEN[0]), outputs("a")], ["answer_changed"]),
    ([assistant(*GIVEN, use("b")), outputs("a", "b")], ["answer_changed"]),
    ([assistant(GIVEN[0]), assistant(GIVEN[1]), outputs("a")], []),
    ([user("So?")], ["answer_missing"]),
    ([], []),
]


@pytest.mark.parametrize(("messages", "expected"), REPLAYS, ids=str)
def test_an_answer_comes_back_as_it_was_said(messages: list[Json], expected: list[str | None]) -> None:
    body = request(user(), *messages)
    assert codes(body, past=[PLAIN]) == expected
    assert codes(body, Endpoint(expect_replay=False), [PLAIN]) == []


def test_a_refusal_names_what_is_missing() -> None:
    [found] = texts(request(user(), assistant(GIVEN[0]), user("So?")), past=[PLAIN])
    said = {"type": "tool_use", "id": "a", "name": "read_file", "input": '{"path": "a", "n": 1}'}
    said |= {"caller": {"type": "direct"}}
    assert found == f"messages.1: the answer said {said!r} here, and nothing comes back"


EXEMPT: list[tuple[Any, list[Json]]] = [
    (turn(text("Half"), limit()), [user("Go on")]),
    (turn(text("Half"), limit()), [assistant(words("Half")), user("Go on")]),
    (turn(text("I write."), call("read_file", '{"path": "a', id="a"), limit()),
     [assistant(words("I write.")), user("In pieces!")]),
    (turn(thinking("Hm."), call("read_file", '{"pa', id="a"), finish("model_context_window_exceeded")),
     [user("In pieces!")]),
    (turn(text("I can"), refusal("No.")), [user("Something else")]),
    (turn(text("\n\n"), call("read_file", id="a")), [called("a"), outputs("a")]),
    (turn(thinking("Only this.")), [user("And?")]),
    (turn(text("Half"), error()), [user("Again")]),
    (turn(call("read file", '{"path"', id="a|b")), [called("x"), outputs("x")]),
    (turn(call("read_file", "[]", id="a")), [called("a"), outputs("a")]),
    (turn(call("read_file", "", id="a")), [called("a"), outputs("a")]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "messages"), EXEMPT, ids=range(len(EXEMPT)))
def test_what_cannot_come_back_need_not(said: Any, messages: list[Json]) -> None:
    assert codes(request(user(), *messages), past=[answer(request(), said)]) == []


def test_a_cut_answer_brings_back_what_was_whole() -> None:
    said = answer(request(), turn(text("I write."), call("read_file", '{"path": "a', id="a"), limit()))
    assert codes(request(user(), user("In pieces!")), past=[said]) == ["answer_missing"]


def test_an_id_that_was_said_before_may_be_another() -> None:
    first = answer(request(), turn(call("read_file", id="a")))
    body = request(user(), called("a"), outputs("a"))
    second = answer(body, turn(call("read_file", id="a")))
    again = request(user(), called("a"), outputs("a"), called("a-2"), outputs("a-2"))
    assert codes(again, past=[first, second]) == []


def test_of_two_answers_to_one_request_the_last_counts() -> None:
    past = [answer(request(), reply("One")), answer(request(), reply("Two"), number=1)]
    assert codes(request(user(), assistant(words("Two")), user()), past=past) == []
    assert codes(request(user(), assistant(words("One")), user()), past=past) == ["answer_changed"]


def test_an_answer_is_found_where_a_changed_prefix_has_moved_it() -> None:
    endpoint = Endpoint(expect_prefix=False)
    body = request(user("Before"), assistant(words("So")), user(), assistant(*GIVEN), outputs("a"))
    assert codes(body, endpoint, [PLAIN]) == []
    body["messages"][3] = called("a")
    assert codes(body, endpoint, [PLAIN]) == ["answer_missing"]


def test_a_paused_answer_is_continued() -> None:
    paused = answer(request(), turn(text("I search."), finish("pause_turn")))
    body = request(user(), assistant(words("I search.")))
    assert codes(body, past=[paused]) == []
    assert codes(body) == ["prefill"]
    second = answer(body, turn(thinking("Hm."), text("Found.")))
    whole = request(user(), assistant(words("I search.")), message(second), user("Thanks"))
    assert codes(whole, past=[paused, second]) == []


PREFIXES: list[tuple[Json, list[str]]] = [
    ({"tools": [TOOL, tool(name="b")]}, ["tools_changed"]),
    ({"tools": []}, ["tools_changed"]),
    ({"system": "Be long."}, ["prefix_changed"]),
    ({"system": [words("Be brief.")]}, ["prefix_changed"]),
    ({"messages": [user("One")]}, ["prefix_changed"]),
    ({"messages": [user("One"), user("2")]}, ["prefix_changed"]),
    ({"max_tokens": 10}, []),
]


@pytest.mark.parametrize(("change", "expected"), PREFIXES, ids=str)
def test_each_request_goes_on_with_the_one_before(change: Json, expected: list[str]) -> None:
    first = request(user("One"), user("Two"))
    past = [answer(first, turn(error()))]
    assert codes(first | change, past=past) == expected
    assert codes(first | change, Endpoint(expect_prefix=False, same_tools=False), past) == []


def test_the_prefix_is_compared_byte_for_byte() -> None:
    past = [answer(request(user("ä"), tools=[]), turn(error()))]
    respelt = json.dumps(request(user("ä"), tools=[]), ensure_ascii=False).encode()
    [found] = texts(respelt, past=past)
    assert found.startswith("messages.0: not that of the request before: at byte ")
    assert codes(respelt, past=past) == ["prefix_bytes_changed"]
