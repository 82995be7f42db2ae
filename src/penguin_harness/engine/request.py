"""One request to the model: its stream framed, its cost recorded, its end told."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Protocol

from penguin_harness.contracts import Model, Outcome, Request
from penguin_harness.engine.estimate import estimate
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.retry import Ladder, Verdict
from penguin_harness.engine.segmenter import Segmenter
from penguin_harness.engine.segments import MalformedStream
from penguin_harness.errors import PenguinError
from penguin_harness.omnimessage import AssistantContent, RequestEnd, TokenUsage, ToolCall, clean

NO_END = Outcome("retryable", "malformed", "the stream stopped without an end")


class CallTaker(Protocol):
    """Takes the calls of one answer: to run them, or to answer them at once."""

    def add(self, call: ToolCall) -> None:
        """A complete call arrived."""
        ...

    def answer_cut(self) -> None:
        """The answer was committed: its cut calls are answered, since they do not run."""
        ...


async def ask_model(request: Request, *, model: Model, calls: CallTaker, ladder: Ladder, outlet: Outlet) -> Verdict:
    """Stream one answer; each complete call goes to `calls` as it arrives. Returns what came of it."""

    def take(content: AssistantContent) -> None:
        outlet.emit(content)
        if isinstance(content, ToolCall):
            calls.add(content)

    segmenter = Segmenter(outlet.stream, take, outlet.context.call_ids)
    try:
        outcome = await _stream(request, model, segmenter, outlet)
    except asyncio.CancelledError:
        segmenter.close("aborted")
        outlet.emit(RequestEnd("aborted", "user_abort"))
        raise
    segmenter.close("fatal" if outcome.error_code == "output_limit" else outcome.status)
    if outcome.status == "completed":
        return Verdict(_completed(outcome, request, calls, ladder, outlet))
    return Verdict(_failed(outcome, ladder, outlet), outcome.overflow)


async def _stream(request: Request, model: Model, segmenter: Segmenter, outlet: Outlet) -> Outcome:
    push, channel = segmenter.push, outlet.channel
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, Outcome):
                    return item
                push(item)
                if channel.full:
                    await channel.room()
    except MalformedStream as error:
        return Outcome("retryable", "malformed", str(error))
    except PenguinError:
        raise
    except Exception as error:  # noqa: BLE001 - a programming error inside an adapter becomes a message
        return Outcome("retryable", "network", f"{type(error).__name__}: {error}")
    return NO_END


def _failed(outcome: Outcome, ladder: Ladder, outlet: Outlet) -> RequestEnd:
    attempt = outlet.context.attempt
    number = ladder.attempt
    wait = ladder.failed(outcome, progress=attempt is not None and bool(attempt.content))
    code = outcome.error_code or "network"
    message = clean(outcome.error_message or code)
    end = RequestEnd(outcome.status, code, message, attempt=number, retry_in_ms=wait, usage=outcome.usage)
    outlet.emit(end)
    return end


def _completed(outcome: Outcome, request: Request, calls: CallTaker, ladder: Ladder, outlet: Outlet) -> RequestEnd:
    attempt = outlet.context.attempt
    usage = outcome.usage or estimate(request, attempt.content if attempt else ())
    outlet.emit(TokenUsage(outlet.context.usage + usage, usage, estimated=outcome.usage is None))
    number = ladder.attempt if ladder.attempt > 1 else None
    message = None if outcome.error_message is None else clean(outcome.error_message)
    end = RequestEnd("completed", outcome.error_code, message, attempt=number)
    outlet.emit(end)
    calls.answer_cut()
    return end
