"""A card for each tool call: live while it is written, asked about and run, then a few lines that stay."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, TypeAlias

from penguin_harness.cli.arguments import being_written, decoded, summary
from penguin_harness.cli.diff import changed, diff_lines, is_diff
from penguin_harness.cli.terminal.neutral import neutral_output, one_line
from penguin_harness.cli.terminal.spans import Line, Span, crop, width_of
from penguin_harness.omnimessage import Decision, StopReason

State: TypeAlias = Literal["writing", "waiting", "running", "done"]

TAIL_LINES = 5
_TAIL = 4_000
_INSTANT = 0.05
_HEAD_ROWS, _END_ROWS = 4, 4
_DIFF_ROWS = 30
_EXIT = re.compile(r"\n?\[exit code (\d+)\]\s*\Z")
_MARKS = {"ok": ("✓", "green"), "failed": ("✗", "red"), "refused": ("⊘", "yellow"), "stopped": ("■", "yellow")}


class Card:
    """One call, as far as it has come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments = ""
        self.state: State = "writing"
        self.since = 0.0
        self.decision: Decision | None = None
        self.decided_at: str | None = None
        self.ended_at: str | None = None
        self.output = ""
        self.images = 0
        self.stop_reason: StopReason = "completed"

    def add_output(self, text: str) -> None:
        """Keep the end of what the tool has said so far."""
        self.output = (self.output + text)[-_TAIL:]

    def live_lines(self, spinner: str, now: float) -> list[Line]:
        """How it stands now: its head, and the end of its output."""
        match self.state:
            case "writing":
                rows = being_written(self.arguments)
                count = Span(f"  {len(rows)} lines" if rows else "", "dim")
                return [self._head(Span("✎", "cyan"), count), *map(_body_line, rows[-TAIL_LINES:])]
            case "waiting":
                return [self._head(Span("·", "dim"), Span(""))]
            case "running":
                tail = neutral_output(self.output).rstrip().split("\n")[-TAIL_LINES:] if self.output else []
                elapsed = Span(f" {seconds(now - self.since)}", "dim") if self.since else Span("")
                return [self._head(Span(spinner, "cyan"), elapsed), *map(_body_line, tail)]
            case "done":
                return [self._head(self._mark(), Span(""))]

    def open_line(self) -> Line:
        """What is known of it while nothing more comes."""
        match self.decision:
            case "allow":
                known = "it may have run, nobody knows how far"
            case None:
                known = "not decided yet"
            case "deny" | "forbidden":
                known = "denied"
        return self._head(Span("■", "yellow"), Span(f"  {known}", "yellow"))

    def final_lines(self, width: int | None) -> list[Line]:
        """What stays of it."""
        outcome = self._outcome()
        noted = Span("".join(f"  {note}" for note in (outcome, self._duration()) if note), "dim")
        head = self._head(self._mark(), noted, width)
        return [head, *map(_indented, self._body())]

    def short_line(self, width: int | None) -> Line:
        """What stays of it in a child session."""
        return self._head(self._mark(), Span(f"  {self._duration()}" if self._duration() else "", "dim"), width)

    def _head(self, mark: Span, end: Span, width: int | None = None) -> Line:
        start = [mark, Span(" "), Span(one_line(self.name), "bold")]
        about = [Span(f"  {text}")] if (text := summary(self.arguments)) else []
        room = None if width is None else width - width_of([*start, end])
        return [*start, *crop(about, room), end]

    def _mark(self) -> Span:
        return Span(*_MARKS[self._result()])

    def _result(self) -> Literal["ok", "failed", "refused", "stopped"]:
        if self.decision in {"deny", "forbidden"}:
            return "refused"
        if self.stop_reason == "aborted":
            return "stopped"
        exit_code = _EXIT.search(self.output)
        return "failed" if self.stop_reason != "completed" or (exit_code and exit_code[1] != "0") else "ok"

    def _outcome(self) -> str:
        if is_diff(self.output):
            added, removed = changed(self.output)
            return f"+{added} −{removed}"
        if (content := self._written_text()) is not None:
            return _counted(content.count("\n") + (content[-1:] not in {"", "\n"}), "line")
        exit_code = _EXIT.search(self.output)
        return f"exit code {exit_code[1]}" if exit_code else ""

    def _duration(self) -> str:
        if self.decided_at is None or self.ended_at is None or self._result() == "refused":
            return ""
        try:
            spent = datetime.fromisoformat(self.ended_at) - datetime.fromisoformat(self.decided_at)
        except ValueError:  # a foreign Trace with another notion of time
            return ""
        return seconds(spent.total_seconds()) if spent.total_seconds() >= _INSTANT else ""

    def _body(self) -> list[Line]:
        output = neutral_output(_EXIT.sub("", self.output)).strip("\n")
        is_ok = self._result() == "ok"
        if is_ok and self.images:
            return [[Span(f"[{_counted(self.images, 'image')}]", "dim")]]
        if is_ok and self.name == "read_file":
            return [[Span(_counted(output.count("\n") + 1, "line"), "dim")]]
        if is_diff(self.output):
            return shortened(diff_lines(output), _DIFF_ROWS, 0)
        if (content := self._written_text()) is not None:
            added = "\n".join(f"+{row}" for row in content.rstrip("\n").split("\n"))
            return shortened(diff_lines(added), 2 * _HEAD_ROWS, 0)
        rows: list[Line] = [[Span(row, "dim" if is_ok else "")] for row in output.split("\n")] if output else []
        return shortened(rows, _HEAD_ROWS, _END_ROWS)

    def _written_text(self) -> str | None:
        """The text of a file that was written anew."""
        if self.name != "write_file" or self._result() != "ok" or is_diff(self.output):
            return None
        content = (decoded(self.arguments) or {}).get("content")
        return content if isinstance(content, str) else None


def seconds(spent: float) -> str:
    """A duration for people."""
    if spent < 10:
        return f"{max(spent, 0):.1f} s"
    minutes, rest = divmod(round(spent), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def shortened(rows: list[Line], head: int, end: int) -> list[Line]:
    """The rows without their middle, when that makes them fewer."""
    hidden = len(rows) - head - end
    if hidden <= 1:
        return rows
    return [*rows[:head], [Span(f"… {hidden} more lines", "dim")], *rows[len(rows) - end :]]


def _indented(spans: Line) -> Line:
    return [Span("  │ ", "dim"), *spans]


def _body_line(text: str) -> Line:
    return [Span("  │ ", "dim"), Span(text, "dim")]
