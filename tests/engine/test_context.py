"""The fold: total over any prefix of any Trace, and always a context that a provider accepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from penguin_harness import omnimessage as om
from penguin_harness.engine.carry import CUT, NOT_RUN, UNCERTAIN
from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import (
    CompletePayload,
    DecodeError,
    ImageUrl,
    InlineData,
    OmniMessage,
    Text,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    decode,
)
from tests.strategies import messages

UPSTREAM = Path(__file__).parents[3] / "shared" / "traces" / "upstream"
TRACES = sorted(UPSTREAM.glob("*/*trace_*.jsonl"))
META = om.SessionMeta("session-2026-12-01-09-00-00-0000000a", "p", "m", 1000, "prompt", "/state", "/work")
USAGE = TokenCounts.of(cache_write=10, output=2)


def folded(sequence: Iterable[OmniMessage]) -> Context:
    state = Context()
    for message in sequence:
        fold(state, message)
    return state


def assert_legal(context: Sequence[CompletePayload]) -> None:
    """Every call is answered right behind its turn, once, in call order; nothing answers what was not asked."""
    open_calls: list[str] = []
    for payload in context:
        match payload:
            case ToolCall(tool_call_id=call):
                assert call not in open_calls
                open_calls.append(call)
            case ToolCallOutput(tool_call_id=call):
                assert open_calls, f"output for {call} answers nothing"
                assert open_calls.pop(0) == call, "outputs are in call order"
            case Text(role="user") | ImageUrl() | InlineData(role="user"):
                assert open_calls == [], "user content only when every call is answered"
            case _:
                continue
    assert open_calls == []


def readable(data: bytes) -> list[OmniMessage]:
    found: list[OmniMessage] = []
    for line in data.split(b"\n"):
        try:
            found.append(decode(line))
        except DecodeError:
            continue
    return found


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_byte_prefix_of_an_upstream_trace_is_a_legal_context(path: Path) -> None:
    """Law 3, at the lengths where what can be read changes: each record's end and one byte before it."""
    data = path.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == 10] + [len(data)]
    for cut in sorted({0, *ends, *(end - 1 for end in ends if end)}):
        state = folded(readable(data[:cut]))
        assert_legal(state.request_messages())
        for payload in closing_messages(state):
            is_event = isinstance(payload, om.RequestEnd | om.CompactionEnd)
            fold(state, om.event_message(payload) if is_event else om.model_message(payload))
        assert_legal(state.request_messages())
        assert closing_messages(state) == []


@given(st.lists(messages, max_size=25))
def test_any_sequence_at_all_folds_to_a_legal_context(sequence: list[OmniMessage]) -> None:
    state = Context()
    for message in sequence:
        fold(state, message)
    assert_legal(state.request_messages())


def request(*content: OmniMessage, end: OmniMessage | None = None, usage: TokenCounts = USAGE) -> list[OmniMessage]:
    ended = [om.token_usage(usage, usage), om.request_end()] if end is None else [end]
    return [om.request_begin(), *content, *ended]


def begun(*rest: OmniMessage) -> list[OmniMessage]:
    return [om.session_meta(META), om.user_text("go"), om.tool_list_ready([]), *rest]


def said(state: Context) -> list[str]:
    return [
        f"{payload.role}:{getattr(payload, 'text', None) or getattr(payload, 'output', None) or payload.type}"
        for payload in state.request_messages()
    ]


TWO_CALLS = (om.tool_call("t", "{}", "a"), om.tool_call("t", "{}", "b"))


def test_outputs_stand_in_call_order_whatever_order_they_finished_in() -> None:
    outputs = (om.tool_call_output("second", "b"), om.tool_call_output("first", "a"))
    state = folded(begun(*request(*TWO_CALLS), *outputs, om.request_begin()))
    assert said(state)[:5] == ["user:go", "assistant:tool_call", "assistant:tool_call", "user:first", "user:second"]


def test_an_open_call_is_told_by_its_ledger() -> None:
    """B001: refused, not run and uncertain are told apart; an uncertain one is never silently repeated."""
    state = folded(
        begun(
            *request(*TWO_CALLS, om.tool_call("t", "{}", "c")),
            om.approval_decision("allow", "a"),
            om.approval_decision("deny", "b"),
        )
    )
    outputs = [payload for payload in state.request_messages() if isinstance(payload, ToolCallOutput)]
    assert [(one.output, one.stop_reason) for one in outputs] == [
        (UNCERTAIN, "aborted"),
        ("Tool call denied by user.", "aborted"),
        (NOT_RUN, "aborted"),
    ]
    assert closing_messages(state) == outputs
    undecided = closing_messages(state, keep_undecided=True)
    assert [payload.tool_call_id for payload in undecided if isinstance(payload, ToolCallOutput)] == ["a", "b"]


