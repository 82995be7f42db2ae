"""The head of a Trace file, and what a later file takes over from the one before (sections 2, 10 and 13)."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from penguin_harness.omnimessage.check.kinds import Said, is_user_content
from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.events import (
    Abort,
    McpConnectBegin,
    McpConnectEnd,
    RequestBegin,
    ToolListReady,
)
from penguin_harness.omnimessage.markers import content_of
from penguin_harness.omnimessage.messages import SessionMeta
from penguin_harness.omnimessage.payloads import Text, UserContent


class Head:
    """Where a Trace file stands in its head; told of every record."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: Literal["first", "later"] | None = None
        self._before: tuple[UserContent, ...] | None = None
        self._unanswered: list[UserContent] = []
        self._begin()

    def _begin(self) -> None:
        self._records = 0
        self._listed = False
        self._over = False
        self.later = False
        """Whether the file begins as a later one."""

    @property
    def first(self) -> bool:
        """Whether the file begins as a session's first one."""
        return self._records > 1 and not self.later

    def known_first(self) -> None:
        """The whole session is checked, and this is its first file."""
        self._known = "first"

    def next_file(self) -> None:
        """The session goes on in its next file."""
        self._known = "later"
        self._before = tuple(self._unanswered)
        self._unanswered.clear()
        self._begin()

    def record(self, payload: Said) -> None:
        """The file's next record."""
        self._records += 1
        if self._records == 1:
            self._first_record(payload)
        elif self._records == 2:
            self._second_record(payload)
        elif self.later and not (self._listed or self._over):
            self._later_record(payload)
        match payload:
            case ToolListReady():
                self._listed = True
            case RequestBegin() | Abort():
                self._over = True
            case _:
                pass

    def user(self, payload: UserContent, *, compacting: bool) -> None:
        """User content: where copies may stand, and who sends what the harness writes."""
        if payload.carried:
            self._carried(payload)
        summary = self.later and not self._over and isinstance(payload, Text) and _is_summary(payload)
        if (compacting and payload.sender is None) or (summary and payload.sender != "harness"):
            self._findings.broken("10.6", f"the sender of {_short(payload)} is {payload.sender!r}")
        if not compacting:
            self._unanswered.append(replace(payload, carried=False))  # a copy may be carried on

    def committed(self) -> None:
        """A turn is committed, so what was said before it is answered."""
        self._unanswered.clear()

    def _first_record(self, payload: Said) -> None:
        if not isinstance(payload, SessionMeta):
            self._findings.broken("2.1", f"the file begins with {payload.type}")
            self._over = True

    def _second_record(self, payload: Said) -> None:
        if isinstance(payload, SessionMeta) or self._over:
            return
        self.later = isinstance(payload, McpConnectBegin | ToolListReady)
        if self._known == "later" and not self.later:
            self._findings.broken("10.5", f"{payload.type} follows the session_meta of a later file")
        elif self._known == "first" and self.later:
            self._findings.broken("10.4", f"{payload.type} follows the session_meta of the first file")
        elif not self.later and not is_user_content(payload):
            self._findings.broken("10.4", f"{payload.type} follows the session_meta")
        self.later = self.later or self._known == "later"
        self._over = self.later and not isinstance(payload, McpConnectBegin | ToolListReady)

    def _later_record(self, payload: Said) -> None:
        if not isinstance(
            payload, SessionMeta | McpConnectBegin | McpConnectEnd | ToolListReady | RequestBegin | Abort
        ):
            self._findings.broken("10.5", f"{payload.type} comes before the tool list of a later file")
            self._over = True

    def _carried(self, payload: UserContent) -> None:
        if self._over or not (self.later and self._listed):
            self._findings.broken("3.6", f"{_short(payload)} is carried outside the head of a later file")
        elif self._before is not None and not self._is_copy(payload, self._before):
            self._findings.broken("13.1", f"no unanswered {_short(payload)} in the file before")

    def _is_copy(self, payload: UserContent, before: tuple[UserContent, ...]) -> bool:
        """A carry-over was never recorded before: the fold derives it."""
        derived = isinstance(payload, Text) and _is_carry_over(payload)
        return derived or replace(payload, carried=False) in before


def _is_summary(payload: Text) -> bool:
    return content_of("context_summary", payload.text) is not None


def _is_carry_over(payload: Text) -> bool:
    return any(content_of(name, payload.text) is not None for name in ("turn_aborted", "turn_retried"))


def _short(payload: UserContent) -> str:
    content = payload.text if isinstance(payload, Text) else payload.type
    return repr(content[:60])
