"""A builder for every kind of message: what a user writes by hand, stamped now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from penguin_harness.omnimessage import events as ev
from penguin_harness.omnimessage import payloads as pl
from penguin_harness.omnimessage.clock import Clock
from penguin_harness.omnimessage.codec import forward, opaque
from penguin_harness.omnimessage.messages import (
    EventMessage,
    ModelMessage,
    OmniMessage,
    SessionMeta,
    SessionMetaMessage,
    UnknownMessage,
)
from penguin_harness.omnimessage.unicode import clean

P = TypeVar("P", bound=pl.ModelPayload)
M = TypeVar("M", bound=OmniMessage)
_clock = Clock()


def model_message(payload: P) -> ModelMessage[P]:
    """The payload in its envelope."""
    return ModelMessage(_clock.now(), payload)


def event_message(payload: ev.EventPayload) -> EventMessage:
    """The payload in its envelope."""
    return EventMessage(_clock.now(), payload)


def session_meta(meta: SessionMeta) -> SessionMetaMessage:
    """The meta record in its envelope."""
    return SessionMetaMessage(_clock.now(), meta)


def _fidelity(data: bytes | None) -> Raw | UnsetType:
    return UNSET if data is None else opaque(data)


def user_text(text: str, *, sender: pl.Sender | None = None) -> ModelMessage[pl.Text]:
    """A text of the person, or of another user-side sender."""
    return model_message(pl.Text("user", clean(text), sender=sender))


def user_image(image_url: str, *, sender: pl.Sender | None = None) -> ModelMessage[pl.ImageUrl]:
    """An image of the person: a web URL or a data URL."""
    return model_message(pl.ImageUrl("user", image_url, sender=sender))


def inline_data(data: str, mime_type: str, *, role: pl.Role = "user") -> ModelMessage[pl.InlineData]:
    """Binary content; `data` is base64."""
    return model_message(pl.InlineData(role, data, mime_type))


def assistant_text(
    text: str, *, stop_reason: pl.StopReason = "completed", fidelity: bytes | None = None
) -> ModelMessage[pl.Text]:
    """A text of the model; `fidelity` is a JSON object as bytes."""
    return model_message(pl.Text("assistant", clean(text), stop_reason=stop_reason, fidelity=_fidelity(fidelity)))


def thinking(
    text: str, *, stop_reason: pl.StopReason = "completed", fidelity: bytes | None = None
) -> ModelMessage[pl.Thinking]:
    """What the model thought; `fidelity` is a JSON object as bytes."""
    return model_message(pl.Thinking("assistant", clean(text), stop_reason, _fidelity(fidelity)))


def inline_thinking(data: str, mime_type: str, *, fidelity: bytes | None = None) -> ModelMessage[pl.InlineThinking]:
    """Binary content inside the model's thinking; `data` is base64."""
    return model_message(pl.InlineThinking("assistant", data, mime_type, fidelity=_fidelity(fidelity)))


def tool_call(
    name: str,
    arguments: str,
    tool_call_id: str,
    *,
    stop_reason: pl.StopReason = "completed",
    fidelity: bytes | None = None,
) -> ModelMessage[pl.ToolCall]:
    """A call; `arguments` is the JSON string as the model wrote it."""
    call = pl.ToolCall("assistant", name, clean(arguments), tool_call_id, stop_reason, _fidelity(fidelity))
    return model_message(call)


def tool_call_output(
    output: str,
    tool_call_id: str,
    *,
    images: Iterable[str] | None = None,
    stop_reason: pl.StopReason = "completed",
) -> ModelMessage[pl.ToolCallOutput]:
    """The answer to a call; `images` are data URLs."""
    shown = None if images is None else tuple(images)
    return model_message(pl.ToolCallOutput("user", clean(output), tool_call_id, shown, stop_reason))


def partial_text(
    kind: pl.FragmentKind, text: str = "", *, role: pl.Role = "assistant", stop_reason: pl.StopReason = "completed"
) -> ModelMessage[pl.PartialText]:
    """A fragment of a text."""
    return model_message(pl.PartialText(role, kind, text, stop_reason))


def partial_thinking(
    kind: pl.FragmentKind, text: str = "", *, stop_reason: pl.StopReason = "completed"
) -> ModelMessage[pl.PartialThinking]:
    """A fragment of thinking."""
    return model_message(pl.PartialThinking("assistant", kind, text, stop_reason))


