"""`penguin trace replay`: a Trace once more, in the time that it took."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter

from penguin_harness.cli.console import DONE, say
from penguin_harness.cli.follow import FRAME, animating, interrupting
from penguin_harness.cli.fragments import fragments_of, streamed_length
from penguin_harness.cli.opening import trace_files
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.keys import Chunk, Keys
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.engine.context import Context, fold
from penguin_harness.errors import InputError
from penguin_harness.omnimessage import Abort, OmniMessage, RequestEnd
from penguin_harness.trace import Skipped, read_messages

_PIECE = 4
"""Characters that come together when there is time."""


async def replay(
    trace: str,
    *,
    speed: Annotated[float, Parameter(help="How many times as fast as it was.", show_default=True)] = 1.0,
    max_wait: Annotated[float, Parameter(help="Seconds that nothing takes longer than.", show_default=True)] = 2.0,
) -> int:
    """Play a Trace file, or the whole session that has this in its id, as if it happened now.

    Nothing runs and nothing is written. Ctrl-C ends it; without a terminal it does not wait.
    """
    if not (speed > 0 and math.isfinite(speed)):
        raise InputError(f"--speed {speed:g}: a positive number is needed")
    if not max_wait >= 0:
        raise InputError(f"--max-wait {max_wait:g}: a number of seconds is needed")
    skipped: list[Skipped] = []
    messages = (message for path in trace_files(trace) for message in read_messages(path, skipped))
    screen = screen_for(sys.stdout)
    renderer = Renderer(screen, clock=lambda: time.monotonic() * speed)
    code: int | None = None
    try:
        if screen.is_live:
            code = await _play(in_time(messages, speed, max_wait), renderer)
        else:
            for message in messages:
                renderer.show(message)
    finally:
        renderer.status.is_running = False
        renderer.close(whole=code is None)
        screen.close()
    for problem in skipped:
        say(f"skipped {problem}")
    return DONE if code is None else code


def in_time(messages: Iterable[OmniMessage], speed: float, max_wait: float) -> Iterator[tuple[float, OmniMessage]]:
    """The messages, what streamed in fragments, each behind the seconds that it is waited for."""
    before: float | None = None
    for message in messages:
        now = _seconds(message.timestamp)
        wait = 0.0 if before is None or now is None else min(max(now - before, 0.0) / speed, max_wait)
        before = now if now is not None else before
        length = streamed_length(message)
        pieces = min(math.ceil(wait / FRAME), math.ceil(length / _PIECE))
        if pieces == 0:
            yield wait, message
            continue
        for fragment in fragments_of(message, pieces):
            yield wait / pieces if _is_delta(fragment) else 0.0, fragment
        yield 0.0, message


async def _play(messages: Iterable[tuple[float, OmniMessage]], renderer: Renderer) -> int | None:
    """Show the messages in their time. Returns the exit code of the signal that ended it, if one did."""
    playing = asyncio.ensure_future(_show(messages, renderer))
    keyboard = Keys(sys.stdin.fileno(), _ignore) if sys.stdin.isatty() else nullcontext()
    with animating(renderer), interrupting(playing.cancel) as seen, keyboard:
        try:
            await playing
        except asyncio.CancelledError:
            if seen.exit_code is None:
                raise
    return seen.exit_code


async def _show(messages: Iterable[tuple[float, OmniMessage]], renderer: Renderer) -> None:
    state, status = Context(), renderer.status
    for wait, message in messages:
        await asyncio.sleep(wait)
        renderer.show(message)
        fold(state, message)
        if not _is_busy(state, message):
            status.is_running = False
        elif not status.is_running:
            status.begin("Ctrl-C ends")


def _is_busy(state: Context, message: OmniMessage) -> bool:
    """Whether something was under way behind this message."""
    match message.payload:
        case Abort():
            return False
        case RequestEnd(status=status, retry_in_ms=wait) if status != "completed":
            return wait is not None
        case _:
            return state.compaction is not None or state.has_unsent() or bool(state.open_calls())


def _is_delta(message: OmniMessage) -> bool:
    return getattr(message.payload, "event_type", None) == "delta"


def _ignore(chunk: Chunk) -> None:
    """Nothing to type here."""


def _seconds(timestamp: str) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:  # a foreign Trace with another notion of time
        return None
