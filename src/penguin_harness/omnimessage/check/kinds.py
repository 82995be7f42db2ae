"""What a message is to the order of things: user content, the model's, the end of something, the beginning of a run."""

from __future__ import annotations

from typing import TypeAlias

from penguin_harness.omnimessage.events import (
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    EventPayload,
    Hook,
    McpConnectBegin,
    McpConnectEnd,
    RequestBegin,
    RequestEnd,
    Subagent,
    TokenUsage,
    ToolListReady,
)
from penguin_harness.omnimessage.messages import SessionMeta
from penguin_harness.omnimessage.payloads import (
    ImageUrl,
    InlineData,
    ModelPayload,
    PartialToolCallOutput,
    Text,
    ToolCallOutput,
)

Said: TypeAlias = SessionMeta | ModelPayload | EventPayload


def is_user_content(payload: Said) -> bool:
    """Whether it is what a user may say; a tool's output is not."""
    match payload:
        case Text(role="user") | InlineData(role="user") | ImageUrl():
            return True
        case _:
            return False


def is_model(payload: Said) -> bool:
    """Whether the model says it."""
    others = SessionMeta | EventPayload | ToolCallOutput | PartialToolCallOutput
    return not isinstance(payload, others) and not is_user_content(payload)


def continues(payload: Said) -> bool:
    """Whether it can only be part of a run that goes on."""
    match payload:
        case ApprovalDecision() | TokenUsage() | RequestEnd() | CompactionEnd() | McpConnectEnd() | Subagent():
            return True
        case ToolCallOutput() | PartialToolCallOutput():
            return True
        case Hook(hook=point):
            return point != "user_prompt"
        case _:
            return is_model(payload)


def begins(payload: Said) -> bool:
    """Whether a run or a compaction, or what leads to one, begins with it."""
    beginnings = SessionMeta | RequestBegin | CompactionBegin | ToolListReady | McpConnectBegin
    return is_user_content(payload) or isinstance(payload, beginnings)


def name_of(payload: Said) -> str:
    """What the protocol calls it."""
    return "session_meta" if isinstance(payload, SessionMeta) else payload.type