def partial_tool_call(
    kind: pl.FragmentKind,
    name: str,
    tool_call_id: str,
    arguments: str = "",
    *,
    stop_reason: pl.StopReason = "completed",
) -> ModelMessage[pl.PartialToolCall]:
    """A fragment of a call's arguments."""
    return model_message(pl.PartialToolCall("assistant", kind, name, arguments, tool_call_id, stop_reason))


def partial_tool_call_output(
    kind: pl.FragmentKind,
    tool_call_id: str,
    output: str = "",
    *,
    images: Iterable[str] | None = None,
    stop_reason: pl.StopReason = "completed",
) -> ModelMessage[pl.PartialToolCallOutput]:
    """A fragment of a tool's output."""
    shown = None if images is None else tuple(images)
    return model_message(pl.PartialToolCallOutput("user", kind, output, tool_call_id, shown, stop_reason))


def tool_list_ready(tools: Iterable[ev.ToolSchema]) -> EventMessage:
    """The tools that the following requests offer."""
    return event_message(ev.ToolListReady(tuple(tools)))


def mcp_connect_begin(servers: Iterable[str]) -> EventMessage:
    """Connecting to MCP servers begins."""
    return event_message(ev.McpConnectBegin(tuple(servers)))


def mcp_connect_end(
    status: pl.StopReason,
    results: Iterable[ev.McpResult],
    *,
    error_code: ev.ErrorCode | None = None,
    error_message: str | None = None,
) -> EventMessage:
    """Connecting to MCP servers ended."""
    return event_message(ev.McpConnectEnd(status, tuple(results), error_code, error_message))


def request_begin() -> EventMessage:
    """A request to the model begins."""
    return event_message(ev.RequestBegin())


def request_end(
    status: pl.StopReason = "completed",
    *,
    error_code: ev.ErrorCode | None = None,
    error_message: str | None = None,
    attempt: int | None = None,
    retry_in_ms: int | None = None,
    usage: ev.TokenCounts | None = None,
) -> EventMessage:
    """A request to the model ended."""
    return event_message(ev.RequestEnd(status, error_code, error_message, attempt, retry_in_ms, usage))


def approval_decision(decision: ev.Decision, tool_call_id: str) -> EventMessage:
    """Whether a call may run."""
    return event_message(ev.ApprovalDecision(decision, tool_call_id))


def token_usage(session: ev.TokenCounts, request: ev.TokenCounts, *, estimated: bool = False) -> EventMessage:
    """The cost of a completed request, and the session's totals with it."""
    return event_message(ev.TokenUsage(session, request, estimated))


def compaction_begin(reason: ev.CompactionReason, mode: ev.CompactionMode, *, context: int, turns: int) -> EventMessage:
    """The context is about to be replaced."""
    return event_message(ev.CompactionBegin(reason, mode, context, turns))


def compaction_end(
    reason: ev.CompactionReason,
    mode: ev.CompactionMode,
    status: pl.StopReason,
    *,
    attempt: int | None = None,
    error_code: ev.ErrorCode | None = None,
    error_message: str | None = None,
) -> EventMessage:
    """The compaction ended."""
    return event_message(ev.CompactionEnd(reason, mode, status, attempt, error_code, error_message))


def abort(error_code: ev.ErrorCode = "user_abort", error_message: str | None = None) -> EventMessage:
    """The user interrupted the run."""
    return event_message(ev.Abort(error_code, error_message))


def subagent(session_id: str) -> EventMessage:
    """A pointer to a child session."""
    return event_message(ev.Subagent(session_id))


def hook(
    point: ev.HookPoint,
    name: str,
    *,
    decision: ev.HookDecision | None = None,
    reason: str | None = None,
    output: dict[str, str | int | float | bool | None] | None = None,
) -> EventMessage:
    """What a hook answered."""
    return event_message(ev.Hook(point, name, decision, reason, output))


def with_origin(message: M, chain: str | Sequence[str]) -> M:
    """The message as forwarded by a parent: the child's id (or ids, outer to inner) in front of `origin`."""
    ids = (chain,) if isinstance(chain, str) else tuple(chain)
    if not ids:
        return message
    origin = ids + (message.origin or ())
    if isinstance(message, UnknownMessage):
        line = message.line
        for session_id in reversed(ids):
            line = forward(line, session_id)
        return replace(message, origin=origin, line=line)
    return replace(message, origin=origin)
