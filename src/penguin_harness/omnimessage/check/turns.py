"""Requests, compactions and aborts: what is open, and in which order it closes (sections 7 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penguin_harness.omnimessage.check.calls import Calls
from penguin_harness.omnimessage.check.kinds import Said, begins, continues, is_model, name_of
from penguin_harness.omnimessage.check.report import Findings, Surface
from penguin_harness.omnimessage.check.segments import Segments
from penguin_harness.omnimessage.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    Hook,
    McpConnectEnd,
    RequestEnd,
    Subagent,
    TokenUsage,
)
from penguin_harness.omnimessage.messages import PARTIALS
from penguin_harness.omnimessage.payloads import ModelPayload, PartialToolCallOutput, ToolCallOutput


@dataclass
class _Request:
    sure: bool = True
    """False when no `request_begin` was seen, or when something stood in it that ends requests."""
    usage: bool = False
    closing: bool = False
    """Its `token_usage` came, so `request_end` is next."""


class Turns:
    """The requests and compactions of one session."""

    def __init__(
        self, findings: Findings, surface: Surface, calls: Calls, segments: Segments, *, nested: bool = False
    ) -> None:
        self._findings = findings
        self._surface = surface
        self._shows_abort = surface == "stream" and not nested  # a Trace may lack it by a crash, a child by its parent
        self._calls = calls
        self._segments = segments
        self._request: _Request | None = None
        self._compaction: CompactionBegin | None = None
        self._silent = False
        self._told = False
        self._failed = False
        self._interrupted = False
        self.joined = surface == "stream"
        """Whether what is open may have begun before the sequence: a run may close what a dead process left."""

    @property
    def compacting(self) -> bool:
        """Whether a compaction is open."""
        return self._compaction is not None

    def admit(self, payload: Said) -> bool:
        """Look at a message before its own rules; False when it belongs to a run that is over."""
        if self._silent and continues(payload):
            if not self._told:
                self._findings.broken("11.8f", f"{name_of(payload)} after abort")
            self._told = True
            return False
        self._silent = False
        if self._request is not None and self._request.closing:
            self._after_usage(self._request, payload)
        if self._interrupted and begins(payload):
            self._findings.broken("7.3", f"{name_of(payload)} after an interruption without its abort")
            self._interrupted = False
        if not isinstance(payload, Abort):
            self._failed = False
        return True

    def assistant(self, payload: ModelPayload) -> None:
        """The model says something."""
        if self._request is None:
            closes = self.joined and not isinstance(payload, PARTIALS) and payload.stop_reason == "aborted"
            if not closes:
                self._findings.broken("11.8c", f"{payload.type} outside a request")
            self._request = _Request(sure=False)

    def user(self, payload: ModelPayload) -> None:
        """The user, or who speaks for them, says something."""
        self.joined = False
        if self._request is not None and self._findings.strict:
            self._findings.broken("11.8d", f"{payload.type} of the user inside a request")
            self._request.sure = False
        else:
            self._settle("a user message", "11.8d")

    def begin_request(self) -> None:
        """A request begins."""
        self.joined = False
        self._settle("request_begin", "11.8a")
        self._request = _Request()

    def use(self) -> None:
        """A request tells what it cost."""
        if self._request is None:
            self._findings.broken("11.8c", "token_usage outside a request")
            return
        self._segments.end_model("token_usage")
        if self._request.usage:
            self._findings.broken("11.4a", "a second token_usage in one request")
        self._request.usage = self._request.closing = True

    def end_request(self, end: RequestEnd) -> None:
        """A request ends."""
        self._segments.end_model("request_end")
        if self._request is None:
            if not self.joined:
                self._findings.broken("11.8a", "request_end without its begin")
        elif self._request.sure:
            if end.status == "completed" and not self._request.usage:
                self._findings.broken("11.4b", "a completed request without token_usage")
            elif end.status != "completed" and self._request.usage:
                self._findings.broken("11.4c", f"token_usage in a request that ended {end.status}")
        self._request = None
        self._calls.request_ended(end.status)
        self._ended(end)
        final = end.status == "fatal" or (end.status == "retryable" and end.retry_in_ms is None)
        self._failed = final and not self._calls.owing()

    def begin_compaction(self, begin: CompactionBegin) -> None:
        """A compaction begins."""
        self.joined = False
        self._settle("compaction_begin", "11.8e")
        if self._compaction is not None:
            self._findings.broken("11.8b", "compaction_begin while a compaction is open")
        self._compaction = begin

    def end_compaction(self, end: CompactionEnd) -> None:
        """A compaction ends."""
        self._settle("compaction_end", "11.8e")
        begin = self._compaction
        if begin is None:
            if not self.joined:
                self._findings.broken("11.8b", "compaction_end without its begin")
        elif (begin.reason, begin.mode) != (end.reason, end.mode):
            self._findings.broken("5.10", f"{end.reason} {end.mode} ends {begin.reason} {begin.mode}")
        self._compaction = None
        self._ended(end)

    def end_connect(self, end: McpConnectEnd) -> None:
        """Connecting ended, perhaps because the user interrupted it."""
        self._ended(end)

    def abort(self) -> None:
        """The user interrupted: the run is over."""
        self.joined = False
        if self._failed and self._surface == "trace":
            self._findings.broken("7.2", "abort after a request that failed")
        if not self._close_all("abort", "11.8e") and self._compaction is not None:
            self._findings.broken("11.8e", "abort while a compaction is open")
        self._compaction = None
        self._interrupted = False
        self._silent, self._told = True, False

    def open(self) -> Iterator[tuple[str, str]]:
        """What is open, as rule and words."""
        for segment in self._segments.open():
            yield "4.9", segment
        if self._request is not None and self._request.sure:
            yield "11.8a", "a request"
        owing = self._calls.owing()
        if owing:
            yield "11.3b", f"the calls {', '.join(map(repr, owing))}"
        if self._compaction is not None:
            yield "11.8b", "a compaction"
        if self._interrupted:
            yield "7.3", "an interruption"

    def next_file(self) -> None:
        """The session goes on in a file where nothing is open."""
        self._forget()
        self._compaction = None
        self._interrupted = self._failed = self._silent = False

    def _settle(self, before: str, rule: str) -> None:
        """A request, its segments and calls must be over here; files of other writers need not close for the dead."""
        if self._findings.strict:
            self._close_all(before, rule)
            return
        left = [words for rule, words in self.open() if rule in {"4.9", "11.8a", "11.3b"}]
        if left:
            self._findings.note(f"a dead process left open: {', '.join(left)}")
        self._forget()

    def _close_all(self, before: str, rule: str) -> bool:
        """Close what is open and report the innermost of it; whether something was."""
        reported = self._segments.end_all(before)
        if not reported and self._request is None:
            reported = self._calls.settle(before)
        elif not reported and self._request is not None and self._request.sure:
            self._findings.broken(rule, f"{before} while a request is open")
            reported = True
        self._forget()
        return reported

    def _forget(self) -> None:
        self._segments.clear()
        if self._request is not None:
            self._request = None
            self._calls.request_ended("aborted")
        self._calls.give_up()

    def _ended(self, end: RequestEnd | CompactionEnd | McpConnectEnd) -> None:
        if end.status == "aborted" and end.error_code != "process_exited":
            self._interrupted = self._shows_abort

    def _after_usage(self, request: _Request, payload: Said) -> None:
        """Only the request's end may follow; in files of other writers a tool, or a new run, may come between."""
        if isinstance(payload, RequestEnd | PartialToolCallOutput):
            return
        tool = isinstance(payload, ToolCallOutput | ApprovalDecision | Subagent | Hook)
        if not self._findings.strict and (tool or not is_model(payload)):
            return
        request.closing = False
        if isinstance(payload, TokenUsage):
            return
        self._findings.broken("11.4a", f"{name_of(payload)} between token_usage and request_end")
        if not (tool or is_model(payload)):
            self._segments.clear()
            self._request = None
            self._calls.request_ended("completed")
