"""`penguin trace verify`: a session's files held to the protocol and its laws, and what a resume would do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path

import msgspec

from penguin_harness.cli.arguments import summary
from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.opening import trace_files
from penguin_harness.cli.options import Json, Lenient
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.engine.closing import Closing
from penguin_harness.laws import Laws
from penguin_harness.omnimessage import (
    CompactionEnd,
    RequestEnd,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    ToolListReady,
    UserContent,
)
from penguin_harness.trace import session_and_number
from penguin_harness.verify import Finding, KnownCall, Resumption, Verification
from penguin_harness.verify import verify as verify_files

_LAWS = {1: "the newest file alone is the whole state", 2: "requests follow from it", 3: "prefixes are legal contexts"}
_SHOWN = 10
_STYLES = {"finished": "green", "refused": "yellow", "not run": "yellow", "uncertain": "bold red", "cut": "yellow"}


def verify(trace: str, *, lenient: Lenient = False, as_json: Json = False) -> int:
    """Check a Trace file, or the whole session that has this in its id, and say what a resume would do.

    Looks at the protocol and at the three laws: the newest file alone is the whole state, requests follow from the
    state, every prefix is a legal context. Writes nothing. Ends with 1 when something is wrong.
    """
    found = verify_files(trace_files(trace), "lenient" if lenient else "strict")
    if as_json:
        report = {"ok": found.ok, **msgspec.to_builtins(found, enc_hook=str)}
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(report)).decode()}\n")
    else:
        screen = screen_for(sys.stdout)
        for line in report_lines(found):
            put_line(screen, line, margin=15 if line[0].text.startswith("  ") else 4) if line else screen.newline()
        screen.close()
    return DONE if found.ok else FAILED


def report_lines(found: Verification) -> Iterator[Line]:
    """The report for people."""
    count = len(found.files)
    yield [Span(one_line(found.session_id), "bold"), Span(f"  {count} file{'' if count == 1 else 's'}", "dim")]
    if found.locked_by is not None:
        yield [Span(f"● being written by {found.locked_by}; below is how far it has come", "cyan")]
    yield []
    yield from _protocol(found)
    yield from _laws(found.laws)
    yield []
    if found.resume is None:
        yield [Span(f"✗ it cannot be resumed: {one_line(found.unreadable or '')}", "red")]
    else:
        yield [Span(_heading(found), "bold")]
        yield from _resume(found.resume)


def _heading(found: Verification) -> str:
    """Whose resume it is: a file may be looked at that is not its session's newest."""
    last = Path(found.files[-1])
    name, number = session_and_number(last)
    others = last.parent.glob(f"{escape(name)}_*.jsonl") if number else ()
    is_newest = all(session_and_number(other)[1] <= number for other in others)
    return "A resume" if is_newest else "A resume, if this file were the newest"


def _protocol(found: Verification) -> Iterator[Line]:
    if not found.violations:
        yield [Span("✓ ", "green"), Span(f"obeys the protocol ({found.dialect})")]
    for violation in found.violations[:_SHOWN]:
        yield [Span("✗ ", "red"), *_place(violation), Span(f" {violation.rule}", "bold"), _words(violation)]
    hidden = len(found.violations) - _SHOWN
    if hidden > 0:
        yield [Span(f"  … {hidden} more: penguin trace check", "dim")]
    for note in found.notes[:_SHOWN]:
        yield [Span("ℹ ", "cyan"), *_place(note), _words(note)]


def _laws(laws: Laws) -> Iterator[Line]:
    counted = {2: f": {_counted(laws.requests, 'request')}", 3: f": {_counted(laws.prefixes, 'prefix')}"}
    broken = {breach.law: breach for breach in laws.breaches}
    for law, words in _LAWS.items():
        breach = broken.get(law)
        if breach is None:
            yield [Span("✓ ", "green"), Span(f"Law {law}, {words}"), Span(counted.get(law, ""), "dim")]
        else:
            place = f"{_name(breach.path)}:{breach.line}"
            yield [Span("✗ ", "red"), Span(f"Law {law}, {words}: "), Span(place, "dim"), Span(f" {breach.message}")]


def _resume(resume: Resumption) -> Iterator[Line]:
    yield _row("goes on in", f"{_name(resume.path)}, with {resume.provider} / {resume.model_id}")
    yield _row("works in", resume.workspace)
    yield _row("committed", f"{_counted(resume.committed, 'message')} in {_counted(resume.turns, 'turn')}")
    yield _row("unanswered", _counted(resume.unsent, "message") if resume.unsent else "nothing")
    opened = [what for what, is_open in _opened(resume) if is_open]
    yield _row("open", ", ".join(opened) or "nothing")
    if any(not call.answered for call in resume.calls):
        yield from (_call(call) for call in resume.calls)
    for skipped in resume.skipped[:_SHOWN]:
        yield [
            *_label("skips"),
            Span(f"line {skipped.line} of {skipped.path.name}: {one_line(skipped.reason)}", "yellow"),
        ]
    yield from _written(resume)


def _opened(resume: Resumption) -> Sequence[tuple[str, bool]]:
    return (
        ("a request", resume.open_request),
        ("a compaction", resume.open_compaction),
        (
            _counted(sum(not call.answered for call in resume.calls), "tool call"),
            any(not c.answered for c in resume.calls),
        ),
    )


def _written(resume: Resumption) -> Iterator[Line]:
    """What the next run writes before its input."""
    records = [*map(_head, resume.head), *map(_closing, resume.closing)]
    if resume.next_file:
        records.insert(0, "session_meta of the next file")
    label = "writes first"
    for record in records or ["nothing"]:
        yield _row(label, record)
        label = ""


def _call(call: KnownCall) -> Line:
    about = summary(call.arguments)
    return [
        *_label(""),
        Span(f"{call.effect:<9}", _STYLES[call.effect]),
        Span(f" {one_line(call.name)}"),
        Span(f"  {about}", "dim"),
    ]


def _head(payload: ToolListReady | UserContent) -> str:
    words = f": {one_line(payload.text[:60])}" if isinstance(payload, Text) else ""
    return f"{payload.type}{words}"


def _closing(payload: Closing) -> str:
    match payload:
        case ToolCallOutput(tool_call_id=call, output=output, stop_reason=reason):
            return f"{payload.type} {one_line(call)}, {reason}: {one_line(output)}"
        case RequestEnd() | CompactionEnd():
            return f"{payload.type}, {payload.status}{f' ({payload.error_code})' if payload.error_code else ''}"
        case Text() | Thinking() | ToolCall():
            return f"{payload.type}, {payload.stop_reason}: as far as it was shown"


def _place(finding: Finding) -> Line:
    return [Span(f"{_name(finding.path)}:{finding.line}", "dim")]


def _words(finding: Finding) -> Span:
    return Span(f" {one_line(finding.message)}")


def _name(path: str) -> str:
    return one_line(path).rpartition("/")[2]


def _counted(count: int, what: str) -> str:
    plural = "es" if what.endswith("x") else "s"
    return f"{count:,} {what}{'' if count == 1 else plural}"


def _row(label: str, text: str) -> Line:
    return [*_label(label), Span(one_line(text))]


def _label(label: str) -> Line:
    return [Span(f"  {label:<13}", "dim")]
