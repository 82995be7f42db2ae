"""What one message shows by itself, whatever stands around it (sections 1 to 3, 5 to 7 and 9)."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import get_args

import msgspec
from msgspec import Raw, UnsetType

from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.events import (
    Abort,
    ApprovalDecision,
    CompactionEnd,
    ErrorCode,
    EventPayload,
    Hook,
    McpConnectEnd,
    McpResult,
    RequestEnd,
    Subagent,
    TokenCounts,
    TokenUsage,
)
from penguin_harness.omnimessage.messages import PROTOCOL, SessionMeta
from penguin_harness.omnimessage.payloads import (
    ImageUrl,
    InlineData,
    InlineThinking,
    ModelPayload,
    PartialText,
    PartialToolCall,
    PartialToolCallOutput,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)

_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")
_SESSION_ID = re.compile(r"session-\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}-[0-9a-f]{8}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_CODES = frozenset(get_args(ErrorCode))
_ABORT_CODES = frozenset({"user_abort", "backoff_interrupted", "compaction_interrupted"})
_INTERRUPTIONS = _ABORT_CODES | {"process_exited"}
_HOOK_DECISIONS = {"stop": {"continue", "stop", None}, "pre_tool_use": {"allow", "deny", None}}


def is_session_id(text: str) -> bool:
    """Whether the text has the form of a session id."""
    return _SESSION_ID.fullmatch(text) is not None


def is_timestamp(text: str) -> bool:
    """Whether the text is a moment in the protocol's form."""
    if not _TIMESTAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_meta(meta: SessionMeta, findings: Findings) -> None:
    """The values of a session_meta."""
    if not is_session_id(meta.session_id):
        findings.broken("2.2", f"the session id is {meta.session_id!r}")
    for name, path in (("agent_state", meta.agent_state), ("workspace", meta.workspace)):
        if not (PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()):
            findings.broken("2.3", f"`{name}` is {path!r}")
    if meta.model_context_window <= 0:
        findings.broken("2.4", f"the window is {meta.model_context_window}")
    if meta.protocol != PROTOCOL:
        findings.broken("2.9", f"the protocol is {meta.protocol}")
    if meta.session_usage is not None:
        _check_counts(meta.session_usage, "session_usage", findings)


def check_said(payload: ModelPayload, findings: Findings) -> None:
    """The values of a model_msg."""
    match payload:
        case Text(role="assistant") | InlineData(role="assistant") if payload.sender or payload.carried:
            findings.broken("3.5", f"sender {payload.sender!r}, carried {payload.carried} on an assistant message")
        case Text(role="user") | InlineData(role="user") if payload.fidelity:
            findings.broken("3.7", f"fidelity {bytes(payload.fidelity)!r} on user content")
        case PartialText(role="user"):
            findings.broken("3.1", "a fragment of text with the role user")
        case ToolCallOutput(stop_reason="retryable") | PartialToolCallOutput(stop_reason="retryable"):
            findings.broken("7.4", f"the output of {payload.tool_call_id!r} is retryable")
        case _:
            pass
    match payload:
        case ToolCall() | ToolCallOutput() | PartialToolCall() | PartialToolCallOutput():
            _check_id(payload.tool_call_id, findings)
        case _:
            pass
    match payload:
        case Text() | Thinking() | InlineThinking() | ToolCall() | InlineData():
            _check_fidelity(payload.fidelity, findings)
        case _:
            pass
    _check_media(payload, findings)


def check_happened(payload: EventPayload, findings: Findings) -> None:
    """The values of an event_msg."""
    match payload:
        case RequestEnd():
            _check_request_end(payload, findings)
        case CompactionEnd():
            _check_compaction_end(payload, findings)
        case McpConnectEnd():
            _check_connect_end(payload, findings)
        case TokenUsage(session=session, request=request):
            _check_counts(session, "session", findings)
            _check_counts(request, "request", findings)
        case Abort(error_code=code) if code not in _ABORT_CODES:
            findings.broken("5.11", f"abort with the code {code!r}")
        case ApprovalDecision(tool_call_id=call):
            _check_id(call, findings)
        case Subagent(session_id=child) if not is_session_id(child):
            findings.broken("2.2", f"the child's session id is {child!r}")
        case Hook(hook=point, decision=decision) if decision not in _HOOK_DECISIONS.get(point, {decision}):
            findings.broken("5.12", f"a {point} hook decides {decision!r}")
        case _:
            pass


