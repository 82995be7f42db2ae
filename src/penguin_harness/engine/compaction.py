"""When a context is replaced, and how: by a summary, or by nothing; then the Trace goes on in a new file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from penguin_harness.contracts import Model, Request, ThinkingLevel
from penguin_harness.engine.context import Context
from penguin_harness.engine.control import Control
from penguin_harness.engine.estimate import sized
from penguin_harness.engine.head import HeadRecord, next_head, shortened, summary_of
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.request import ask_model
from penguin_harness.engine.retry import Ladder
from penguin_harness.omnimessage import (
    CompactionBegin,
    CompactionEnd,
    CompactionMode,
    CompactionReason,
    ErrorCode,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    StopReason,
    Text,
    ToolCall,
    ToolCallOutput,
)

ROOM = 2048
"""Tokens of the window that stay free for the summary."""

SHORTEST = 4
"""How often a summary request that is too long is cut to half its history."""

NOT_RUN = "Tool call not run: no tool runs while the context is summarized."

PROMPT = """\
The conversation above is about to be replaced by your summary, which will be its only record. Write down everything \
that the work needs to go on: what was asked, word for word where it matters; what was done and found, with paths, \
names and figures; what is decided, what is open, and what comes next. Call no tool. Answer with nothing but the \
summary, between [summary] and [/summary]."""

WRONG = """\
That reply had no usable summary: {problem}. Answer again with nothing but the summary, between [summary] and \
[/summary], and call no tool."""


class CompactionPolicy(Struct, frozen=True):
    """When a session's context is replaced by itself, and how."""

    mode: CompactionMode = "summarize"
    max_context_length: int = 256_000
    """Tokens; the model's window, less some room, is a limit too."""
    turns: int | None = None
    """Turns of a context after which it is replaced; None for no such limit."""

    def threshold(self, window: int) -> int:
        """Tokens of the last request from which on the context is due."""
        return max(min(self.max_context_length, window - ROOM), 1)

    def due(self, context: Context, window: int) -> CompactionReason | None:
        """Why the context is to be replaced before the next request, if it is."""
        if context.context_tokens >= self.threshold(window):
            return "context"
        if self.turns is not None and context.turns >= self.turns:
            return "turns"
        return None


Rotate: TypeAlias = Callable[[], SessionMeta]
"""Goes on in the session's next Trace file and says what its session_meta is."""


class Compactor:
    """Replaces the context of one session."""

    def __init__(self, *, model: Model, outlet: Outlet, rotate: Rotate) -> None:
        self._model = model
        self._outlet = outlet
        self._rotate = rotate

    async def compact(
        self,
        reason: CompactionReason,
        mode: CompactionMode,
        *,
        control: Control,
        thinking_level: ThinkingLevel | None = None,
    ) -> bool:
        """Replace the context, or leave it as it was and say why. Cancelled, it closes the span and raises on."""
        context, outlet = self._outlet.context, self._outlet
        outlet.emit(CompactionBegin(reason, mode, context.context_tokens, context.turns))
        ladder = Ladder()
        try:
            failure = await self._summarize(ladder, control, thinking_level) if mode == "summarize" else None
        except asyncio.CancelledError:
            control.interrupts = "compaction_interrupted"
            outlet.emit(CompactionEnd(reason, mode, "aborted", ladder.attempt, control.interrupts))
            raise
        if failure is not None:
            status, code, message = failure
            outlet.emit(CompactionEnd(reason, mode, status, ladder.attempt, code, message))
            return False
        outlet.emit(CompactionEnd(reason, mode, "completed", ladder.attempt))
        self.open_next()
        return True

    def open_next(self) -> None:
        """Begin the next context: its head follows from the state at the end of this one."""
        open_context(self._outlet, self._rotate)

    async def _summarize(
        self, ladder: Ladder, control: Control, thinking_level: ThinkingLevel | None
    ) -> Failure | None:
        """Ask until there is a summary, or the ladder ends."""
        context, outlet = self._outlet.context, self._outlet
        history = context.answered()
        loop = asyncio.get_running_loop()
        halvings = 0
        outlet.emit(Text("user", PROMPT, sender="harness"))
        while True:
            outlet.emit(RequestBegin())
            prompts = context.compaction.prompt if context.compaction else []
            request = Request(
                system_prompt=context.meta.system_prompt if context.meta else "",
                messages=(*shortened(history, halvings), *prompts),
                tools=context.tools or (),
                thinking_level=thinking_level,
            )
            behind = (*context.answered()[context.committed :], *prompts)
            request = sized(request, 0 if halvings else context.context_tokens, behind)
            calls = _NoCalls(outlet)
            verdict = await ask_model(request, model=self._model, calls=calls, ladder=ladder, outlet=outlet)
            asked = loop.time()
            end = verdict.end
            if verdict.overflow and halvings < SHORTEST:
                halvings += 1
                continue
            if end.status == "completed":
                problem = self._problem(calls)
                if problem is None:
                    return None
                if not ladder.without_summary():
                    return "retryable", "malformed", f"no attempt brought a summary: {problem}"
            elif end.retry_in_ms is None:
                return _failure(end, overflow=verdict.overflow)
            else:
                problem = end.error_message if end.error_code == "malformed" else None
                await control.wait(asked + end.retry_in_ms / 1000)
            if problem is not None:
                outlet.emit(Text("user", WRONG.format(problem=problem), sender="harness"))

    def _problem(self, calls: _NoCalls) -> str | None:
        if calls.any:
            return "it called tools"
        compaction = self._outlet.context.compaction
        return None if compaction and summary_of(compaction.reply) else "there was no text between the marks"


def open_context(outlet: Outlet, rotate: Rotate, *, streamed: bool = False) -> None:
    """Go on in the next file: its session_meta, which streams on a model switch only, and its head."""
    tools = outlet.context.tools or ()
    head = next_head(outlet.context)
    put_meta(rotate(), outlet, streamed=streamed)
    for record in head.all(tools):
        put_head(record, outlet)


def put_meta(meta: SessionMeta, outlet: Outlet, *, streamed: bool = False) -> None:
    """Write the meta record; the stream of a subagent begins with it."""
    if streamed or meta.source == "subagent":
        outlet.emit(meta)
    else:
        outlet.record(meta)


def put_head(record: HeadRecord, outlet: Outlet) -> None:
    """Write one record of a head, streamed or not as it is."""
    if record.streamed:
        outlet.emit(record.payload)
    else:
        outlet.record(record.payload)


Failure: TypeAlias = tuple[StopReason, ErrorCode | str, str]


def _failure(end: RequestEnd, *, overflow: bool) -> Failure:
    message = end.error_message or end.status
    if overflow:
        message = f"the history is too long even for its summary, drop it with mode 'discard': {message}"
    return end.status, end.error_code or "network", message


class _NoCalls:
    """Answers every call of a summary at once."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self.any = False

    def add(self, call: ToolCall) -> None:
        """Take a call: it does not run."""
        self.any = True
        if call.stop_reason == "completed":
            self._outlet.emit(ToolCallOutput("user", NOT_RUN, call.tool_call_id, stop_reason="aborted"))

    def answer_cut(self) -> None:
        """The request was committed: what was cut in it is answered too."""
        for call in self._outlet.context.open_calls():
            self._outlet.emit(ToolCallOutput("user", NOT_RUN, call.call.tool_call_id, stop_reason="fatal"))
