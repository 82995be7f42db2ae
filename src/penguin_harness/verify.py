"""Whether a session's files are sound, and what a resume would make of them. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from penguin_harness.contracts import Half, Place
from penguin_harness.engine.attempt import OpenCall
from penguin_harness.engine.closing import Closing, closing_messages
from penguin_harness.engine.head import next_head
from penguin_harness.errors import TraceError
from penguin_harness.laws import Laws, check_laws
from penguin_harness.omnimessage import ToolListReady, UserContent
from penguin_harness.omnimessage.check import Checker, Dialect
from penguin_harness.opening import Opened, read_context
from penguin_harness.trace import SessionFiles, Skipped, read_lines, session_and_number
from penguin_harness.trace.entries import halves_at, read_entries
from penguin_harness.trace.lock import lock_holder

Effect: TypeAlias = Literal["finished", "refused", "not run", "uncertain", "cut"]
"""What is known of a call's effect. `uncertain`: it was allowed, and nobody knows how far it came."""


class Finding(Struct, frozen=True):
    """A violation of the protocol or a note, with its place."""

    path: str
    line: int
    message: str
    rule: str | None = None
    text: str | None = None
    """The rule's sentence; none on a note."""


class KnownCall(Struct, frozen=True):
    """A call of the newest request, in the ledger of effects."""

    tool_call_id: str
    name: str
    arguments: str
    effect: Effect
    answered: bool


class Resumption(Struct, frozen=True):
    """What a resume would find, and what its first run would write before anything else."""

    path: str
    provider: str
    model_id: str
    workspace: str
    committed: int
    """Messages of the context that an answer covers."""
    unsent: int
    """Messages that the model has not answered."""
    turns: int
    open_request: bool
    open_compaction: bool
    calls: tuple[KnownCall, ...]
    head: tuple[ToolListReady | UserContent, ...]
    """What a crash left out of the head of a context: all of it when `next_file`."""
    next_file: bool
    """A compaction is complete, and its next file is not begun."""
    closing: tuple[Closing, ...]
    skipped: tuple[Skipped, ...]
    """Lines that cannot be read."""


class Verification(Struct, frozen=True):
    """Everything about the files of a session."""

    session_id: str
    files: tuple[str, ...]
    dialect: Dialect
    violations: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    laws: Laws
    resume: Resumption | None
    unreadable: str | None = None
    """Why a resume would fail."""
    locked_by: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong. That something is open, torn at its end or locked is nothing wrong."""
        return not self.violations and not self.laws.breaches and self.resume is not None


def verify(paths: Sequence[Path], dialect: Dialect = "strict") -> Verification:
    """Look at the files of one session, in order. Raises TraceError when one cannot be read at all."""
    findings = check_files(paths, dialect)
    session_id, _ = session_and_number(paths[-1])
    resume = unreadable = None
    try:
        resumed = read_context(SessionFiles(session_id, tuple(paths)))
    except TraceError as error:
        laws, unreadable = check_laws(paths), str(error)
    else:
        laws, resume = check_laws(paths[: paths.index(resumed.path) + 1]), _resumption(resumed)
        session_id = resumed.meta.session_id
    return Verification(
        session_id,
        tuple(map(str, paths)),
        dialect,
        tuple(finding for finding in findings if finding.rule is not None),
        tuple(finding for finding in findings if finding.rule is None),
        laws,
        resume,
        unreadable,
        lock_holder(paths[0].with_name(f"{session_id}.lock")),
    )


def check_files(paths: Sequence[Path], dialect: Dialect) -> list[Finding]:
    """Hold the files of one session, in order, to the protocol. Raises TraceError when one cannot be read."""
    return check_lines(
        [(str(path), read_lines(path)) for path in paths], dialect, whole=session_and_number(paths[0])[1] == 1
    )


def check_lines(files: Sequence[tuple[str, Iterator[bytes]]], dialect: Dialect, *, whole: bool) -> list[Finding]:
    """Hold named files to the protocol; `whole` when the first of several is the first of its session."""
    checker = Checker(None if len(files) == 1 else "trace", dialect)
    if len(files) > 1 and whole:
        checker.whole_session()
    for number, (_, lines) in enumerate(files):
        if number:
            checker.next_file()
        for line in lines:
            checker.feed_line(line)
    report = checker.report()
    broken = [Finding(files[v.file - 1][0], v.line, v.message, v.rule, v.text) for v in report.violations]
    return [*broken, *(Finding(files[note.file - 1][0], note.line, note.message) for note in report.notes)]


def _resumption(resumed: Opened) -> Resumption:
    context, meta = resumed.context, resumed.meta
    attempt = context.attempt
    owed = resumed.owed
    if context.compacted is not None:
        owed = [*next_head(context).all(context.tools or ())]
    return Resumption(
        str(resumed.path),
        meta.provider,
        meta.model_id,
        meta.workspace,
        context.committed,
        len(context.request_messages()) - context.committed,
        context.turns,
        attempt is not None and attempt.end is None,
        context.compaction is not None,
        tuple(map(_known, attempt.calls.values())) if attempt is not None else (),
        tuple(record.payload for record in owed),
        context.compacted is not None,
        tuple(closing_messages(context, _halves(resumed))),
        tuple(resumed.skipped),
    )


def _halves(resumed: Opened) -> list[Half]:
    """What the tail journal knows of what is open."""
    tail, context = resumed.path.with_name(f"{resumed.meta.session_id}.tail"), resumed.context
    if not tail.exists():
        return []
    content = len(context.attempt.content) if context.attempt else 0
    return halves_at(Place(resumed.path.name, context.requests, content), read_entries(read_lines(tail)))


def _known(call: OpenCall) -> KnownCall:
    said = call.call
    return KnownCall(said.tool_call_id, said.name, said.arguments, _effect(call), call.output is not None)


def _effect(call: OpenCall) -> Effect:
    if call.is_cut:
        return "cut"
    if call.decision in {"deny", "forbidden"}:
        return "refused"
    if call.output is not None:
        return "finished"
    return "uncertain" if call.decision == "allow" else "not run"
