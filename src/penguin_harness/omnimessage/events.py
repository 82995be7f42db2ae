"""What happened: the twelve payloads of `event_msg`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.omnimessage.payloads import CallId, Payload, StopReason, doc

Decision: TypeAlias = Literal["allow", "deny", "forbidden"]
CompactionReason: TypeAlias = Literal["context", "turns", "manual"]
CompactionMode: TypeAlias = Literal["summarize", "discard"]
HookPoint: TypeAlias = Literal["stop", "pre_tool_use", "user_prompt"]
HookDecision: TypeAlias = Literal["continue", "stop", "allow", "deny"]

ErrorCode: TypeAlias = Literal[
    "user_abort",
    "backoff_interrupted",
    "compaction_interrupted",
    "process_exited",
    "timeout",
    "network",
    "malformed",
    "auth",
    "rejected",
    "unsupported",
    "invalid_input",
    "output_limit",
    "connect_failed",
]
"""Every code that a writer of this version uses. Readers take any string, so that later codes can be read."""

ErrorCodeField: TypeAlias = Annotated[str | None, doc("Stable, machine-readable kind of the failure.")]
ErrorMessageField: TypeAlias = Annotated[str | None, doc("The raw text of the failure.")]
StatusField: TypeAlias = Annotated[StopReason, doc("How it ended.")]
AttemptField: TypeAlias = Annotated[int | None, doc("Which attempt this was, counted from 1.")]
Reason: TypeAlias = Annotated[CompactionReason, doc("What triggered the compaction.")]
Mode: TypeAlias = Annotated[CompactionMode, doc("Whether the context is summarized or dropped.")]


class TokenCounts(Struct, frozen=True):
    """Tokens of one request or of a whole session."""

    cache_read: Annotated[int, doc("Input tokens served from the provider's cache.")]
    cache_write: Annotated[int, doc("Input tokens not served from the cache.")]
    output: Annotated[int, doc("Generated tokens, thinking included.")]
    total: Annotated[int, doc("The three added.")]

    @classmethod
    def of(cls, *, cache_read: int = 0, cache_write: int = 0, output: int = 0) -> TokenCounts:
        """Counts whose total fits."""
        return cls(cache_read, cache_write, output, cache_read + cache_write + output)

    def __add__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts.of(
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
        )


class ToolSchema(Struct, frozen=True, omit_defaults=True):
    """A tool as the model is told of it."""

    name: Annotated[str, doc("The name that a call uses.")]
    description: Annotated[str, doc("What the tool does, for the model.")]
    parameters: Annotated[Raw | UnsetType, doc("JSON Schema of the arguments, byte for byte as sent.")] = UNSET


class McpResult(Struct, frozen=True, omit_defaults=True):
    """How the connection to one MCP server went."""

    server: Annotated[str, doc("The server's configured name.")]
    transport: Annotated[Literal["stdio", "http", "sse"], doc("How it is reached.")]
    status: StatusField
    duration_ms: Annotated[int, doc("Time taken, in milliseconds.")]
    tools: Annotated[int | None, doc("How many tools it offers.")] = None
    error_code: ErrorCodeField = None
    error_message: ErrorMessageField = None


class ToolListReady(Payload, frozen=True, tag="tool_list_ready"):
    """The tools that the following requests offer."""

    tools: Annotated[tuple[ToolSchema, ...], doc("Exactly as sent to the model.")]


class McpConnectBegin(Payload, frozen=True, tag="mcp_connect_begin"):
    """Connecting to the configured MCP servers begins."""

    servers: Annotated[tuple[str, ...], doc("The servers' names.")]


class McpConnectEnd(Payload, frozen=True, tag="mcp_connect_end"):
    """Connecting to the MCP servers ended."""

    status: StatusField
    results: Annotated[tuple[McpResult, ...], doc("One for each server.")]
    error_code: ErrorCodeField = None
    error_message: ErrorMessageField = None


class RequestBegin(Payload, frozen=True, tag="request_begin"):
    """A request to the model begins."""


class RequestEnd(Payload, frozen=True, tag="request_end"):
    """A request ended; `completed` commits its turn to the context."""

    status: StatusField
    error_code: ErrorCodeField = None
    error_message: ErrorMessageField = None
    attempt: AttemptField = None
    retry_in_ms: Annotated[int | None, doc("Milliseconds until the retry that will follow in this run.")] = None
    usage: Annotated[TokenCounts | None, doc("What a failed attempt is known to have cost.")] = None


class ApprovalDecision(Payload, frozen=True, tag="approval_decision"):
    """Whether a call may run."""

    decision: Annotated[Decision, doc("`forbidden` is the command policy's veto; no person was asked.")]
    tool_call_id: CallId


class TokenUsage(Payload, frozen=True, tag="token_usage"):
    """The cost of a completed request, and the session's totals with it."""

    session: Annotated[TokenCounts, doc("Totals of the session so far.")]
    request: Annotated[TokenCounts, doc("This request alone.")]
    estimated: Annotated[bool, doc("True when the endpoint reported nothing.")] = False


class CompactionBegin(Payload, frozen=True, tag="compaction_begin"):
    """The context is about to be replaced."""

    reason: Reason
    mode: Mode
    context: Annotated[int, doc("Tokens in the context.")]
    turns: Annotated[int, doc("Turns in the context.")]


class CompactionEnd(Payload, frozen=True, tag="compaction_end"):
    """The compaction ended; on `completed` the Trace goes on in a new file."""

    reason: Reason
    mode: Mode
    status: StatusField
    attempt: AttemptField = None
    error_code: ErrorCodeField = None
    error_message: ErrorMessageField = None


class Abort(Payload, frozen=True, tag="abort"):
    """The user interrupted the run."""

    error_code: Annotated[str, doc("`user_abort`, `backoff_interrupted` or `compaction_interrupted`.")]
    error_message: ErrorMessageField = None


class Subagent(Payload, frozen=True, tag="subagent"):
    """A pointer to a child session; in the parent's Trace only."""

    session_id: Annotated[str, doc("The direct child's session id.")]


class Hook(Payload, frozen=True, tag="hook"):
    """What a hook answered."""

    hook: Annotated[HookPoint, doc("The point at which it was asked.")]
    name: Annotated[str, doc("The hook's name.")]
    decision: Annotated[HookDecision | None, doc("Absent when the hook has no opinion.")] = None
    reason: Annotated[str | None, doc("Why, in the hook's words.")] = None
    output: Annotated[dict[str, str | int | float | bool | None] | None, doc("A flat record of scalars.")] = None


EventPayload: TypeAlias = (
    ToolListReady
    | McpConnectBegin
    | McpConnectEnd
    | RequestBegin
    | RequestEnd
    | ApprovalDecision
    | TokenUsage
    | CompactionBegin
    | CompactionEnd
    | Abort
    | Subagent
    | Hook
)
