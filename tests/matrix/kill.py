"""Kill a busy run with SIGKILL at random moments, resume it and go on until its task is done.

`python -m tests.matrix.kill --points 200`. No effect of a tool may be doubled, nothing committed may be missing, and
what the person saw in time must be known.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from penguin_harness import Text, ToolCallOutput
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_lines, read_messages
from tests.matrix.busy import DONE, UNITS, live
from tests.matrix.sweep import Failure, Report

WINDOW = 1.2
"""Seconds in which a process is killed, if it is."""

LIMIT = 60
"""Seconds that a process which is not killed may take."""

PR_SET_CHILD_SUBREAPER = 36


class Killing:
    """Lives and deaths of one session after another, up to a number of kills."""

    def __init__(self, points: int, seed: int) -> None:
        self.tried = 0
        self.moments: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self._points = points
        self._random = random.Random(seed)

    def run(self) -> None:
        """Begin tasks until all points are tried; each is then left to come to its end."""
        while self.tried < self._points and len(self.failures) < 10:
            with tempfile.TemporaryDirectory(prefix="penguin-") as folder:
                (Path(folder) / "work").mkdir()
                self._task(Path(folder))

    def _task(self, folder: Path) -> None:
        life, killed, before = 0, False, b""
        while True:
            life += 1
            delay = self._random.uniform(0, WINDOW) if self.tried < self._points else LIMIT
            status, killed = one_life(folder, life, delay, killed=killed)
            wait_for_orphans()
            point = f"life {life} of the task at point {self.tried}, {delay:.3f} s"
            try:
                assert status != 1, (folder / "failure").read_text()
                assert not killed or delay < LIMIT, "it did not come to its end"
                assert_intact(folder, before)
                if not killed:
                    assert_done(folder)
            except Exception as error:  # noqa: BLE001 - whatever is wrong is this point's failure
                self.failures.append(Failure(point, f"{type(error).__name__}: {str(error)[-1000:]}"))
                return
            self._count(folder, killed=killed)
            if not killed:
                return
            before = trace_bytes(folder)

    def _count(self, folder: Path, *, killed: bool) -> None:
        found = folder / "found"
        if found.exists() and (counts := found.read_text()):  # empty when it was killed while writing it
            seen, recovered = map(int, counts.split())
            self.moments["half messages that were on the screen for 0.14 s"] += seen
            self.moments["half messages recovered"] += recovered
            found.unlink()
        if killed:
            self.tried += 1
            self.moments[f"killed {moment(folder)}"] += 1


def one_life(folder: Path, life: int, delay: float, *, killed: bool) -> tuple[int, bool]:
    """A process of its own, killed after the delay unless it ends before: its exit status, whether it was killed."""
    process = os.fork()
    if process == 0:
        try:
            asyncio.run(live(folder, life, killed=killed))
        except BaseException:  # noqa: BLE001 - the parent reports it
            (folder / "failure").write_text(traceback.format_exc())
            os._exit(1)
        os._exit(0)
    handle = os.pidfd_open(process)
    ended, _, _ = select.select([handle], [], [], delay)
    if not ended:
        os.kill(process, signal.SIGKILL)
    os.close(handle)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), os.WIFSIGNALED(status)


def wait_for_orphans() -> None:
    """Commands outlive a killed process: their effects are there before anybody looks."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def traces(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("session-*.jsonl") if path.stat().st_size]


def trace_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in traces(folder))


def effects(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (folder / "work").glob("u*")}


def moment(folder: Path) -> str:
    """Where in the run it died, as the Trace tells."""
    state = Context()
    for path in traces(folder):
        for message in read_messages(path):
            fold(state, message)
    if state.attempt is None:
        return "before a request"
    if state.attempt.end is None:
        return "in an answer, with tools at work" if running(state) else "in an answer"
    return "behind an answer, with tools at work" if running(state) else "between turns"


def running(state: Context) -> bool:
    return any(call.is_uncertain for call in state.open_calls())


def assert_intact(folder: Path, before: bytes) -> None:
    """Nothing that was on disk is gone, no unit was done twice, and what is told as done was done."""
    assert trace_bytes(folder).startswith(before), "the Trace was changed"
    counts = effects(folder)
    assert not [unit for unit, count in counts.items() if count > 1], f"done twice: {counts}"
    for path in traces(folder):
        for message in read_messages(path):
            if isinstance(message.payload, ToolCallOutput) and message.payload.stop_reason == "completed":
                unit = message.payload.output.rsplit(" ", 1)[-1].strip(".\n")
                assert "absent" in message.payload.output or counts[unit] == 1, message.payload


def assert_done(folder: Path) -> None:
    """The task came to its end: each unit done once, the Trace whole, each half recorded once."""
    assert effects(folder) == {unit: 1 for step in UNITS for unit in step}
    [path] = traces(folder)
    report = check(read_lines(path), "trace", finished=True)
    assert report.violations == (), "\n".join(map(str, report.violations[:5]))
    payloads = [message.payload for message in read_messages(path)]
    said = [payload.text for payload in payloads if isinstance(payload, Text) and payload.role == "assistant"]
    assert said[-1] == DONE
    openings = Counter(text[: text.index(":")] for text in said if ":" in text)
    assert max(openings.values(), default=1) == 1, f"said twice: {openings}"


def main() -> None:
    """Print points tried and failures; exit code 1 when there was one."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix.kill")
    parser.add_argument("--points", type=int, default=200, help="how many times to kill (200)")
    parser.add_argument("--seed", type=int, default=0, help="when to kill")
    given = parser.parse_args()
    if sys.platform != "linux":
        parser.error("this needs Linux, which tells when the orphans of a killed process have ended")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    killing, started = Killing(given.points, given.seed), time.monotonic()
    killing.run()
    for what, count in sorted(killing.moments.items()):
        print(f"{count:6} {what}")
    print(Report("kill", killing.tried, tuple(killing.failures), time.monotonic() - started))
    raise SystemExit(1 if killing.failures else 0)


if __name__ == "__main__":
    main()
