"""`penguin trace`: look at Traces, and check them against the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from cyclopts import App, Parameter

from penguin_harness.cli.console import DONE, FAILED, say, write_line
from penguin_harness.cli.opening import trace_files
from penguin_harness.cli.options import Json, Lenient
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.trace_cost import trace_cost
from penguin_harness.cli.trace_replay import replay
from penguin_harness.cli.trace_verify import verify
from penguin_harness.errors import TraceError
from penguin_harness.omnimessage import encode
from penguin_harness.omnimessage.check import Dialect
from penguin_harness.trace import Skipped, read_lines, read_messages
from penguin_harness.verify import Finding, check_files, check_lines, session_and_number

app = App(name="trace", help="Look at Traces and check them.")
app.command(verify)
app.command(replay)
app.command(trace_cost, name="cost")

STDIN = Path("-")
Place: TypeAlias = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Raw: TypeAlias = Annotated[bool, Parameter(negative="", help="The lines as they lie in the file.")]


@app.command
def show(trace: str, *, as_json: Json = False, raw: Raw = False) -> None:
    """Show a Trace file, or the whole session that has this in its id.

    With --json the readable messages, one a line, in today's spelling.
    """
    paths = trace_files(trace)
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


@app.command
def check(*traces: Place, lenient: Lenient = False, as_json: Json = False) -> int:
    """Check Trace files, or all of a folder, or `-` for standard input, against the protocol.

    Ends with 1 when a rule is broken, and with 2 when a file cannot be read.
    """
    if not traces:
        raise TraceError("nothing to check: name a Trace file, a folder, or - for standard input")
    groups = [group for trace in traces for group in _groups(trace)]
    findings = [finding for group in groups for finding in _check(group, "lenient" if lenient else "strict")]
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


def _groups(trace: Path) -> list[list[Path]]:
    """The files of a folder, session by session; anything else is one file."""
    if trace == STDIN or not trace.is_dir():
        return [[trace]]
    sessions: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(trace.rglob("*.jsonl")):
        sessions.setdefault((path.parent, session_and_number(path)[0]), []).append(path)
    if not sessions:
        raise TraceError(f"no *.jsonl file is in {trace}")
    return [sorted(paths, key=session_and_number) for paths in sessions.values()]


def _check(paths: list[Path], dialect: Dialect) -> list[Finding]:
    if paths != [STDIN]:
        return check_files(paths, dialect)
    lines = (line.removesuffix(b"\n") for line in sys.stdin.buffer)
    return check_lines([(str(STDIN), lines)], dialect, whole=False)


def _summary(files: int, broken: Iterable[Finding]) -> str:
    count = len([*broken])
    what = f"{files} file{'' if files == 1 else 's'}"
    return f"{what}: {count} violation{'' if count == 1 else 's'}" if count else f"{what}: conforms"
