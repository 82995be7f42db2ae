"""The engine's loop: turns until the model stops calling tools. Read this first.

A turn is one request and the calls that it makes. Everything that happens goes out through the outlet, which records it
and advances the context; the next request is read off that context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from penguin_harness.contracts import Approve, Model, Request, ThinkingLevel, ToolChoice, Tools
from penguin_harness.engine.calls import Calls
from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.compaction import CompactionPolicy, Compactor, Rotate, open_context, put_head
from penguin_harness.engine.control import Control
from penguin_harness.engine.estimate import sized
from penguin_harness.engine.head import HeadRecord
from penguin_harness.engine.intake import steering
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.request import ask_model
from penguin_harness.engine.retry import Ladder, Verdict
from penguin_harness.engine.room import Room
from penguin_harness.engine.spending import Spending
from penguin_harness.omnimessage import CompactionMode, RequestBegin, SessionMeta, Text, ToolListReady, UserContent

CUTS_IN_A_ROW = 3
"""Answers cut by the output limit, one after another, that end a run."""


class RunOptions(Struct, frozen=True):
    """What a run may vary; none of it is kept in the context."""

    approve: Approve | None = None
    thinking_level: ThinkingLevel | None = None
    max_turns: int | None = None
    max_output_tokens: int | None = None
    tool_choice: ToolChoice | None = None
    """Holds for the first turn; only `none` holds for all, else a demand to call would never end."""
    spending: Spending = Spending()

    def choice_of(self, turn: int) -> ToolChoice | None:
        """What the turn with this number, from 0, demands."""
        return self.tool_choice if turn == 0 or self.tool_choice == "none" else None


class Task(Struct, frozen=True):
    """The parties of a run, and how the caller wants it."""

    meta: SessionMeta
    model: Model
    tools: Tools
    outlet: Outlet
    control: Control
    compactor: Compactor
    policy: CompactionPolicy = CompactionPolicy()
    options: RunOptions = RunOptions()
    owed: Sequence[HeadRecord] = ()
    """What a crash left out of the head of the current file."""
    warning: str | None = None
    """What the person and the model must know before anything else."""


async def run_task(inputs: Sequence[UserContent], task: Task) -> None:
    """Drive one task to its end. Cancelling it closes everything that is open and raises on."""
    outlet, options = task.outlet, task.options
    open_task(task, keep_undecided=not inputs)
    for content in inputs:
        outlet.record(content)
    if task.warning is not None:
        outlet.emit(notice(task.warning))
    await asyncio.sleep(0)  # an abort that came before the start takes effect here, the input being on disk
    offer_tools(task)
    if not inputs:
        await answer_undecided(task)
    room = Room(
        task.compactor,
        task.policy,
        window=task.model.context_window,
        outlet=outlet,
        control=task.control,
        thinking_level=options.thinking_level,
    )
    turns = cuts = 0
    while True:
        if (reason := options.spending.stopped(outlet.context.usage)) is not None:
            outlet.emit(notice(reason))
            return
        await room.make()
        verdict = await run_turn(task, options.choice_of(turns))
        if verdict.overflow and await room.after_overflow():
            continue
        attempt = outlet.context.attempt
        if verdict.end.status != "completed" or not ((attempt and attempt.calls) or task.control.steering):
            return
        turns += 1
        cuts = cuts + 1 if verdict.end.error_code == "output_limit" else 0
        if (reason := stop_reason(options, turns, cuts)) is not None:
            outlet.emit(notice(reason))
            return
        for content in task.control.take_steering():
            outlet.emit(steering(content))


def stop_reason(options: RunOptions, turns: int, cuts: int) -> str | None:
    """Why a task that could go on does not."""
    if cuts == CUTS_IN_A_ROW:
        return f"The run stopped: {cuts} answers in a row were cut by the output limit."
    if turns == options.max_turns:
        return f"The run stopped at its limit of {turns} turns; the task may be unfinished."
    return None


async def run_turn(task: Task, tool_choice: ToolChoice | None) -> Verdict:
    """One request, tried until it is committed or given up, and its calls, each answered when this returns."""
    ladder = Ladder()
    clock = asyncio.get_running_loop().time
    while True:
        calls = Calls(task.tools, task.options.approve, task.outlet)
        try:
            request = begin_request(task, tool_choice)
            verdict = await ask_model(request, model=task.model, calls=calls, ladder=ladder, outlet=task.outlet)
            end, ended = verdict.end, clock()
            if end.retry_in_ms is not None and not calls.at_work:
                task.control.announce_wait()
            await (calls.finish() if end.status == "completed" else calls.finish_decided())
        except asyncio.CancelledError:
            await calls.stop()
            raise
        except BaseException:
            await calls.cancel()
            raise
        if end.retry_in_ms is None:
            return verdict
        await task.control.wait(ended + end.retry_in_ms / 1000)


async def run_compaction(mode: CompactionMode, task: Task) -> None:
    """Replace the context because somebody asked for it."""
    open_task(task, keep_undecided=False)
    offer_tools(task)
    await task.compactor.compact("manual", mode, control=task.control, thinking_level=task.options.thinking_level)


async def run_switch(task: Task, rotate: Rotate) -> None:
    """Go on with another model: a new context, with what was said so far handed over in words."""
    open_task(task, keep_undecided=False)
    open_context(task.outlet, rotate, streamed=True)


def open_task(task: Task, *, keep_undecided: bool) -> None:
    """What a task begins with on disk, before its input: the meta record, and what a dead process owes."""
    context, outlet = task.outlet.context, task.outlet
    if context.meta is None:
        outlet.record(task.meta)
    for record in task.owed:
        put_head(record, outlet)
    for closing in closing_messages(context, outlet.tail.halves(), keep_undecided=keep_undecided):
        outlet.emit(closing)
    outlet.tail.clear()
    if context.compacted is not None:
        task.compactor.open_next()


def offer_tools(task: Task) -> None:
    """Say which tools the requests offer, when the context does not know it."""
    if task.outlet.context.tools != task.tools.schemas:
        task.outlet.emit(ToolListReady(task.tools.schemas))


def begin_request(task: Task, tool_choice: ToolChoice | None = None) -> Request:
    """The request that the context stands for now."""
    task.outlet.emit(RequestBegin())
    context = task.outlet.context
    request = Request(
        system_prompt=context.meta.system_prompt if context.meta else "",
        messages=tuple(context.messages),
        tools=context.tools or (),
        thinking_level=task.options.thinking_level,
        max_output_tokens=task.options.max_output_tokens,
        tool_choice=tool_choice,
    )
    return sized(request, context.context_tokens, context.messages[context.committed :])


async def answer_undecided(task: Task) -> None:
    """Go on where the Trace stops: calls of a committed request that nobody decided are asked, in order."""
    calls = Calls(task.tools, task.options.approve, task.outlet)
    try:
        for call in task.outlet.context.open_calls():
            calls.add(call.call)
        await calls.finish()
    except asyncio.CancelledError:
        await calls.stop()
        raise
    except BaseException:
        await calls.cancel()
        raise


def notice(text: str) -> Text:
    """What the harness tells the person and, with the next request, the model."""
    return Text("user", text, sender="harness")
