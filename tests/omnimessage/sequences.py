"""Conforming sequences, as the payloads that a session says one after the other; tests stamp or break them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Raw, Struct

from penguin_harness.omnimessage import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    EventMessage,
    EventPayload,
    Hook,
    McpConnectBegin,
    McpConnectEnd,
    McpResult,
    ModelMessage,
    ModelPayload,
    OmniMessage,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    SessionMetaMessage,
    StopReason,
    Subagent,
    Text,
    Thinking,
    TokenCounts,
    TokenUsage,
    ToolCall,
    ToolCallOutput,
    ToolListReady,
    ToolSchema,
    encode,
)

MAIN = "session-2026-12-01-09-00-00-0123abcd"
CHILD = "session-2026-12-01-09-00-01-4567cdef"
PIXEL = "data:image/png;base64,AAAA"


class Of(Struct):
    """A payload said by a child session."""

    origin: tuple[str, ...]
    payload: SessionMeta | ModelPayload | EventPayload


Said: TypeAlias = SessionMeta | ModelPayload | EventPayload | Of


def at(millisecond: int) -> str:
    return f"2026-12-01T09:00:{millisecond // 1000:02d}.{millisecond % 1000:03d}Z"


def stamped(said: Iterable[Said], start: int = 0) -> list[OmniMessage]:
    return [_message(payload, at(start + number)) for number, payload in enumerate(said)]


def lines(said: Iterable[Said], start: int = 0) -> list[bytes]:
    return [encode(message) for message in stamped(said, start)]


def _message(said: Said, timestamp: str) -> OmniMessage:
    origin, payload = (said.origin, said.payload) if isinstance(said, Of) else (None, said)
    if isinstance(payload, SessionMeta):
        return SessionMetaMessage(timestamp, payload, origin)
    if isinstance(payload, EventPayload):
        return EventMessage(timestamp, payload, origin)
    return ModelMessage(timestamp, payload, origin)


def meta(session: str = MAIN, **usage: int) -> SessionMeta:
    totals = TokenCounts.of(**usage) if usage else None
    return SessionMeta(session, "custom", "fake", 128000, "You help.", "/agents/a", "/work", session_usage=totals)


def ask(text: str = "Look.") -> Text:
    return Text("user", text)


def harness(text: str) -> Text:
    return Text("user", text, sender="harness")


def answer(text: str = "Done.", stop: StopReason = "completed") -> Text:
    return Text("assistant", text, stop_reason=stop)


def call(tool_call_id: str, arguments: str = "{}", stop: StopReason = "completed", name: str = "look") -> ToolCall:
    return ToolCall("assistant", name, arguments, tool_call_id, stop)


def output(
    tool_call_id: str, text: str = "ok", stop: StopReason = "completed", images: tuple[str, ...] | None = None
) -> ToolCallOutput:
    return ToolCallOutput("user", text, tool_call_id, images, stop)


def tools(*names: str) -> ToolListReady:
    schemas = [ToolSchema(name, "A tool.", Raw(b'{"type": "object"}')) for name in names or ("look", "touch")]
    return ToolListReady(tuple(schemas))


def usage(requests: int, *, extra: int = 0) -> TokenUsage:
    """The nth request's usage, ten tokens each, and what failed attempts cost besides."""
    return TokenUsage(TokenCounts.of(cache_write=10 * requests + extra), TokenCounts.of(cache_write=10))


def end(status: StopReason = "completed", code: str | None = None, **more: int) -> RequestEnd:
    message = "It broke." if status in {"retryable", "fatal"} else None
    return RequestEnd(status, code, message, more.get("attempt"), more.get("retry_in_ms"))


def text_segment(*pieces: str, stop: StopReason = "completed") -> list[Said]:
    deltas = [PartialText("assistant", "delta", piece) for piece in pieces]
    opening, closing = PartialText("assistant", "start", ""), PartialText("assistant", "stop", "", stop)
    return [opening, *deltas, closing, answer("".join(pieces), stop)]


def thinking_segment(text: str) -> list[Said]:
    fragments = [
        PartialThinking("assistant", kind, text if kind == "delta" else "") for kind in ("start", "delta", "stop")
    ]
    return [*fragments, Thinking("assistant", text, fidelity=Raw(b'{"signature": 1.0}'))]


def call_segment(tool_call_id: str, arguments: str = "{}", stop: StopReason = "completed") -> list[Said]:
    return [
        PartialToolCall("assistant", "start", "look", "", tool_call_id),
        PartialToolCall("assistant", "delta", "look", arguments, tool_call_id),
        PartialToolCall("assistant", "stop", "look", "", tool_call_id, stop),
        call(tool_call_id, arguments, stop),
    ]


