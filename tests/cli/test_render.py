"""The renderer: attributed by origin and call id alone, nothing shown twice, the same live and from the Trace."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from penguin_harness.cli.render import Renderer
from penguin_harness.omnimessage import (
    OmniMessage,
    abort,
    approval_decision,
    assistant_text,
    compaction_begin,
    compaction_end,
    decode,
    hook,
    is_recorded,
    partial_text,
    partial_tool_call,
    partial_tool_call_output,
    request_begin,
    request_end,
    thinking,
    tool_call,
    tool_call_output,
    user_text,
    with_origin,
)
from tests.cli.paper import Live, Plain

CHILD = "session-2026-12-01-09-00-00-0a1b2c3d"


def streamed(text: str, *pieces: str) -> list[OmniMessage]:
    deltas = [partial_text("delta", piece) for piece in pieces or (text,)]
    return [partial_text("start"), *deltas, partial_text("stop"), assistant_text(text)]


def called(call_id: str, command: str, output: str) -> list[OmniMessage]:
    return [
        tool_call("exec_command", f'{{"command":"{command}"}}', call_id),
        approval_decision("allow", call_id),
        tool_call_output(output, call_id),
    ]


def from_later(kind: str, members: str) -> OmniMessage:
    """An event of a later version of the protocol."""
    line = f'{{"type":"event_msg","timestamp":"2026-12-01T09:00:00.000Z","payload":{{"type":"{kind}",{members}}}}}'
    return decode(line.encode())


def show(renderer: Renderer, messages: Iterable[OmniMessage]) -> None:
    for message in messages:
        renderer.show(message)


def test_a_streamed_text_appears_once() -> None:
    page = Live()
    show(page.renderer, streamed("Hello there, world.", "Hel", "lo the", "re, world."))
    assert page.seen.count("Hello there, world.") == 1
    assert page.seen.count("Hel") == 1


def test_a_text_that_did_not_stream_appears_once() -> None:
    page = Live()
    show(page.renderer, [assistant_text("Hello.")])
    assert page.seen == "Hello.\n"


def test_a_late_reader_sees_what_is_left() -> None:
    page = Live()
    show(page.renderer, [partial_text("delta", "lo there."), partial_text("stop"), assistant_text("Hello there.")])
    assert page.seen == "lo there.\n"


def test_fragments_of_two_calls_in_turn_stay_apart_and_a_foreign_one_is_told() -> None:
    """B023."""
    page = Live()
    show(
        page.renderer,
        [
            partial_tool_call("start", "exec_command", "a"),
            partial_tool_call("start", "read_file", "b"),
            partial_tool_call("delta", "exec_command", "a", '{"command":"ech'),
            partial_tool_call("delta", "read_file", "b", '{"path":"x.'),
            partial_tool_call("delta", "exec_command", "nobody", "WRONG"),
            partial_tool_call("delta", "exec_command", "nobody", "WRONG"),
            partial_tool_call("delta", "exec_command", "a", 'o hi"}'),
            partial_tool_call("delta", "read_file", "b", 'txt"}'),
        ],
    )
    assert "✎ exec_command  echo hi\n" in page.seen
    assert "✎ read_file  x.txt\n" in f"{page.seen}\n"
    assert "WRONG" not in page.seen
    assert page.seen.count("unknown call 'nobody'") == 1


def test_an_output_for_an_unknown_call_is_told_and_not_shown() -> None:
    page = Plain()
    show(page.renderer, [partial_tool_call_output("delta", "x", "STRAY"), tool_call_output("STRAY", "x")])
    assert "STRAY" not in page.seen
    assert page.seen.count("unknown call 'x'") == 1


def test_cards_leave_in_call_order_whatever_order_they_finish_in() -> None:
    page = Live()
    show(
        page.renderer,
        [
            tool_call("exec_command", '{"command":"slow"}', "a"),
            tool_call("exec_command", '{"command":"quick"}', "b"),
            approval_decision("allow", "a"),
            approval_decision("allow", "b"),
            partial_tool_call_output("start", "a"),
            partial_tool_call_output("delta", "a", "half way"),
            tool_call_output("second", "b"),
        ],
    )
    assert "half way" in page.seen
    show(page.renderer, [tool_call_output("first", "a")])
    assert page.seen.index("first") < page.seen.index("second")
    assert "half way" not in page.seen


def test_a_card_never_breaks_into_a_text() -> None:
    page = Live()
    show(
        page.renderer,
        [
            *called("a", "ls", "")[:2],
            partial_text("start"),
            partial_text("delta", "One two "),
            tool_call_output("listing", "a"),
            partial_text("delta", "three."),
            partial_text("stop"),
            assistant_text("One two three."),
        ],
    )
    assert "One two three." in page.seen
    assert page.seen.index("three.") < page.seen.index("listing")


def test_the_stream_and_its_trace_look_the_same() -> None:
    stream = [
        user_text("Do it."),
        request_begin(),
        *streamed("I **look**.", "I **lo", "ok**."),
        *called("a", "ls", "x\ny"),
        request_end(),
        request_begin(),
        *streamed("Done."),
        request_end(),
    ]
    live, stored = Live(), Live()
    show(live.renderer, stream)
    show(stored.renderer, filter(is_recorded, stream))
    live.renderer.close()
    stored.renderer.close()
    assert live.seen == stored.seen
    assert "I look." in live.seen


def test_a_text_cut_by_the_limit_is_shown_as_cut() -> None:
    """B077."""
    page = Plain()
    cut = [assistant_text("The answer is", stop_reason="fatal"), request_end(error_code="output_limit")]
    show(page.renderer, [request_begin(), *cut])
    assert "The answer is\n… cut off here" in page.seen
    assert "cut by the output limit" in page.seen


def failed_then_whole() -> list[OmniMessage]:
    return [
        request_begin(),
        partial_text("start"),
        partial_text("delta", "Here is the pl"),
        partial_text("stop", stop_reason="retryable"),
        assistant_text("Here is the pl", stop_reason="retryable"),
        request_end("retryable", error_code="network", error_message="reset by peer", attempt=1, retry_in_ms=2000),
        request_begin(),
        *streamed("Here is the plan."),
        request_end(attempt=2),
    ]


def test_after_a_broken_attempt_the_answer_appears_once_and_the_rest_is_marked() -> None:
    """B080."""
    page = Live()
    show(page.renderer, failed_then_whole())
    assert page.seen.count("Here is the plan.") == 1
    assert "Here is the pl\n… broke off here; not part of the answer" in page.seen


def test_in_a_pipe_only_answers_that_stand_are_written() -> None:
    """B080."""
    answers, page = Plain(), Plain()
    show(Renderer(page.renderer.screen, answers=answers.out), failed_then_whole())
    assert answers.out.getvalue() == "Here is the plan.\n"
    assert "Here is" not in page.seen


def test_each_attempt_and_its_wait_are_visible() -> None:
    """B085."""
    page = Live()
    page.renderer.status.begin("Ctrl-C gives up")
    for attempt, wait in ((1, 2000), (2, 4000), (3, 8000)):
        end = request_end("retryable", error_code="network", error_message="503", attempt=attempt, retry_in_ms=wait)
        show(page.renderer, [request_begin(), end])
        assert f"attempt {attempt}: the provider could not be reached, or failed" in page.seen
        assert f"attempt {attempt + 1} in {wait // 1000} s" in page.seen
        assert "Ctrl-C gives up" in page.seen
    show(page.renderer, [request_begin(), *streamed("At last."), request_end(attempt=4)])
    assert page.seen.count("next attempt in") == 3


def test_a_refusal_says_who_refused() -> None:
    page = Plain()
    refused = tool_call_output("Tool call denied by user.", "a", stop_reason="aborted")
    show(page.renderer, [tool_call("exec_command", "{}", "a"), approval_decision("deny", "a"), refused])
    assert "⊘ exec_command" in page.seen
    assert "denied by user" in page.seen


def test_an_exit_code_makes_a_card_a_failure() -> None:
    page = Plain()
    show(page.renderer, called("a", "false", "nothing\n[exit code 3]"))
    assert "✗ exec_command  false  exit code 3" in page.seen


def test_a_diff_is_coloured_and_counted() -> None:
    page = Live()
    diff = "--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n-old\n+new\n+more\n"
    call = tool_call("edit_file", '{"path":"x","old_text":"old","new_text":"new"}', "a")
    show(page.renderer, [call, approval_decision("allow", "a"), tool_call_output(diff, "a")])
    assert "edit_file  x  +2 −1" in page.seen
    assert "\x1b[32m+new" in page.out.getvalue()
    assert "\x1b[31m-old" in page.out.getvalue()


def test_children_are_told_apart_by_origin_and_never_mixed_into_the_text() -> None:
    page = Live()
    show(page.renderer, [partial_text("start"), partial_text("delta", "Mine ")])
    show(page.renderer, [with_origin(message, CHILD) for message in called("a", "child work", "out")])
    show(page.renderer, [with_origin(assistant_text("The child says."), CHILD)])
    show(page.renderer, [partial_text("delta", "alone."), partial_text("stop"), assistant_text("Mine alone.")])
    assert "Mine alone." in page.seen
    assert "┆ 0a1b2c3d ✓ exec_command  child work" in page.seen
    assert "┆ 0a1b2c3d The child says." in page.seen


def test_a_compaction_is_a_mark_and_its_own_messages_are_not_shown() -> None:
    page = Plain()
    show(
        page.renderer,
        [
            compaction_begin("context", "summarize", context=200_000, turns=9),
            assistant_text("[summary]secret[/summary]"),
            compaction_end("context", "summarize", "completed"),
            assistant_text("Go on."),
        ],
    )
    assert "secret" not in page.seen
    assert "200,000 tokens" in page.seen
    assert "Go on." in page.seen


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (abort(), "■ interrupted"),
        (hook("pre_tool_use", "guard", decision="deny", reason="no rm"), "hook guard (pre_tool_use): deny – no rm"),
        (request_end("fatal", error_code="auth", error_message="401"), "the provider refused the credentials (401)"),
        (from_later("request_end", '"status":"fatal","error_code":"quantum"'), "failed (quantum)"),
        (user_text("The run stopped.", sender="harness"), "ℹ The run stopped."),
        (from_later("new", '"x":1'), "? unknown message: event_msg new"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_happened_is_told(message: OmniMessage, shown: str) -> None:
    page = Plain()
    show(page.renderer, [message])
    assert shown in page.seen


def test_nothing_of_a_model_or_a_tool_reaches_the_terminal_as_a_command() -> None:
    page = Live()
    evil = "\x1b]0;owned\x07\x1b[2J\x9b5n"
    show(page.renderer, [thinking(evil), *streamed(evil), *called("a", "x", evil)])
    show(page.renderer, [tool_call(f"n{evil}", f'{{"path":"{evil}"}}', "b"), user_text(evil)])
    page.renderer.close()
    written = page.out.getvalue()
    assert "\x1b]" not in written
    assert "\x1b[2J" not in written
    assert "\x9b" not in written
    assert page.seen


def test_a_trace_that_ends_in_the_middle_shows_what_is_missing() -> None:
    page = Plain()
    show(page.renderer, called("a", "sleep 9", "")[:2])
    page.renderer.close()
    assert "No output is recorded." in page.seen


def test_the_live_area_leaves_nothing_behind() -> None:
    page = Live()
    page.renderer.status.begin("Ctrl-C interrupts")
    show(page.renderer, [user_text("Hi"), *called("a", "ls", "x")[:2], partial_tool_call_output("start", "a")])
    for number in range(12):
        show(page.renderer, [partial_tool_call_output("delta", "a", f"line {number}\n")])
        assert "Ctrl-C interrupts" in page.seen
    show(page.renderer, [tool_call_output("x", "a")])
    page.renderer.status.is_running = False
    page.renderer.close()
    assert re.fullmatch(r"› Hi\n\n✓ exec_command  ls(  \d\.\d s)?\n  │ x\n", page.seen)
    assert page.out.getvalue().endswith("\x1b[?25h\x1b[?2026l")
