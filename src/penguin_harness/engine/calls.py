"""The calls of one request: decided one at a time in call order, run concurrently, each answered exactly once."""

from __future__ import annotations

import asyncio
from collections import deque

from penguin_harness.contracts import Invocation, OutputPayload, Tools
from penguin_harness.engine.carry import closing_output
from penguin_harness.engine.decide import Decider
from penguin_harness.engine.outlet import Outlet
from penguin_harness.omnimessage import (
    ApprovalDecision,
    PartialToolCallOutput,
    StopReason,
    ToolCall,
    ToolCallOutput,
    clean,
)

STOP_GRACE = 0.6
"""Seconds that interrupted tools get to end by themselves; the run returns within a second."""

INTERRUPTED = "Tool call not run: the user interrupted the run."
REQUEST_FAILED = "Tool call not run: the answer that asked for it broke off."


class Calls:
    """Takes each complete call as it arrives; `finish` waits for all answers, `stop` gives them at once."""

    def __init__(self, tools: Tools, decider: Decider, outlet: Outlet) -> None:
        self._tools = tools
        self._decider = decider
        self._outlet = outlet
        self._waiting: deque[tuple[ToolCall, Invocation]] = deque()
        self._running: dict[str, tuple[Invocation, asyncio.Task[None]]] = {}
        self._asking: asyncio.Task[None] | None = None

    @property
    def at_work(self) -> bool:
        """Whether a tool still runs."""
        return any(not task.done() for _, task in self._running.values())

    def add(self, call: ToolCall) -> None:
        """Take a call: answer it at once when it cannot run, else queue its question."""
        if call.stop_reason != "completed":
            return
        prepared = self._tools.prepare(call)
        if isinstance(prepared, str):
            self._answer(call, prepared, "fatal")
            return
        self._waiting.append((call, prepared))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())

    def answer_cut(self) -> None:
        """The request was committed: its cut calls are answered, since they do not run."""
        for call in self._outlet.context.open_calls():
            if call.is_cut:
                self._outlet.emit(closing_output(call))

    async def finish(self) -> None:
        """Wait until every call is decided and answered."""
        if self._asking is not None:
            await _result(self._asking)
        await self._finish_running()

    async def finish_decided(self) -> None:
        """The request failed: what runs may end, what nobody decided yet is answered as not run."""
        if self._asking is not None and await _ended([self._asking]):
            raise asyncio.CancelledError
        for call, _ in self._waiting:
            self._answer(call, REQUEST_FAILED, "aborted")
        self._waiting.clear()
        await self._finish_running()

    async def stop(self) -> None:
        """The user interrupted: stop what runs, and answer every call that has no output yet. Waits for the grace."""
        await self.cancel()
        for call in self._outlet.context.open_calls():
            known = self._running.get(call.call.tool_call_id)
            if known is not None:
                for owed in known[0].abandon():
                    self._put(owed)
            else:
                self._answer(call.call, INTERRUPTED, "aborted")

    async def cancel(self) -> None:
        """Leave no task behind, whatever the answers."""
        await _ended([task for _, task in self._running.values()] + ([self._asking] if self._asking else []))

    async def _finish_running(self) -> None:
        for _, task in self._running.values():
            await _result(task)

    async def _ask(self) -> None:
        while self._waiting:
            call, invocation = self._waiting[0]
            decided = await self._decider.decide(call, invocation)
            self._waiting.popleft()
            self._outlet.emit(ApprovalDecision(decided.decision, call.tool_call_id))
            if decided.decision != "allow":
                self._answer(call, decided.refusal, "aborted")
                continue
            run = invocation.run(self._emit_output)
            if self._waiting or self._asking is None:
                self._running[call.tool_call_id] = (invocation, asyncio.create_task(run))
                continue
            # Nothing is left to ask: this task becomes the call's own, which is cheaper than another one.
            self._running[call.tool_call_id] = (invocation, self._asking)
            self._asking = None
            await run
            return

    async def _emit_output(self, payload: OutputPayload) -> None:
        self._put(payload)
        if self._outlet.channel.full:
            await self._outlet.channel.room()

    def _put(self, payload: OutputPayload) -> None:
        if isinstance(payload, PartialToolCallOutput):
            self._outlet.stream(payload)
        else:
            self._outlet.emit(payload)

    def _answer(self, call: ToolCall, text: str, stop_reason: StopReason) -> None:
        self._outlet.emit(ToolCallOutput("user", clean(text), call.tool_call_id, stop_reason=stop_reason))


async def _result(task: asyncio.Task[None]) -> None:
    """Wait for a call's task. Awaiting it itself would pass a cancellation on to it, which then is lost to the run."""
    if not task.done():
        await asyncio.wait([task])
    task.result()


async def _ended(tasks: list[asyncio.Task[None]]) -> bool:
    """Cancel tasks and wait for them, at most the grace. Tells whether somebody interrupted; nothing is cut short."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + STOP_GRACE
    interrupted = False
    for task in tasks:
        task.cancel()
    while pending := [task for task in tasks if not task.done()]:
        left = deadline - loop.time()
        if left <= 0:
            break
        try:
            await asyncio.wait(pending, timeout=left)
        except asyncio.CancelledError:  # the closing goes on
            interrupted = True
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # the run ends with its own error; a task that failed beside it is not reported twice
    return interrupted
