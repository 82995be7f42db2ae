"""What a tail journal knows is recorded once, wherever a Trace may end: legal, conforming, nothing left open."""

from __future__ import annotations

from pathlib import Path

import pytest

from penguin_harness import omnimessage as om
from penguin_harness.contracts import Half
from penguin_harness.engine.closing import closing_messages, halves_of
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import CompactionEnd, OmniMessage, RequestEnd, Text, Thinking, ToolCall, ToolCallOutput
from penguin_harness.omnimessage.check import check
from tests.engine.test_context import assert_legal
from tests.laws.test_prefixes import SESSIONS, compacted, folded, recorded
from tests.support import assert_conforms

ANSWERS: list[Half] = [
    Text("assistant", "half a text", stop_reason="aborted"),
    Thinking("assistant", "half a thought", "aborted"),
    ToolCall("assistant", "exec_command", '{"comm', "half", "aborted"),
]


def outputs_of(state: Context) -> list[Half]:
    """A half output for every call, the finished ones among them."""
    calls = state.attempt.calls if state.attempt else {}
    return [ToolCallOutput("user", "half an output", call, stop_reason="aborted") for call in calls]


def message(payload: Half | RequestEnd | CompactionEnd) -> OmniMessage:
    is_event = isinstance(payload, RequestEnd | CompactionEnd)
    return om.event_message(payload) if is_event else om.model_message(payload)


def stamped(lines: list[bytes], added: list[OmniMessage]) -> list[bytes]:
    """The lines with more behind them, at the time of the last one."""
    last = om.decode(lines[-1]).timestamp
    return [
        *lines,
        *(om.encode(om.decode(om.encode(one).replace(one.timestamp.encode(), last.encode()))) for one in added),
    ]


def assert_closed_once(data: bytes, *, conforms: bool = True) -> None:
    lines = data.splitlines()
    for end in range(1, len(lines) + 1):
        for answer in ANSWERS:
            state = folded(b"\n".join(lines[:end]))
            halves = [answer, *outputs_of(state)]
            counting = list(halves_of(state.attempt, halves))
            closing = [message(payload) for payload in closing_messages(state, halves)]
            told = [getattr(m.payload, "output", None) for m in closing]
            assert [m.payload for m in closing].count(answer) == counting.count(answer)
            assert sum("half an output" in output for output in told if output) == len(counting) - counting.count(
                answer
            )
            for one in closing:
                fold(state, one)
            assert_legal(state.request_messages())
            assert closing_messages(state, halves) == [], "nothing is recorded twice"
            assert list(halves_of(state.attempt, halves)) == []
            if closing and conforms:
                assert_conforms(check(stamped(lines[:end], closing), "trace", finished=True))


@pytest.mark.parametrize("name", SESSIONS)
async def test_halves_are_recorded_once_wherever_a_session_ends(tmp_path: Path, name: str) -> None:
    assert_closed_once(await recorded(tmp_path, name))


def test_halves_are_recorded_once_in_a_trace_with_everything(tmp_path: Path) -> None:
    assert_closed_once(compacted(tmp_path), conforms=False)  # it calls tools that it does not offer
