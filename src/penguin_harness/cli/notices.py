"""What happened, in a line or two: the events that a person should see."""

from __future__ import annotations

from penguin_harness.cli.cards import seconds
from penguin_harness.cli.explain import explain
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import (
    Abort,
    CompactionEnd,
    EventPayload,
    Hook,
    McpConnectEnd,
    McpResult,
    RequestEnd,
    SessionMeta,
    StopReason,
    Subagent,
    UnknownMessage,
)


def event_lines(payload: EventPayload) -> list[Line]:
    """The lines of an event; none for what other parts of the page show."""
    match payload:
        case RequestEnd():
            return request_lines(payload)
        case Abort(error_code=code, error_message=raw):
            return [[Span("■ ", "yellow"), Span(explain(code).what, "yellow"), *_raw(raw)]]
        case McpConnectEnd(results=results):
            return [_server_line(result) for result in results]
        case CompactionEnd():
            return _compaction_lines(payload)
        case Hook():
            return [_hook_line(payload)]
        case Subagent(session_id=session_id):
            return [[Span("◆ ", "magenta"), Span(f"subagent {one_line(session_id)}", "dim")]]
        case _:
            return []


def request_lines(end: RequestEnd) -> list[Line]:
    """How a request ended, unless it ended well."""
    explanation = explain(end.error_code)
    if end.status == "completed":
        if end.error_code is not None:
            return [[Span("✂ ", "yellow"), Span(explanation.what, "yellow"), Span(f"; {explanation.then}", "dim")]]
        return []
    if end.status == "aborted" and end.error_code != "process_exited":
        return []
    retried = end.retry_in_ms is not None or (end.attempt or 1) > 1
    attempt = f"attempt {end.attempt or 1}: " if retried else ""
    if end.retry_in_ms is not None:
        wait = f"; next attempt in {seconds(end.retry_in_ms / 1000)}"
        return [[Span("⚠ ", "yellow"), Span(f"{attempt}{explanation.what}{wait}", "yellow"), *_raw(end.error_message)]]
    return [
        [Span("✗ ", "red"), Span(f"{attempt}{explanation.what}", "red"), *_raw(end.error_message)],
        [Span(f"  {explanation.then}", "dim")],
    ]


def cut_line(stop_reason: StopReason) -> Line | None:
    """The mark below a text that is not whole."""
    match stop_reason:
        case "completed" | "aborted":  # an interruption has an event of its own
            return None
        case "retryable":
            return [Span("… broke off here; not part of the answer", "yellow")]
        case "fatal":
            return [Span("… cut off here", "yellow")]


def meta_lines(meta: SessionMeta) -> list[Line]:
    """What a context runs on."""
    model = f"{one_line(meta.provider)} / {one_line(meta.model_id)}"
    return [
        [Span(one_line(meta.session_id), "bold"), Span(f"  {model}", "dim")],
        [Span(one_line(meta.workspace), "dim")],
    ]


def unknown_line(message: UnknownMessage) -> Line:
    """A message of a kind that this version does not know."""
    return [Span(f"? unknown message: {one_line(message.type)} {one_line(message.payload.type)}", "dim")]


def _compaction_lines(end: CompactionEnd) -> list[Line]:
    if end.status == "completed":
        done = "summarized" if end.mode == "summarize" else "dropped"
        return [[Span(f"◇ the context was {done} ({end.reason}); a new one begins", "dim")]]
    what = f"◇ the context could not be made smaller: {explain(end.error_code).what}"
    return [[Span(what, "yellow"), *_raw(end.error_message)]]


def _hook_line(hook: Hook) -> Line:
    decided = f": {hook.decision}" if hook.decision else " had no opinion"
    reason = f" – {one_line(hook.reason)}" if hook.reason else ""
    return [Span(f"⚑ hook {one_line(hook.name)} ({hook.hook}){decided}{reason}", "dim")]


def _server_line(result: McpResult) -> Line:
    name = one_line(result.server)
    if result.status == "completed":
        return [Span(f"✓ MCP {name}: {result.tools or 0} tools, {seconds(result.duration_ms / 1000)}", "dim")]
    return [Span(f"✗ MCP {name}: {explain(result.error_code).what}", "red"), *_raw(result.error_message)]


def _raw(message: str | None) -> Line:
    return [Span(f" ({one_line(message)})", "dim")] if message else []