def output_segment(tool_call_id: str, text: str = "ok", images: tuple[str, ...] | None = None) -> list[Said]:
    return [
        PartialToolCallOutput("user", "start", "", tool_call_id),
        PartialToolCallOutput("user", "delta", text, tool_call_id),
        PartialToolCallOutput("user", "delta", "", tool_call_id, images),
        PartialToolCallOutput("user", "stop", "", tool_call_id),
        output(tool_call_id, text, images=images),
    ]


CONNECTED = McpResult("files", "stdio", "completed", 12, 1)

TRACE: list[Said] = [
    meta(),  # 1
    ask(),
    McpConnectBegin(("files", "mail")),  # 3
    McpConnectEnd(
        "fatal",
        (CONNECTED, McpResult("mail", "http", "fatal", 3, None, "connect_failed", "No.")),
        "connect_failed",
        "No.",
    ),
    tools(),  # 5
    RequestBegin(),
    Thinking("assistant", "Hm.", fidelity=Raw(b'{"signature": 1.0}')),  # 7
    call("c1", '{"path":"."}'),
    ApprovalDecision("allow", "c1"),  # 9
    call("c2"),
    ApprovalDecision("deny", "c2"),  # 11
    output("c2", "Tool call denied by user.", "aborted"),
    call("c3", "[1]"),  # 13: unreadable
    output("c3", "Expected an object.", "fatal"),
    usage(1),  # 15
    end(),
    Subagent(CHILD),  # 17
    output("c1", images=(PIXEL,)),
    RequestBegin(),  # 19
    answer(),
    usage(2),  # 21
    end(),
    Hook("stop", "goal", "continue"),  # 23
    harness("Go on."),
    RequestBegin(),  # 25
    answer(),
    usage(3),  # 27
    end(),
]
"""A first file: MCP, calls allowed, denied and unreadable, a subagent, a stop hook."""

RETRIES: list[Said] = [
    meta(),  # 1
    ask(),
    tools(),  # 3
    RequestBegin(),
    call("c1"),  # 5
    ApprovalDecision("allow", "c1"),
    call("c2", '{"pa', "retryable"),  # 7: cut
    RequestEnd("retryable", "network", "Dropped.", 1, 2000, TokenCounts.of(output=5)),
    output("c1"),  # 9
    RequestBegin(),
    call("c3", '{"pa', "fatal"),  # 11: cut by the output limit
    output("c3", "Write in smaller pieces.", "fatal"),
    usage(1, extra=0),  # 13, replaced below
    RequestEnd("completed", "output_limit", None, 2),
    RequestBegin(),  # 15
    end("fatal", "auth", attempt=1),
    ask("Again."),  # 17
    RequestBegin(),
    end("retryable", "network", attempt=1, retry_in_ms=2000),  # 19
    Abort("backoff_interrupted"),
]
RETRIES[12] = TokenUsage(TokenCounts.of(cache_write=10, output=5), TokenCounts.of(cache_write=10))
"""A first file: a retry with a tool that goes on, an output limit, a final failure, an abort in the wait."""

ABORTED: list[Said] = [
    meta(),  # 1
    ask(),
    Abort("user_abort"),  # 3: before anything began
    ask("Go."),
    tools(),  # 5
    RequestBegin(),
    call("c1"),  # 7
    ApprovalDecision("allow", "c1"),
    call("c2"),  # 9: never decided
    answer("Hal", "aborted"),
    end("aborted", "user_abort"),  # 11
    output("c1", "", "aborted"),
    output("c2", "Not run.", "aborted"),  # 13
    Abort("user_abort"),
    ask("Go on."),  # 15
    RequestBegin(),
    answer(),  # 17
    usage(1),
    end(),  # 19
]
"""A first file: an abort before the first request, and one inside a request with open calls."""

COMPACTED: list[Said] = [
    meta(),  # 1
    ask(),
    tools(),  # 3
    RequestBegin(),
    answer(),  # 5
    usage(1),
    end(),  # 7
    ask("Next."),
    CompactionBegin("context", "summarize", 10, 1),  # 9
    harness("Summarize."),
    RequestBegin(),  # 11
    answer("[summary]\nAll.\n[/summary]"),
    usage(2),  # 13
    end(),
    CompactionEnd("context", "summarize", "completed", 1),  # 15
]
"""A first file up to its rotation; the input of the last run is still unanswered."""

