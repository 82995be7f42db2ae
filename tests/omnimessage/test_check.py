"""The conformance checker: what conforms is accepted, and each rule is found broken where it is broken first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.omnimessage import (
    McpConnectBegin,
    McpConnectEnd,
    PartialText,
    RequestBegin,
    Text,
    ToolCallOutput,
    decode,
)
from penguin_harness.omnimessage.check import RULES, Checker, Dialect, Report, Surface, check, check_session
from tests.omnimessage.mutations import MUTATIONS, Mutation
from tests.omnimessage.sequences import (
    ABORTED,
    CHILD,
    CHILDREN,
    COMPACTED,
    CONTINUED,
    INTERRUPTED,
    LATER,
    RESUMED,
    RETRIES,
    STREAM,
    TRACE,
    Of,
    Said,
    answer,
    ask,
    at,
    call,
    end,
    lines,
    meta,
    output,
    stamped,
    tools,
    usage,
)
from tests.omnimessage.sessions import Session, disturbed, sessions

DIALECTS: tuple[Dialect, ...] = ("strict", "lenient")
CONFORMING: dict[str, tuple[Surface, list[Said]]] = {
    "a first file": ("trace", TRACE),
    "a file with retries": ("trace", RETRIES),
    "a file with aborts": ("trace", ABORTED),
    "a file up to its rotation": ("trace", COMPACTED),
    "a later file": ("trace", LATER),
    "a run": ("stream", STREAM),
    "a run with a child": ("stream", CHILDREN),
    "an abort, a compaction and a model switch": ("stream", INTERRUPTED),
    "a run that closes for a dead process": ("stream", RESUMED),
    "a run that goes on with a call from before": ("stream", CONTINUED),
}


@pytest.mark.parametrize("name", CONFORMING)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conforming_sequence_is_accepted_as_lines_and_as_messages(name: str, dialect: Dialect) -> None:
    surface, said = CONFORMING[name]
    for sequence in (lines(said), stamped(said)):
        report = check(sequence, surface, dialect, finished=True)
        assert (report.violations, report.notes) == ((), ())


def test_the_files_of_a_session_are_accepted_together() -> None:
    assert check_session([lines(COMPACTED), lines(LATER, 100)], finished=True).ok


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.rule}-line{mutation.line}")
def test_a_broken_rule_is_the_first_reported_at_its_line(mutation: Mutation) -> None:
    first = mutation.report().violations[0]
    assert (first.rule, first.line, first.text) == (mutation.rule, mutation.line, RULES[mutation.rule].text)


def test_every_rule_is_broken_by_a_mutation() -> None:
    assert {mutation.rule for mutation in MUTATIONS} == set(RULES)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.rule}-line{mutation.line}")
def test_a_violation_does_not_cascade(mutation: Mutation) -> None:
    assert len(mutation.report().violations) <= 5


def test_a_violation_in_a_later_file_names_the_file() -> None:
    broken = [*lines(LATER[:5], 100), b"{}"]
    violation = check_session([lines(COMPACTED), broken]).violations[0]
    assert (violation.file, violation.line, violation.rule) == (2, 6, "1.1")
    assert str(violation).startswith("file 2, line 6: ")


def test_the_report_reads_as_text() -> None:
    assert str(check(lines(TRACE))) == "conforms"
    assert "[2.1: " in str(check(lines(TRACE[1:]), "trace"))


def test_an_unfinished_sequence_is_noted_and_a_finished_one_must_be_closed() -> None:
    said = STREAM[:13]
    assert [note.message for note in check(stamped(said)).notes] == [
        "ends with a partial_text open: its writer died or still runs",
        "ends with a request open: its writer died or still runs",
        "ends with the calls 'c1' open: its writer died or still runs",
    ]
    violations = check(stamped(said), finished=True).violations
    assert [(violation.line, violation.rule) for violation in violations] == [(13, "4.9"), (13, "11.8a"), (13, "11.3b")]


def test_a_file_that_is_followed_by_another_must_be_closed() -> None:
    open_file = [*lines(COMPACTED[:14])]
    assert check_session([open_file, lines(LATER, 100)]).violations[0].rule == "11.8b"
    assert (
        check_session([open_file, lines(LATER, 100)], "lenient").notes[0].message.startswith("ends with a compaction")
    )


def test_a_child_may_go_on_when_the_parent_has_finished() -> None:
    said = [message for message in CHILDREN if message is not CHILDREN[17]]
    report = check(stamped(said), finished=True)
    assert report.ok
    assert len(report.notes) == 1


def test_a_checker_can_be_asked_while_messages_come_in() -> None:
    checker = Checker("stream")
    for message in stamped(STREAM):
        checker.feed(message)
        assert checker.report().ok
    assert checker.report(finished=True).notes == ()


def test_a_checker_takes_line_numbers_from_outside() -> None:
    checker = Checker("stream")
    checker.feed(stamped(STREAM)[1], 41)
    checker.feed(stamped(STREAM)[1], 42)
    assert [violation.line for violation in checker.report().violations] == [42]


def test_the_first_message_tells_the_surface() -> None:
    partial = PartialText("assistant", "start", "")
    assert check(stamped([*TRACE[:6], partial])).violations[0].rule == "4.10"
    assert check(stamped([*STREAM[:2], partial])).ok


@pytest.mark.parametrize("dialect", ["strict", "lenient"])
def test_a_torn_last_line_is_a_note_unless_the_writer_finished(dialect: Dialect) -> None:
    torn = [*lines(TRACE), b'{"type":"mod']
    report = check(torn, dialect=dialect)
    assert report.ok
    assert report.notes[0].message.startswith("the last line is torn")
    assert [violation.line for violation in check(torn, dialect=dialect, finished=True).violations] == [29]


def test_what_holds_no_message_at_all_is_no_trace() -> None:
    assert [violation.rule for violation in check([b"hello"], dialect="lenient").violations] == ["1.1"]
    assert [note.message for note in check([]).notes] == ["there is no message in it"]


def test_a_last_line_that_is_whole_and_no_message_is_a_violation() -> None:
    report = check([*lines(TRACE), b'{"n":1}'], dialect="lenient")
    assert [(violation.line, violation.rule) for violation in report.violations] == [(29, "1.1")]


def test_an_empty_line_behind_the_last_newline_says_nothing() -> None:
    assert check((b"\n".join(lines(TRACE)) + b"\n").split(b"\n")) == Report((), ())


def test_a_child_that_its_parent_interrupts_need_not_show_its_abort() -> None:
    said = [*CHILDREN[:16], Of((CHILD,), end("aborted", "user_abort")), *CHILDREN[18:20]]
    said += [Of((CHILD,), ask("Again.")), Of((CHILD,), RequestBegin())]
    assert check(stamped(said)).ok


def test_a_broken_line_in_the_middle_is_a_violation_in_both_dialects() -> None:
    broken = [*lines(TRACE)[:27], b"broken", *lines(TRACE)[27:]]
    assert [violation.rule for violation in check(broken, dialect="lenient").violations] == ["1.1"]


def test_an_unknown_payload_is_a_note_in_strict_and_nothing_in_lenient() -> None:
    new = b'{"type":"event_msg","timestamp":"' + at(27).encode() + b'","payload":{"type":"weather","sky":"blue"}}'
    assert check([*lines(TRACE), new]).ok
    assert check([*lines(TRACE), new]).notes[0].message == "a event_msg of the unknown type 'weather'"
    assert check([*lines(TRACE), new], dialect="lenient").notes == ()


def test_unknown_fields_and_spaces_in_opaque_values_are_accepted() -> None:
    written = lines(TRACE)
    written[1] = written[1].replace(b'"role"', b'"mood":"calm","role"')
    written[4] = written[4].replace(b'"name"', b'"strict":true,"name"')
    written[6] = written[6].replace(b"1.0}", b'1.0, "phase": null}')
    assert check(written).ok


OLD = [
    pytest.param(5, '{"type":"request_end","status":"malformed"}', 1, id="an old stop reason"),
    pytest.param(5, '{"type":"request_end","status":"completed","attempt":1}', 0, id="kept rules"),
    pytest.param(
        4, '{"type":"text","role":"assistant","text":"x","stop_reason":"auth"}', 1, id="an old reason on text"
    ),
]


@pytest.mark.parametrize(("place", "payload", "accepted"), OLD)
def test_lenient_reads_old_words_and_keeps_the_other_rules(place: int, payload: str, accepted: int) -> None:
    said = [meta(), ask(), tools(), RequestBegin(), answer(), end("fatal", "auth")]
    written = lines(said)
    kind = "model_msg" if '"role"' in payload else "event_msg"
    written[place] = f'{{"type":"{kind}","timestamp":"{at(place)}","payload":{payload}}}'.encode()
    assert not check(written).ok
    assert check(written, dialect="lenient").ok == bool(accepted)


LENIENT: dict[str, list[Said]] = {
    "a repeated tool list": [*TRACE[:18], tools(), *TRACE[18:]],
    "a tool between usage and end": [*TRACE[:15], output("c1"), TRACE[15], *TRACE[18:]],
    "an abort after a failure": [*RETRIES[:16], RETRIES[19], *RETRIES[16:]],
    "calls left open by a dead process": [*TRACE[:17], *TRACE[18:]],
    "a request left open by a dead process": [
        *TRACE[:20],
        *TRACE[22:23],
        ask(),
        RequestBegin(),
        answer(),
        usage(2),
        end(),
    ],
    "a usage left without its end": [*TRACE[:21], ask(), *TRACE[24:]],
}


@pytest.mark.parametrize("name", LENIENT)
def test_lenient_accepts_what_older_writers_do(name: str) -> None:
    assert not check(stamped(LENIENT[name])).ok
    assert check(stamped(LENIENT[name]), dialect="lenient").violations == ()


def test_lenient_does_not_accept_an_open_call_at_an_abort() -> None:
    said = [message for message in ABORTED if not isinstance(message, ToolCallOutput)]
    assert [violation.rule for violation in check(stamped(said), dialect="lenient").violations] == ["11.3b"]


def test_an_undecided_call_of_an_interrupted_request_is_answered_before_the_abort() -> None:
    said = [*TRACE[:19], call("c9"), end("aborted", "user_abort"), output("c9", "", "aborted"), ABORTED[13]]
    assert check(stamped(said), finished=True).ok


def test_a_child_session_of_unknown_name_is_told_once() -> None:
    written = [line.replace(f'["{CHILD}"]'.encode(), b'["me"]') for line in lines(CHILDREN)]
    assert [(violation.line, violation.rule) for violation in check(written).violations] == [(6, "1.5")]


def test_messages_after_an_abort_are_told_once() -> None:
    said = [*ABORTED[:14], answer("one"), answer("two"), *ABORTED[14:]]
    assert [(violation.line, violation.rule) for violation in check(stamped(said)).violations] == [(15, "11.8f")]


def test_an_mcp_round_of_a_dead_process_is_noted() -> None:
    report = check(stamped([*TRACE[:3], ask("Again."), *TRACE[2:]]))
    assert report.ok
    assert [(note.line, note.message) for note in report.notes] == [
        (4, "a dead process left an MCP connect round open")
    ]


def test_a_carry_over_may_be_carried_although_it_was_never_recorded() -> None:
    said = list(LATER)
    said[5] = Text("user", "[turn_aborted]\nHalf.\n[/turn_aborted]", carried=True)
    assert check_session([lines(COMPACTED), lines(said, 100)]).ok


def test_a_copy_that_nobody_answered_is_carried_on() -> None:
    """Two contexts in a row may end before their first answer."""
    head = [said for said in LATER[:6] if not isinstance(said, McpConnectBegin | McpConnectEnd)]
    assert check_session([lines(COMPACTED), lines(head, 100), lines(LATER, 200)], finished=True).ok


@given(sessions())
def test_random_sessions_that_conform_are_accepted(session: Session) -> None:
    for dialect in DIALECTS:
        assert check(stamped(session.stream), "stream", dialect, finished=True) == Report((), ())
        assert check(stamped(session.trace), "trace", dialect, finished=True) == Report((), ())


@given(disturbed(), st.sampled_from(DIALECTS))
def test_a_deleted_doubled_or_swapped_record_never_raises(said: list[Said], dialect: Dialect) -> None:
    report = check(stamped(said), dialect=dialect, finished=True)
    assert [violation.line for violation in report.violations] == sorted(
        violation.line for violation in report.violations
    )


@given(disturbed())
def test_what_strict_accepts_lenient_accepts(said: list[Said]) -> None:
    assert not check(stamped(said)).ok or check(stamped(said), dialect="lenient").ok


UPSTREAM = Path(__file__).parents[3] / "shared" / "traces" / "upstream"
RECORDED = sorted(path for path in UPSTREAM.glob("*/*.jsonl") if path.name != "requests.jsonl")
BREAKS = {
    # The process lives on after the abort, yet the call has neither decision nor output.
    "abort_during_approval/stream": ["11.3b"],
    "abort_during_approval/trace_001": ["11.3b"],
    # A compaction streams fragments without their request events and without the complete text;
    # the context after it streams no tool list.
    "compaction_aborted/stream": ["11.8c"],
    "compaction_discard/stream": ["5.1"],
    "compaction_summarize_boundary/stream": ["11.8c", "4.5", "5.1"],
    "manual_compact/stream": ["11.8c", "4.5", "5.1"],
    # The provider sent no arguments; the complete call says "{}".
    "interleaved_tool_deltas/stream": ["4.4"],
    "tool_no_args/stream": ["4.4"],
    # An assistant message was accepted as input.
    "run_with_assistant_input/trace_001": ["11.8c"],
    # Each delta holds half a surrogate pair, so that the halves do not add up to the complete text.
    "split_surrogate_deltas/stream": ["1.9", "1.9", "4.4"],
    # A person was asked about a tool that does not exist.
    "tool_error/stream": ["11.2d"],
    "tool_error/trace_001": ["11.2d"],
    # Two runs at once: records interleave, the stream shows one run after the other.
    "two_runs_at_once/stream": ["1.4", "5.9", "5.9"],
    "two_runs_at_once/trace_001": ["11.8c"],
}
"""What the recorded files of another implementation really break, in lenient."""
SESSION_BREAKS = {
    **{name.removesuffix("/trace_001"): rules for name, rules in BREAKS.items() if name.endswith("/trace_001")},
    # The session_meta of the later file bears the time of the first.
    "compaction_discard": ["1.4"],
    "compaction_summarize_boundary": ["1.4"],
    "manual_compact": ["1.4"],
    # A run with empty input.
    "run_with_empty_input": ["10.4"],
}


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().removesuffix(b"\n").split(b"\n")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_file_of_another_implementation_breaks_only_what_is_listed(path: Path) -> None:
    report = check(lines_of(path), "stream" if path.stem == "stream" else "trace", "lenient")
    broken = [violation.rule for violation in report.violations]
    assert broken == BREAKS.get(f"{path.parent.name}/{path.stem}", [])


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_line_of_another_implementation_is_readable(path: Path) -> None:
    for line in lines_of(path):
        decode(line)


@pytest.mark.parametrize("folder", sorted({path.parent for path in RECORDED}), ids=lambda path: path.name)
def test_the_files_of_a_recorded_session_break_only_what_is_listed(folder: Path) -> None:
    files = [lines_of(path) for path in sorted(folder.glob("trace_00?.jsonl"))]
    broken = [violation.rule for violation in check_session(files, "lenient").violations]
    assert broken == SESSION_BREAKS.get(folder.name, [])


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_strict_rejects_the_old_dialect_at_the_first_line(path: Path) -> None:
    assert check(lines_of(path)).violations[0].line == 1
