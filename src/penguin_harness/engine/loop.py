"""The engine's loop: turns until the model stops calling tools. Read this first.

A turn is one request and the calls that it makes. Everything that happens goes out through the outlet, which records it
and advances the context; the next request is read off that context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from penguin_harness.contracts import Approve, Model, Request, ThinkingLevel, Tools
from penguin_harness.engine.calls import Calls
from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.control import Control
from penguin_harness.engine.intake import steering
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.request import ask_model
from penguin_harness.engine.retry import Ladder
from penguin_harness.omnimessage import RequestBegin, RequestEnd, SessionMeta, Text, ToolListReady, UserContent

CUTS_IN_A_ROW = 3
"""Answers cut by the output limit, one after another, that end a run."""


class RunOptions(Struct, frozen=True):
    """What a run may vary; none of it is kept in the context."""

    approve: Approve | None = None
    thinking_level: ThinkingLevel | None = None
    max_turns: int | None = None
    max_output_tokens: int | None = None


async def run_task(
    inputs: Sequence[UserContent],
    *,
    meta: SessionMeta,
    model: Model,
    tools: Tools,
    options: RunOptions,
    control: Control,
    outlet: Outlet,
) -> None:
    """Drive one task to its end. Cancelling it closes everything that is open and raises on."""
    context = outlet.context
    open_task(inputs, meta=meta, outlet=outlet)
    await asyncio.sleep(0)  # an abort that came before the start takes effect here, the input being on disk
    if context.tools != tools.schemas:
        outlet.emit(ToolListReady(tools.schemas))
    if not inputs:
        await answer_undecided(tools, options, outlet)
    turns = cuts = 0
    while True:
        end = await run_turn(model=model, tools=tools, options=options, control=control, outlet=outlet)
        if end.status != "completed":
            return
        if not (context.attempt and context.attempt.calls) and not control.steering:
            return
        turns += 1
        cuts = cuts + 1 if end.error_code == "output_limit" else 0
        if cuts == CUTS_IN_A_ROW:
            outlet.emit(notice(f"The run stopped: {cuts} answers in a row were cut by the output limit."))
            return
        if turns == options.max_turns:
            outlet.emit(notice(f"The run stopped at its limit of {turns} turns; the task may be unfinished."))
            return
        for content in control.take_steering():
            outlet.emit(steering(content))


def open_task(inputs: Sequence[UserContent], *, meta: SessionMeta, outlet: Outlet) -> None:
    """What a task begins with on disk: the meta record, what a dead process owes, the input."""
    context = outlet.context
    if context.meta is None:
        outlet.record(meta)
    for closing in closing_messages(context, keep_undecided=not inputs):
        outlet.emit(closing)
    for content in inputs:
        outlet.record(content)


async def run_turn(*, model: Model, tools: Tools, options: RunOptions, control: Control, outlet: Outlet) -> RequestEnd:
    """One request, tried until it is committed or given up, and its calls, each answered when this returns."""
    ladder = Ladder()
    clock = asyncio.get_running_loop().time
    while True:
        calls = Calls(tools, options.approve, outlet)
        try:
            end = await ask_model(
                begin_request(options, outlet), model=model, calls=calls, ladder=ladder, outlet=outlet
            )
            ended = clock()
            await (calls.finish() if end.status == "completed" else calls.finish_decided())
        except asyncio.CancelledError:
            await calls.stop()
            raise
        except BaseException:
            await calls.cancel()
            raise
        if end.retry_in_ms is None:
            return end
        await control.wait(ended + end.retry_in_ms / 1000)


def begin_request(options: RunOptions, outlet: Outlet) -> Request:
    """The request that the context stands for now."""
    outlet.emit(RequestBegin())
    context = outlet.context
    return Request(
        system_prompt=context.meta.system_prompt if context.meta else "",
        messages=tuple(context.messages),
        tools=context.tools or (),
        thinking_level=options.thinking_level,
        max_output_tokens=options.max_output_tokens,
    )


async def answer_undecided(tools: Tools, options: RunOptions, outlet: Outlet) -> None:
    """Go on where the Trace stops: calls of a committed request that nobody decided are asked, in order."""
    calls = Calls(tools, options.approve, outlet)
    try:
        for call in outlet.context.open_calls():
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
