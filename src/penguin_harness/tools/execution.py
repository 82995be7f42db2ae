"""One call within its limits, closed whatever happens: nothing else decides how an output ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from penguin_harness.contracts import EmitOutput, OutputPayload, Permission
from penguin_harness.errors import ToolFailed
from penguin_harness.invoke import ThreadCall, in_thread
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.failures import describe, text_of
from penguin_harness.tools.segment import Segment
from penguin_harness.tools.tool import Tool, ToolResult, to_result

INTERRUPTED = "[interrupted by the user]"
STUCK = "[the tool did not stop: it may still be at work]"
SLICE = 65_536
_DELIVERY_ATTEMPTS = 3

Cause: TypeAlias = Literal["interrupt", "timeout"] | None


class Limits(Struct, frozen=True, kw_only=True):
    """What a tool may use."""

    timeout: float = 600.0
    """Seconds for a tool that names no limit of its own."""
    output: int = 16_000
    """Characters of output that the model is shown."""
    file: int = 100_000_000
    """Bytes of a longer output that are kept aside."""
    grace: float = 0.7
    """Seconds for a tool to clean up after it was stopped."""


class Execution:
    """One call on its way from arguments to a closed segment; implements the contract `Invocation`."""

    def __init__(
        self,
        tool: Tool,
        arguments: dict[str, Any],
        context: ToolContext,
        segment: Segment,
        limits: Limits,
        at_work: set[asyncio.Task[ToolResult]],
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._context = context.writing_to(self._write) if tool.context else context
        self._segment = segment
        self._limits = limits
        self._timeout = limits.timeout if tool.timeout is None else tool.timeout
        self._at_work = at_work
        self._work: asyncio.Task[ToolResult] | None = None
        self._result = ToolResult()
        self._emit: EmitOutput | None = None
        self._emitting = asyncio.Lock()
        self._emitter: asyncio.Task[Any] | None = None

    @property
    def permission(self) -> Permission:
        """As the tool was defined."""
        return self._tool.permission

    async def run(self, emit: EmitOutput) -> None:
        """Run the tool and emit one whole segment. Only what `emit` itself raises gets out.

        An `emit` that is cancelled has not delivered.
        """
        self._emit = emit
        cause: Cause = None
        try:
            await self._flush()
            cause = await self._work_in_time()
        except asyncio.CancelledError:
            cause = "interrupt"
        finally:
            cause = "interrupt" if await self._stop() else cause
        self._close(cause)
        await self._deliver()

    def abandon(self) -> Sequence[OutputPayload]:
        """Close the segment from outside and take what is still owed of it."""
        self._segment.close("aborted", note=f"{INTERRUPTED}\n{STUCK}")
        owed = tuple(self._segment.owed)
        self._segment.owed.clear()
        for task in filter(None, {self._work, self._emitter}):
            task.cancel()
        return owed

    async def _work_in_time(self) -> Cause:
        tool, call = self._tool, None
        if tool.runs_in_thread:
            call = in_thread(tool.function, **tool.keywords(self._arguments, self._context))
            if call.finished:  # there is nothing that would have to be stopped
                self._result = await self._outcome(call)
                return None
        self._work = asyncio.create_task(self._outcome(call))
        self._at_work.add(self._work)
        self._work.add_done_callback(self._at_work.discard)
        await asyncio.wait({self._work}, timeout=self._timeout)
        return None if self._work.done() else "timeout"

    async def _outcome(self, call: ThreadCall[object] | None) -> ToolResult:
        try:
            result = to_result(await call) if call else await self._tool.run(self._arguments, self._context)
            if len(result.text) <= SLICE:
                return result
            await self._write(result.text)
            return ToolResult(images=result.images, note=result.note, stop_reason=result.stop_reason)
        except ToolFailed as error:
            return ToolResult(note=text_of(error), stop_reason="fatal")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool's mistake is a message for the model
            return ToolResult(note=describe(error), stop_reason="fatal")

    async def _stop(self) -> bool:
        """Cancel the tool if it is still at work; whether the user interrupted while it cleaned up."""
        if self._work is None or self._work.done():
            return False
        self._work.cancel()
        try:
            await asyncio.wait({self._work}, timeout=self._limits.grace)
        except asyncio.CancelledError:  # asked again: now the tool shall not clean up gently either
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({self._work}, timeout=self._limits.grace)
            return True
        return False

    def _close(self, cause: Cause) -> None:
        result, work = self._result, self._work
        if work is not None and work.done():
            result = ToolResult(note="CancelledError: the tool was cancelled", stop_reason="fatal")
            result = result if work.cancelled() else work.result()
        if cause is None:
            self._segment.close(result.stop_reason, text=result.text, note=result.note, images=result.images)
            return
        note = INTERRUPTED if cause == "interrupt" else f"[timed out after {self._timeout:g} s]"
        if work is not None and (not work.done() or (work.cancelled() and self._tool.runs_in_thread)):
            note = f"{note}\n{STUCK}"
        reason = "aborted" if cause == "interrupt" else "fatal"
        self._segment.close(reason, text=result.text, note=note, images=result.images)

    async def _deliver(self) -> None:
        """Emit what is owed, also when cancelled meanwhile."""
        for _ in range(_DELIVERY_ATTEMPTS):
            with suppress(asyncio.CancelledError):
                await self._flush()
                return

    async def _write(self, text: str) -> None:
        for start in range(0, len(text), SLICE):
            self._segment.write(text[start : start + SLICE])
            if self._segment.owed:
                await self._flush()
            else:
                await asyncio.sleep(0)  # a tool whose output is not shown must not stop the loop

    async def _flush(self) -> None:
        async with self._emitting:
            owed, emit = self._segment.owed, self._emit
            self._emitter = asyncio.current_task()
            try:
                while owed and emit:
                    await emit(owed[0])
                    if owed:  # not taken by `abandon` meanwhile
                        owed.popleft()
            finally:
                self._emitter = None