LATER: list[Said] = [
    meta(cache_write=20),  # 1
    McpConnectBegin(("files",)),
    McpConnectEnd("completed", (CONNECTED,)),  # 3
    tools(),
    harness("[context_summary]\nAll.\n[/context_summary]"),  # 5
    Text("user", "Next.", carried=True),
    RequestBegin(),  # 7
    answer(),
    usage(3),  # 9
    end(),
    CompactionBegin("manual", "summarize", 10, 1),  # 11
    harness("Summarize."),
    RequestBegin(),  # 13
    end("aborted", "user_abort"),
    CompactionEnd("manual", "summarize", "aborted", error_code="compaction_interrupted"),  # 15
    Abort("compaction_interrupted"),
    ask("Thanks."),  # 17
    RequestBegin(),
    answer(),  # 19
    usage(4),
    end(),  # 21
]
"""The file after COMPACTED: a whole head, and a compaction that the user interrupts."""

STREAM: list[Said] = [
    tools(),  # 1
    RequestBegin(),
    *thinking_segment("Hm."),  # 3-6
    *call_segment("c1", '{"path":"."}'),  # 7-10
    ApprovalDecision("allow", "c1"),  # 11
    *text_segment("I ", "look."),  # 12-16
    usage(1),  # 17
    end(),
    *output_segment("c1", images=(PIXEL,)),  # 19-23
    RequestBegin(),  # 24
    answer(),
    usage(2),  # 26
    end(),
]
"""A run: streamed thinking, call, text and output, and a message that stands alone."""

CHILDREN: list[Said] = [
    tools(),  # 1
    RequestBegin(),
    call("c1", name="look"),  # 3
    ApprovalDecision("allow", "c1"),
    usage(1),  # 5
    Of((CHILD,), meta(CHILD)),
    end(),  # 7
    Of((CHILD,), Text("user", "Count.", sender="parent_agent")),
    PartialToolCallOutput("user", "start", "", "c1"),  # 9
    Of((CHILD,), tools()),
    Of((CHILD,), RequestBegin()),  # 11
    Of((CHILD,), PartialText("assistant", "start", "")),
    PartialToolCallOutput("user", "delta", "42", "c1"),  # 13
    Of((CHILD,), PartialText("assistant", "delta", "42")),
    Of((CHILD,), PartialText("assistant", "stop", "")),  # 15
    Of((CHILD,), answer("42")),
    Of((CHILD,), usage(1)),  # 17
    Of((CHILD,), end()),
    PartialToolCallOutput("user", "stop", "", "c1"),  # 19
    output("c1", "42"),
    RequestBegin(),  # 21
    *text_segment("42"),  # 22-25
    usage(2),
    end(),  # 27
]
"""A run with a child session whose segments interleave with the parent's; both use the same ids."""

INTERRUPTED: list[Said] = [
    tools(),  # 1
    RequestBegin(),
    *call_segment("c1"),  # 3-6
    ApprovalDecision("allow", "c1"),  # 7
    PartialToolCallOutput("user", "start", "", "c1"),
    *text_segment("Hal", stop="aborted"),  # 9-12
    end("aborted", "user_abort"),  # 13
    PartialToolCallOutput("user", "stop", "", "c1", stop_reason="aborted"),
    output("c1", "", "aborted"),  # 15
    Abort("user_abort"),
    RequestBegin(),  # 17
    answer(),
    usage(1),  # 19
    end(),
    CompactionBegin("turns", "discard", 10, 1),  # 21
    CompactionEnd("turns", "discard", "completed"),
    tools(),  # 23
    RequestBegin(),
    call("c1"),  # 25: a new context has ids of its own
    ApprovalDecision("allow", "c1"),
    usage(2),  # 27
    end(),
    output("c1"),  # 29
    meta(cache_write=20),  # 30: a model switch
    tools(),
    harness("The story so far."),  # 32
    RequestBegin(),
    answer(),  # 34
    usage(3),
    end(),  # 36
]
"""Several runs: an abort, a discarded context, a model switch."""

RESUMED: list[Said] = [
    answer("Hal", "aborted"),  # 1
    end("aborted", "process_exited"),
    output("c1", "Uncertain.", "aborted"),  # 3
    CompactionEnd("context", "summarize", "aborted", error_code="process_exited"),
    RequestBegin(),  # 5
    answer(),
    usage(7),  # 7
    end(),
]
"""The first run after a process died: it closes what is not in this stream."""

CONTINUED: list[Said] = [
    ApprovalDecision("allow", "c1"),  # 1
    *output_segment("c1"),
    RequestBegin(),  # 7
    answer(),
    usage(7),  # 9
    end(),
]
"""A run with empty input that goes on with a call from before."""
