"""What a hook says, read from the JSON that it is written in, and what is known when it says nothing usable."""

from __future__ import annotations

import json
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from penguin_harness.omnimessage import HookDecision, HookPoint, is_blank
from penguin_harness.omnimessage.unicode import clean_json

LONGEST_ANSWER = 65_536
"""Bytes of JSON."""
Scalar: TypeAlias = str | int | float | bool | None
Failure: TypeAlias = Literal["not_started", "crashed", "raised", "timeout", "too_long", "malformed"]
DECISIONS: dict[HookPoint, tuple[HookDecision, ...]] = {
    "user_prompt": (),
    "pre_tool_use": ("allow", "deny"),
    "stop": ("continue", "stop"),
}


class Answer(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What a hook says; all of it may be left out."""

    decision: HookDecision | None = None
    """None for no opinion."""
    reason: str = ""
    """Recorded; of a denial the model is told it."""
    text: str = ""
    """For the model: what a `user_prompt` hook adds, or the task that a `stop` hook goes on with."""
    output: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    """Recorded beside the reason."""


class HookFailed(Exception):
    """A hook gave no answer: how it failed, why in words, and what else is known."""

    def __init__(self, failure: Failure, reason: str, **details: Scalar) -> None:
        super().__init__(reason)
        self.failure: Failure = failure
        self.details = details


_decoder = msgspec.json.Decoder(Answer)


def read_answer(data: bytes, point: HookPoint) -> Answer | None:
    """The answer in this JSON text; None when there is nothing. Raises HookFailed for what is no answer."""
    if not data.strip():
        return None
    if len(data) > LONGEST_ANSWER:
        raise HookFailed("too_long", f"it answered with more than {LONGEST_ANSWER:,} bytes")
    try:
        answer = _decoder.decode(clean_json(data))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HookFailed("malformed", f"its answer cannot be read: {error}") from None
    if (fault := _fault(answer, point)) is not None:
        raise HookFailed("malformed", f"its answer cannot be used: {fault}")
    if point == "stop" and answer.decision is None and not is_blank(answer.text):
        return msgspec.structs.replace(answer, decision="continue")
    return answer


def answer_of(said: object, point: HookPoint) -> Answer | None:
    """What a function returned, as strictly read as a program's output. Raises HookFailed for what is no answer."""
    if said is None or (isinstance(said, str) and is_blank(said)):
        return None
    said = Answer(text=said) if isinstance(said, str) else said
    if not isinstance(said, Answer):
        raise HookFailed("malformed", f"it returned {type(said).__name__}; an Answer, a text or None is expected")
    try:
        data = json.dumps(msgspec.to_builtins(said)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise HookFailed("malformed", f"its answer cannot be read: {error}") from None
    return read_answer(data, point)


def _fault(answer: Answer, point: HookPoint) -> str | None:
    known = DECISIONS[point]
    if answer.decision is not None and answer.decision not in known:
        return f"a {point} hook decides {' or '.join(known) or 'nothing'}, not {answer.decision}"
    if answer.text and point == "pre_tool_use":
        return "a pre_tool_use hook adds no text; the model is told the reason of a denial"
    if answer.decision == "continue" and is_blank(answer.text):
        return "continue needs a text that says how"
    return None
