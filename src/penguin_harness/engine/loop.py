"""The engine's loop: turns until the model stops calling tools. Read this first.

A turn is one request and the calls that it makes. Everything that happens goes out through the outlet, which records it
and advances the context; the next request is read off that context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from penguin_harness.contracts import Ended, Request, ToolChoice
from penguin_harness.engine.calls import Calls
from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.compaction import Rotate, open_context, put_head, put_meta
from penguin_harness.engine.estimate import sized
from penguin_harness.engine.intake import steering
from penguin_harness.engine.request import ask_model
from penguin_harness.engine.retry import Ladder, Verdict
from penguin_harness.engine.room import Room
from penguin_harness.engine.task import RunOptions, Task, notice
from penguin_harness.omnimessage import CompactionMode, RequestBegin, Text, ToolListReady, UserContent

CUTS_IN_A_ROW = 3
"""Answers cut by the output limit, one after another, that end a run."""


async def run_task(inputs: Sequence[UserContent], task: Task) -> None:
    """Drive one task to its end. Cancelling it closes everything that is open and raises on."""
    await begin(inputs, task)
    outlet, options = task.outlet, task.options
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
        if verdict.end.status != "completed":
            return
        turns += 1
        cuts = cuts + 1 if verdict.end.error_code == "output_limit" else 0
        if not (tell_news(task) or goes_on(task) or await continued(task, turns)):
            return
        if (reason := stop_reason(options, turns, cuts)) is not None:
            outlet.emit(notice(reason))
            return
        for content in task.control.take_steering():
            outlet.emit(steering(content))


async def begin(inputs: Sequence[UserContent], task: Task) -> None:
    """What stands before a task's first request: what is owed, the input, the tools, and what happened meanwhile."""
    outlet = task.outlet
    open_task(task, keep_undecided=not inputs)
    for content in inputs:
        outlet.record(content)
    if task.warning is not None:
        outlet.emit(notice(task.warning))
    await asyncio.sleep(0)  # an abort that came before the start takes effect here, the input being on disk
    if inputs and task.hooks is not None:
        for added in await task.hooks.user_prompt(inputs, outlet.emit):
            outlet.emit(added)
    await task.tools.connect(outlet.emit)
    offer_tools(task)
    if not inputs:
        await answer_undecided(task)
    tell_news(task)


def goes_on(task: Task) -> bool:
    """Whether the model has outputs to read, or words of a person."""
    attempt = task.outlet.context.attempt
    return bool((attempt and attempt.calls) or task.control.steering)


def tell_news(task: Task) -> bool:
    """Tell what happened beside the calls; whether there was anything."""
    news = task.tools.news()
    for text in news:
        task.outlet.emit(text)
    return bool(news)


async def continued(task: Task, turns: int) -> bool:
    """The task has ended: whether a stop hook gives the run another one."""
    if task.hooks is None:
        return False
    attempt, usage = task.outlet.context.attempt, task.outlet.context.usage
    said = (content.text for content in (attempt.content if attempt else ()) if isinstance(content, Text))
    following = await task.hooks.stop(Ended("".join(said), turns, usage), task.outlet.emit)
    if following is not None:
        task.outlet.emit(following)
    return following is not None


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
        calls = Calls(task.tools, task.decider, task.outlet)
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
        put_meta(task.meta, outlet)
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
    calls = Calls(task.tools, task.decider, task.outlet)
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
