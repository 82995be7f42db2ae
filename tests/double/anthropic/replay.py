"""Whether a request brings back what the whole answers of its context said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tests.double import strict_json
from tests.double.anthropic.blocks import ID, NAME
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.raw import parts_of
from tests.double.anthropic.said import Said, said_in, stop_reason
from tests.double.anthropic.turns import Block, messages_of, turns_of
from tests.double.anthropic.wording import invalid
from tests.double.protocol import Answer
from tests.double.refusal import Refusal

_CUT = ("max_tokens", "model_context_window_exceeded")


def check_replay(body: bytes, past: Sequence[Answer], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """What is missing, added or changed of each whole answer behind whose request the conversation went on."""
    messages = messages_of(strict_json.loads(body))
    blocks = [block for turn in turns_of(messages) if turn.role == "assistant" for block in turn.blocks]
    whole = [answer for answer in past if answer.whole and stop_reason(answer.sent)]
    answers = {len(parts_of(answer.asked.body).messages): answer for answer in whole}
    places = sorted(place for place in answers if place < len(messages))
    ids: set[str] = set()
    start = 0
    for place, behind in zip(places, [*places[1:], len(messages)], strict=False):
        said = said_in(answers[place].sent)
        ids |= {block.text("id") for block in blocks if block.message < place}
        needed = list(_needed(said, stop_reason(answers[place].sent)))
        if any(needed) and endpoint.expect_replay:
            fixed = _given(blocks, place, end=behind)
            given = fixed if endpoint.expect_prefix else _found(blocks, said, start=start, ids=ids)
            yield from _lacks(said, needed, given, at=f"messages.{place}", ids=ids)
            start = given[-1].message + 1 if given else start


def _needed(said: list[Said], reason: str | None) -> Iterator[bool]:
    """For each block whether it must come back: not after a refusal, not if it was cut, not where it cannot stand."""
    whole = len(said) - 1 if reason in _CUT else len(said)
    held = [
        block.closed and not block.block().is_blank and number < whole and reason != "refusal"
        for number, block in enumerate(said)
    ]
    sayable = [number for number, block in enumerate(said) if held[number] and not block.block().is_thinking]
    yield from (need and number <= max(sayable, default=-1) for number, need in enumerate(held))


def _given(blocks: list[Block], place: int, *, end: int) -> list[Block]:
    """The blocks of the message at this place, and of those that follow it directly."""
    given: list[Block] = []
    for block in blocks:
        if place <= block.message <= (given[-1].message + 1 if given else place) and block.message < end:
            given += [] if block.is_blank else [block]
    return given


def _found(blocks: list[Block], said: list[Said], *, start: int, ids: set[str]) -> list[Block]:
    """The first message in which the answer begins, when a changed prefix may have moved it."""
    for number in sorted({block.message for block in blocks if block.message >= start}):
        given = _given(blocks, number, end=blocks[-1].message + 1)
        if given and any(_is(one, given[0], ids) for one in said):
            return given
    return []


def _lacks(said: list[Said], needed: list[bool], given: list[Block], *, at: str, ids: set[str]) -> Iterator[Refusal]:
    rest = list(given)
    for one, need in zip(said, needed, strict=True):
        if rest and _is(one, rest[0], ids):
            rest.pop(0)
        elif need:
            found = f"{rest[0].value!r}" if rest else "nothing"
            was = one.value | ({"input": "".join(one.written)} if one.kind == "tool_use" else {})
            text = f"the answer said {was!r} here, and {found} comes back"
            yield invalid(rest[0].at if rest else at, text, "answer_changed" if rest else "answer_missing")
            return
    for block in rest:
        yield invalid(block.at, f"the answer did not say {block.value!r}", "answer_changed")


def _is(said: Said, given: Block, ids: set[str]) -> bool:
    """Whether this is that block; what no request may hold is not compared: odd names, repeated ids, broken JSON."""
    if said.kind != given.kind:
        return False
    if said.kind != "tool_use":
        keys = ("text", "thinking", "signature", "data")
        return all(said.value.get(key) == given.value.get(key) for key in keys)
    id_, name, arguments = said.block().text("id"), said.block().text("name"), said.input
    return (
        (given.text("id") == id_ or id_ in ids or not ID.fullmatch(id_))
        and (given.text("name") == name or not NAME.fullmatch(name))
        and (arguments is None or json.dumps(arguments) == json.dumps(given.value.get("input")))
    )
