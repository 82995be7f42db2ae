"""`penguin trace`: look at Traces, and check them against the protocol."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from cyclopts import App, Parameter
from msgspec import Struct

from penguin_harness.cli.console import DONE, FAILED, say, write_line
from penguin_harness.cli.options import Json
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.errors import TraceError
from penguin_harness.omnimessage import encode
from penguin_harness.omnimessage.check import Checker, Dialect
from penguin_harness.state.paths import agent_paths
from penguin_harness.trace import Skipped, find_session, read_lines, read_messages

app = App(name="trace", help="Look at Traces and check them.")

STDIN = Path("-")
_NUMBERED = re.compile(r"(.+)_(\d{3,})\.jsonl")
Place: TypeAlias = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Raw: TypeAlias = Annotated[bool, Parameter(negative="", help="The lines as they lie in the file.")]
Lenient: TypeAlias = Annotated[bool, Parameter(negative="", help="Let files of other and older writers pass.")]


@app.command
def show(trace: str, *, as_json: Json = False, raw: Raw = False) -> None:
    """Show a Trace file, or the whole session that has this in its id.

    With --json the readable messages, one a line, in today's spelling.
    """
    paths = _files(trace)
    if raw:
        for path in paths:
            for line in read_lines(path):
                write_line(line)
        return
    skipped: list[Skipped] = []
    if as_json:
        for path in paths:
            for message in read_messages(path, skipped):
                write_line(encode(message))
    else:
        renderer = Renderer(screen_for(sys.stdout))
        for path in paths:
            for message in read_messages(path, skipped):
                renderer.show(message)
        renderer.close()
        renderer.screen.close()
    for problem in skipped:
        say(f"skipped {problem}")


class Finding(Struct, frozen=True):
    """A violation or a note, with its place."""

    path: str
    line: int
    message: str
    rule: str | None = None
    text: str | None = None
    """The rule's sentence; none on a note."""


@app.command
def check(*traces: Place, lenient: Lenient = False, as_json: Json = False) -> int:
    """Check Trace files, or all of a folder, or `-` for standard input, against the protocol.

    Ends with 1 when a rule is broken, and with 2 when a file cannot be read.
    """
    if not traces:
        raise TraceError("nothing to check: name a Trace file, a folder, or - for standard input")
    groups = [group for trace in traces for group in _groups(trace)]
    findings = [finding for group in groups for finding in check_files(group, "lenient" if lenient else "strict")]
    broken = [finding for finding in findings if finding.rule is not None]
    notes = [finding for finding in findings if finding.rule is None]
    files = sum(map(len, groups))
    if as_json:
        report = {"ok": not broken, "files": files, "violations": broken, "notes": notes}
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(report)).decode()}\n")
    else:
        for finding in findings:
            word = finding.rule or "note:"
            sys.stdout.write(f"{one_line(finding.path)}:{finding.line}: {word} {one_line(finding.message)}\n")
        sys.stdout.write(f"{_summary(files, broken)}\n")
    return FAILED if broken else DONE


def check_files(paths: list[Path], dialect: Dialect) -> list[Finding]:
    """Check the files of one session, in order. Raises TraceError when one cannot be read."""
    checker = Checker(None if len(paths) == 1 else "trace", dialect)
    if len(paths) > 1 and _number(paths[0]) == 1:
        checker.whole_session()
    for number, path in enumerate(paths):
        if number:
            checker.next_file()
        for line in _lines(path):
            checker.feed_line(line)
    report = checker.report()
    broken = [Finding(str(paths[v.file - 1]), v.line, v.message, v.rule, v.text) for v in report.violations]
    return [*broken, *(Finding(str(paths[note.file - 1]), note.line, note.message) for note in report.notes)]


def _files(trace: str) -> list[Path]:
    path = Path(trace)
    if path.is_file() or "/" in trace or trace.endswith(".jsonl"):
        return [path]
    return list(find_session(agent_paths().traces, trace).paths)


def _groups(trace: Path) -> list[list[Path]]:
    """The files of a folder, session by session; anything else is one file."""
    if trace == STDIN or not trace.is_dir():
        return [[trace]]
    sessions: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(trace.rglob("*.jsonl")):
        named = _NUMBERED.fullmatch(path.name)
        sessions.setdefault((path.parent, named[1] if named else path.name), []).append(path)
    if not sessions:
        raise TraceError(f"no *.jsonl file is in {trace}")
    return [sorted(paths, key=_number) for paths in sessions.values()]


def _number(path: Path) -> int:
    named = _NUMBERED.fullmatch(path.name)
    return int(named[2]) if named else 0


def _lines(path: Path) -> Iterator[bytes]:
    if path != STDIN:
        return read_lines(path)
    return (line.removesuffix(b"\n") for line in sys.stdin.buffer)


def _summary(files: int, broken: Iterable[Finding]) -> str:
    count = len([*broken])
    what = f"{files} file{'' if files == 1 else 's'}"
    return f"{what}: {count} violation{'' if count == 1 else 's'}" if count else f"{what}: conforms"
