"""One session in a sequence: takes each of its messages to the rules that the message concerns."""

from __future__ import annotations

from collections.abc import Iterator

from penguin_harness.omnimessage.check.calls import Calls
from penguin_harness.omnimessage.check.head import Head
from penguin_harness.omnimessage.check.report import Findings, Surface
from penguin_harness.omnimessage.check.segments import Segments
from penguin_harness.omnimessage.check.tool_list import ToolList
from penguin_harness.omnimessage.check.turns import Turns
from penguin_harness.omnimessage.check.usage import Usage
from penguin_harness.omnimessage.check.values import check_happened, check_meta, check_said, is_timestamp
from penguin_harness.omnimessage.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    EventPayload,
    McpConnectBegin,
    McpConnectEnd,
    RequestBegin,
    RequestEnd,
    Subagent,
    TokenUsage,
    ToolListReady,
)
from penguin_harness.omnimessage.messages import (
    KINDS,
    PARTIALS,
    EventMessage,
    ModelMessage,
    OmniMessage,
    SessionMeta,
    SessionMetaMessage,
    UnknownMessage,
)
from penguin_harness.omnimessage.payloads import (
    ImageUrl,
    InlineData,
    ModelPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    ToolCall,
    ToolCallOutput,
)


class Chain:
    """The state of one session; `origin` is empty for the main one."""

    def __init__(self, findings: Findings, surface: Surface, origin: tuple[str, ...] = ()) -> None:
        self._findings = findings
        self._trace = surface == "trace"
        self._origin = origin
        self._segments = Segments(findings)
        self._calls = Calls(findings)
        self._turns = Turns(findings, surface, self._calls, self._segments, nested=bool(origin))
        self._usage = Usage(findings)
        self._tools = ToolList(findings, needed=self._trace)
        self._head = Head(findings)
        self._last = ""
        self._count = 0
        self._meta: SessionMeta | None = None
        self._metas = 0
        self._rotated = False
        self._children: set[str] = set()

    def feed(self, message: OmniMessage) -> None:
        """Take the session's next message."""
        self._check_place(message)
        if isinstance(message, UnknownMessage):
            self._unknown(message)
            return
        if self._trace:
            self._head.record(message.payload)
        rotated, self._rotated = self._rotated, False
        match message:
            case SessionMetaMessage(payload=meta):
                check_meta(meta, self._findings)
                self._turns.admit(meta)
                self._opened(meta, rotated=rotated)
            case ModelMessage(payload=payload):
                check_said(payload, self._findings)
                if self._turns.admit(payload):
                    self._said(payload)
            case EventMessage(payload=payload):
                check_happened(payload, self._findings)
                if self._turns.admit(payload):
                    self._happened(payload)
        if self._trace and self._head.first:
            self._usage.begin()

    def whole_session(self) -> None:
        """The sequence begins with the session's first file."""
        self._head.known_first()

    def next_file(self) -> None:
        """The session goes on in its next file, which stands for itself."""
        self._turns.next_file()
        self._calls.clear()
        self._tools.new_context()
        self._head.next_file()
        self._metas = 0
        self._rotated = False

    def open(self) -> Iterator[tuple[str, str]]:
        """What is open, as rule and words."""
        yield from self._turns.open()
        if self._tools.open():
            yield "5.3", "an MCP connect round"

    def _check_place(self, message: OmniMessage) -> None:
        if not is_timestamp(message.timestamp):
            self._findings.broken("1.3", f"the timestamp is {message.timestamp!r}")
        else:
            if message.timestamp < self._last:
                self._findings.broken("1.4", f"{message.timestamp} after {self._last}")
            self._last = message.timestamp
        self._count += 1
        if self._count == 1 and self._origin and message.type != "session_meta":
            self._findings.broken("8.1", f"the stream of {self._origin[-1]} begins with {message.payload.type}")
        if self._rotated and self._trace:
            self._findings.broken("2.6", f"{message.payload.type} after the completed compaction of this file")

    def _unknown(self, message: UnknownMessage) -> None:
        if message.type not in KINDS:
            self._findings.broken("1.2", f"the type is {message.type!r}")
        elif self._findings.strict:
            self._findings.note(f"a {message.type} of the unknown type {message.payload.type!r}")

    def _opened(self, meta: SessionMeta, *, rotated: bool) -> None:
        self._metas += 1
        if self._trace and self._metas > 1:
            self._findings.broken("2.5", "a second session_meta")
            return
        self._check_identity(meta)
        if not (self._trace or self._origin) and not self._may_switch(rotated=rotated):
            return
        self._usage.opened(meta.session_usage)
        self._meta = meta
        if self._count > 1 or not self._origin:
            self._new_context()

    def _check_identity(self, meta: SessionMeta) -> None:
        if self._origin and meta.session_id != self._origin[-1]:
            self._findings.broken("8.2", f"the session_meta of {self._origin[-1]} names {meta.session_id!r}")
        elif self._meta is not None and meta.session_id != self._meta.session_id:
            self._findings.broken("2.7", f"session {meta.session_id!r} after {self._meta.session_id!r}")
        elif self._meta is not None and meta.workspace != self._meta.workspace:
            self._findings.broken("2.7", f"workspace {meta.workspace!r} after {self._meta.workspace!r}")

    def _may_switch(self, *, rotated: bool) -> bool:
        left = [words for _, words in self.open()]
        if left:
            self._findings.broken("10.3", f"session_meta while {', '.join(left)} is open")
        elif rotated:
            self._findings.broken("10.3", "session_meta of a context that a compaction opened")
        return not (left or rotated)

    def _new_context(self) -> None:
        self._calls.clear()
        self._tools.new_context()

    def _said(self, payload: ModelPayload) -> None:
        if self._trace and isinstance(payload, PARTIALS):
            self._findings.broken("4.10", f"{payload.type} in a Trace")
            return
        match payload:
            case Text(role="user") | InlineData(role="user") | ImageUrl():
                self._user(payload)
            case PartialToolCallOutput():
                if self._calls.start(payload, joined=self._turns.joined):
                    self._segments.fragment(payload)
            case ToolCallOutput():
                self._segments.complete(payload)
                self._calls.answer(payload, joined=self._turns.joined)
            case PartialText() | PartialThinking() | PartialToolCall():
                self._turns.assistant(payload)
                self._segments.fragment(payload)
            case _:
                self._turns.assistant(payload)
                self._segments.complete(payload)
                if isinstance(payload, ToolCall):
                    self._calls.call(payload, self._tools.offered)

    def _user(self, payload: Text | InlineData | ImageUrl) -> None:
        if self._trace:
            self._head.user(payload, compacting=self._turns.compacting)
        elif payload.carried:
            self._findings.broken("10.2", f"a carried {payload.type} in a stream")
        elif self._turns.compacting and payload.sender is None:
            self._findings.broken("10.6", "the compaction's prompt has no sender")
        self._tools.forget_round()
        self._turns.user(payload)

    def _happened(self, payload: EventPayload) -> None:
        match payload:
            case ToolListReady():
                self._tools.say(payload)
            case McpConnectBegin():
                self._tools.connect(payload)
            case McpConnectEnd():
                self._tools.connected(payload)
                self._turns.end_connect(payload)
            case ApprovalDecision():
                self._calls.decide(payload, joined=self._turns.joined)
            case Subagent(session_id=child):
                self._pointer(child)
            case _:
                self._turned(payload)

    def _turned(self, payload: EventPayload) -> None:
        match payload:
            case RequestBegin():
                self._turns.begin_request()
                self._tools.request()
            case TokenUsage():
                self._turns.use()
                self._usage.completed(payload)
            case RequestEnd():
                self._request_ended(payload)
            case CompactionBegin():
                self._tools.end_round("compaction_begin")
                self._turns.begin_compaction(payload)
            case CompactionEnd():
                self._turns.end_compaction(payload)
                self._compacted(payload)
            case Abort():
                self._tools.end_round("abort")
                self._turns.abort()
            case _:
                pass

    def _request_ended(self, end: RequestEnd) -> None:
        self._turns.end_request(end)
        self._usage.failed(end.usage)
        if end.status == "completed" and not self._turns.compacting:
            self._head.committed()

    def _compacted(self, end: CompactionEnd) -> None:
        if end.status == "completed":
            self._rotated = True
            self._new_context()

    def _pointer(self, child: str) -> None:
        if not self._trace:
            self._findings.broken("10.1", f"the pointer to {child!r} in a stream")
        elif child in self._children:
            self._findings.broken("8.4", f"a second pointer to {child!r}")
        self._children.add(child)