def test_an_attempt_that_did_not_complete_is_told_and_not_taken_into_the_context() -> None:
    """B003, B092: the input stays, what was shown is told once, and each request begins with the one before it."""
    sequence = begun(
        *request(
            om.thinking("hm"),
            om.assistant_text("Part one. Part tw", stop_reason="aborted"),
            end=om.request_end("aborted", error_code="user_abort"),
        ),
        om.abort(),
    )
    before = folded(sequence[:3]).request_messages()
    state = folded([*sequence, om.user_text("continue")])
    first, told, then = state.request_messages()
    assert (first,) == before
    assert isinstance(told, Text)
    assert told.text.startswith("[turn_aborted]\n")
    assert told.text.count("Part one. Part tw") == 1
    assert "hm" in told.text
    assert then == Text("user", "continue")


def test_a_retried_attempt_is_told_with_the_tools_that_ran() -> None:
    retry = om.request_end("retryable", error_code="network", error_message="reset", attempt=1, retry_in_ms=2000)
    sequence = begun(
        om.request_begin(),
        om.tool_call("t", '{"x":1}', "a"),
        om.approval_decision("allow", "a"),
        retry,
        om.tool_call_output("done", "a", images=["data:image/png;base64,AA"]),
        om.request_begin(),
    )
    _, told, image = folded(sequence).request_messages()[:3]
    assert isinstance(told, Text)
    assert "[turn_retried]\n" in told.text
    assert 't {"x":1}\nOutput (completed):\ndone' in told.text
    assert image == ImageUrl("user", "data:image/png;base64,AA", sender="harness")


def test_a_retry_after_nothing_is_not_told_unless_it_was_malformed() -> None:
    def after(code: om.ErrorCode) -> list[str]:
        end = om.request_end("retryable", error_code=code, error_message="odd", attempt=1, retry_in_ms=2000)
        return said(folded(begun(*request(end=end))))

    assert after("network") == ["user:go"]
    assert "odd" in after("malformed")[1]


def test_a_request_whose_usage_is_recorded_counts_as_completed() -> None:
    state = folded(begun(om.request_begin(), om.assistant_text("yes"), om.token_usage(USAGE, USAGE)))
    assert said(state) == ["user:go", "assistant:yes"]
    assert closing_messages(state) == [om.RequestEnd("completed")]
    fold(state, om.user_text("next"))
    assert said(state) == ["user:go", "assistant:yes", "user:next"]


def test_a_call_that_was_cut_by_the_limit_is_answered_and_not_run() -> None:
    """B074."""
    cut = om.tool_call("write", '{"path":"a","content":"abc', "a", stop_reason="fatal")
    state = folded(begun(*request(cut)))
    assert closing_messages(state) == [ToolCallOutput("user", CUT, "a", stop_reason="fatal")]


def test_a_compaction_that_failed_leaves_the_context_as_it_was() -> None:
    """B126, B133: its prompt and its reply are internal."""
    before = begun(*request(om.assistant_text("yes")))
    span: list[OmniMessage] = [
        om.compaction_begin("context", "summarize", context=12, turns=1),
        om.user_text("Summarize.", sender="harness"),
        *request(om.assistant_text("no summary")),
        om.compaction_end("context", "summarize", "retryable", error_code="malformed"),
    ]
    for length in range(len(span) + 1):
        assert folded([*before, *span[:length]]).request_messages() == folded(before).request_messages()
    completed = [*span[:-1], om.compaction_end("context", "summarize", "completed")]
    kept = folded([*before, *completed]).compacted
    assert kept is not None
    assert kept.reply == [Text("assistant", "no summary")]


def test_a_new_context_begins_empty_with_the_totals_so_far() -> None:
    later = replace(META, system_prompt="new", session_usage=USAGE)
    state = folded([*begun(*request(om.assistant_text("yes"))), om.session_meta(later)])
    assert (state.request_messages(), state.usage, state.turns, state.call_ids) == ((), USAGE, 0, set())
    assert folded([om.session_meta(later)]).usage == state.usage


def test_failed_attempts_that_cost_tokens_are_counted() -> None:
    failed = om.request_end("retryable", error_code="network", error_message="x", attempt=1, usage=USAGE)
    assert folded(begun(*request(end=failed))).usage == USAGE


def test_unsent_input_is_known() -> None:
    """An empty run goes on with what the model has not answered, and with nothing else."""
    sequence = begun(*request(*TWO_CALLS), om.tool_call_output("x", "a"), om.tool_call_output("y", "b"))
    assert folded(sequence).has_unsent()
    assert not folded([*sequence, *request(om.assistant_text("done"))]).has_unsent()
    assert folded(begun()).has_unsent()
    assert not Context().has_unsent()


def test_a_message_of_another_session_changes_nothing() -> None:
    state = folded(begun())
    before = state.request_messages()
    fold(state, om.with_origin(om.user_text("child"), "session-2026-12-01-09-00-00-0000000b"))
    assert state.request_messages() == before