def _check_id(call: str, findings: Findings) -> None:
    if not call:
        findings.broken("3.2", "the tool_call_id is empty")


def _check_fidelity(fidelity: Raw | UnsetType, findings: Findings) -> None:
    if isinstance(fidelity, UnsetType):
        return
    try:
        msgspec.json.decode(fidelity, type=dict[str, Raw])
    except (msgspec.MsgspecError, RecursionError):
        findings.broken("9.1", f"fidelity is {bytes(fidelity)[:80]!r}")


def _check_media(payload: ModelPayload, findings: Findings) -> None:
    match payload:
        case ToolCallOutput(images=images) | PartialToolCallOutput(images=images):
            for image in images or ():
                if not image.startswith("data:"):
                    findings.broken("3.8", f"a tool's image is {image[:80]!r}")
        case ImageUrl(image_url=url) if not url.startswith(("data:", "http://", "https://")):
            findings.broken("3.8", f"`image_url` is {url[:80]!r}")
        case InlineData(data=data) | InlineThinking(data=data) if not _BASE64.fullmatch(data):
            findings.broken("3.8", f"`data` is {data[:80]!r}")
        case _:
            pass


def _check_request_end(end: RequestEnd, findings: Findings) -> None:
    least = 2 if end.status == "completed" else 1
    if end.attempt is not None and end.attempt < least:
        findings.broken("5.5", f"attempt {end.attempt} on a request that ended {end.status}")
    if end.retry_in_ms is not None and (end.status != "retryable" or end.retry_in_ms < 0):
        findings.broken("5.6", f"retry_in_ms {end.retry_in_ms} on a request that ended {end.status}")
    if end.usage is not None:
        if end.status == "completed":
            findings.broken("5.7", "usage on a completed request")
        _check_counts(end.usage, "usage", findings)
    _check_pair(end, findings)


def _check_compaction_end(end: CompactionEnd, findings: Findings) -> None:
    if end.attempt is not None and end.attempt < 1:
        findings.broken("5.5", f"attempt {end.attempt}")
    _check_pair(end, findings)


def _check_connect_end(end: McpConnectEnd, findings: Findings) -> None:
    for each in (end, *end.results):
        _check_pair(each, findings)


def _check_counts(counts: TokenCounts, name: str, findings: Findings) -> None:
    parts = (counts.cache_read, counts.cache_write, counts.output)
    if min(parts) < 0 or sum(parts) != counts.total:
        findings.broken("5.8", f"{name} counts {' + '.join(map(str, parts))} = {counts.total}")


def _check_pair(end: RequestEnd | CompactionEnd | McpConnectEnd | McpResult, findings: Findings) -> None:
    status, code = end.status, end.error_code
    failed = status in {"retryable", "fatal"}
    if (status != "completed" and code is None) or (failed and end.error_message is None):
        findings.broken("6.1", f"{status} with error_code {code!r} and error_message {end.error_message!r}")
    elif code is not None and code not in _CODES:
        findings.broken("6.2", f"error_code {code!r}")
    elif code is not None and not _fits(code, status, end):
        findings.broken("6.3", f"error_code {code!r} beside {status}")


def _fits(code: str, status: StopReason, end: RequestEnd | CompactionEnd | McpConnectEnd | McpResult) -> bool:
    if status == "completed":
        return code == "output_limit" and isinstance(end, RequestEnd)
    if code == "connect_failed" and not isinstance(end, McpConnectEnd | McpResult):
        return False
    return code != "output_limit" and (code in _INTERRUPTIONS) == (status == "aborted")
