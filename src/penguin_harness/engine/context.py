"""The context is a fold over the Trace: `fold(state, message)`, total, without I/O, clock or randomness.

The running engine advances the same fold with every message that it records, and resume runs it over the file, so what
is live and what is resumed are the same by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from penguin_harness.engine.attempt import Attempt, OpenCall
from penguin_harness.engine.carry import aborted_attempt, closing_end, closing_output, retried_attempt
from penguin_harness.omnimessage import (
    ApprovalDecision,
    AssistantContent,
    CompactionBegin,
    CompactionEnd,
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    OmniMessage,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    Text,
    Thinking,
    TokenCounts,
    TokenUsage,
    ToolCall,
    ToolCallOutput,
    ToolListReady,
    ToolSchema,
    UserContent,
)

NO_TOKENS = TokenCounts(0, 0, 0, 0)


class Compaction(Struct):
    """An open compaction: its messages are internal and never reach the context."""

    begin: CompactionBegin
    prompt: list[UserContent] = []
    reply: list[AssistantContent] = []


@dataclass(slots=True)
class Context:
    """Everything that the next request depends on."""

    meta: SessionMeta | None = None
    tools: tuple[ToolSchema, ...] | None = None
    messages: list[CompletePayload] = field(default_factory=list[CompletePayload])
    """What the next request sends, except what the newest attempt still adds. Grows only at its end."""
    committed: int = 0
    """How many of the messages an answer covers; what lies behind is unsent or unanswered."""
    attempt: Attempt | None = None
    """The newest request, until it is known what it adds to the messages."""
    compaction: Compaction | None = None
    compacted: Compaction | None = None
    """The compaction that ended this context: the head of the next file is a function of it."""
    usage: TokenCounts = NO_TOKENS
    """Totals of the session."""
    context_tokens: int = 0
    """Size of the context at the last committed request."""
    first_tokens: int = 0
    """Size of the context at its first committed request: what no compaction makes smaller."""
    turns: int = 0
    """Committed requests of this context."""
    requests: int = 0
    """Requests begun in this context."""
    call_ids: set[str] = field(default_factory=set[str])
    """Every tool_call_id of this file."""
    last_timestamp: str = ""

    def pending(self) -> list[CompletePayload]:
        """What the newest attempt adds to the messages; for an open call, the output that closing would record."""
        attempt = self.attempt
        if attempt is None or self.compaction is not None:
            return []
        end = attempt.end or closing_end(attempt)
        if end.status != "completed":
            return retried_attempt(attempt, end) if end.retry_in_ms is not None else aborted_attempt(attempt, end)
        outputs: list[CompletePayload] = [call.output or closing_output(call) for call in attempt.calls.values()]
        return outputs if attempt.end else [*attempt.content, *outputs]

    def request_messages(self) -> tuple[CompletePayload, ...]:
        """What a request would send now."""
        return (*self.messages, *self.pending())

    def has_unsent(self) -> bool:
        """Whether there is anything that the model has not answered."""
        return len(self.messages) + len(self.pending()) > self.committed

    def answered(self) -> tuple[CompletePayload, ...]:
        """What the model has seen and answered, with the outputs of its last calls: what a summary is made of."""
        behind = (payload for payload in self.messages[self.committed :] if isinstance(payload, ToolCallOutput))
        return (*self.messages[: self.committed], *behind)

    def unanswered(self) -> list[UserContent]:
        """What the person, or the harness for them, said and the model has not answered."""
        return [payload for payload in self.messages[self.committed :] if isinstance(payload, UserContent)]

    def open_calls(self) -> list[OpenCall]:
        """The calls that still need an output, in call order."""
        attempt = self.attempt
        if attempt is None:
            return []
        completed = attempt.end is not None and attempt.end.status == "completed"
        return [call for call in attempt.calls.values() if call.output is None and (completed or not call.is_cut)]

    def settle(self) -> None:
        """The newest attempt is over: what it adds takes its place in the messages."""
        attempt = self.attempt
        if attempt is None:
            return
        if attempt.end is None:
            _request_end(self, closing_end(attempt))
        self.messages += self.pending()
        self.attempt = None


def fold(state: Context, message: OmniMessage) -> Context:
    """The state after the message; advances in place."""
    return fold_all(state, (message,))


def fold_all(state: Context, messages: Iterable[OmniMessage]) -> Context:
    """The state after all of the messages; advances in place."""
    advance_of = _ADVANCE.get
    latest = state.last_timestamp
    for message in messages:
        if message.origin is None:
            payload = message.payload
            advance = advance_of(type(payload))
            if advance is not None:
                advance(state, payload)
            if message.timestamp > latest:
                latest = message.timestamp
    state.last_timestamp = latest
    return state


def _session_meta(state: Context, meta: SessionMeta) -> None:
    fresh = Context(meta=meta, usage=meta.session_usage or NO_TOKENS, last_timestamp=state.last_timestamp)
    for each in fields(Context):
        setattr(state, each.name, getattr(fresh, each.name))


def _tool_list_ready(state: Context, event: ToolListReady) -> None:
    state.tools = event.tools


def _user_content(state: Context, content: UserContent) -> None:
    if state.compaction is not None:
        state.compaction.prompt.append(content)
    else:
        state.settle()
        state.messages.append(content)


def _assistant_content(state: Context, content: AssistantContent) -> None:
    attempt = state.attempt
    if attempt is not None and attempt.end is None:
        attempt.content.append(content if content.fidelity is UNSET else _kept(content))


def _text(state: Context, text: Text) -> None:
    if text.role == "user":
        _user_content(state, text)
    else:
        _assistant_content(state, text)


def _inline_data(state: Context, data: InlineData) -> None:
    (_user_content if data.role == "user" else _assistant_content)(state, data)


def _tool_call(state: Context, call: ToolCall) -> None:
    attempt, call_id = state.attempt, call.tool_call_id
    state.call_ids.add(call_id)
    if attempt is not None and attempt.end is None and call_id not in attempt.calls:
        kept = call if call.fidelity is UNSET else _kept(call)
        attempt.content.append(kept)
        attempt.calls[call_id] = OpenCall(kept)


def _approval_decision(state: Context, event: ApprovalDecision) -> None:
    if state.attempt is not None and (call := state.attempt.calls.get(event.tool_call_id)) and call.decision is None:
        call.decision = event.decision


def _tool_call_output(state: Context, output: ToolCallOutput) -> None:
    if state.attempt is not None and (call := state.attempt.calls.get(output.tool_call_id)) and call.output is None:
        call.output = output


def _request_begin(state: Context, _: RequestBegin) -> None:
    state.settle()
    state.requests += 1
    state.attempt = Attempt()


def _token_usage(state: Context, event: TokenUsage) -> None:
    state.usage = event.session
    if state.attempt is not None:
        state.attempt.usage = event.request


def _request_end(state: Context, end: RequestEnd) -> None:
    attempt = state.attempt
    if attempt is None or attempt.end is not None:
        return
    attempt.end = end
    if end.status != "completed":
        state.usage = state.usage + end.usage if end.usage else state.usage
    elif state.compaction is not None:
        state.compaction.reply = attempt.content
    else:
        state.messages.extend(attempt.content)
        state.committed = len(state.messages)
        state.turns += 1
        state.context_tokens = attempt.usage.total if attempt.usage else state.context_tokens
        state.first_tokens = state.first_tokens or state.context_tokens


def _compaction_begin(state: Context, event: CompactionBegin) -> None:
    state.settle()
    state.compaction = Compaction(event)


def _compaction_end(state: Context, event: CompactionEnd) -> None:
    state.settle()
    if event.status == "completed":
        state.compacted = state.compaction
    state.compaction = None


def _kept(content: Any) -> Any:
    """The payload with fidelity of its own: decoded Raw is a view of the block that it was read from."""
    fidelity = content.fidelity
    return replace(content, fidelity=fidelity.copy()) if isinstance(fidelity, Raw) else content


Advance: TypeAlias = Callable[[Context, Any], None]

_ADVANCE: dict[type, Advance] = {
    SessionMeta: _session_meta,
    ToolListReady: _tool_list_ready,
    Text: _text,
    ImageUrl: _user_content,
    InlineData: _inline_data,
    Thinking: _assistant_content,
    InlineThinking: _assistant_content,
    ToolCall: _tool_call,
    ApprovalDecision: _approval_decision,
    ToolCallOutput: _tool_call_output,
    RequestBegin: _request_begin,
    TokenUsage: _token_usage,
    RequestEnd: _request_end,
    CompactionBegin: _compaction_begin,
    CompactionEnd: _compaction_end,
}
