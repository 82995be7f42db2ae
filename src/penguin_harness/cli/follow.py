"""Following a run on the screen: every message shown, signals turned into an abort, nothing left behind."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from penguin_harness.cli.console import INTERRUPTED, TERMINATED
from penguin_harness.cli.render import Renderer
from penguin_harness.engine.run import Run

FRAME = 0.08
_CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGHUP: TERMINATED}


class Interrupts:
    """Which signal has asked for the end, if any."""

    def __init__(self) -> None:
        self.exit_code: int | None = None


@contextmanager
def interrupting(abort: Callable[[], None]) -> Generator[Interrupts, None, None]:
    """Within it Ctrl-C and a polite kill abort the run instead of the program."""
    loop = asyncio.get_running_loop()
    seen = Interrupts()

    def take(number: signal.Signals) -> None:
        seen.exit_code = _CODES[number]
        abort()

    for number in _CODES:
        loop.add_signal_handler(number, take, number)
    try:
        yield seen
    finally:
        for number in _CODES:
            loop.remove_signal_handler(number)


async def follow(run: Run, renderer: Renderer, *, hint: str = "Ctrl-C interrupts") -> int | None:
    """Show the run to its end. Returns the exit code of the signal that interrupted it, if one did."""
    renderer.status.begin(hint)
    animation = asyncio.create_task(_animate(renderer))
    try:
        async with run:
            with interrupting(run.abort) as seen:
                async for message in run:
                    renderer.show(message)
    finally:
        animation.cancel()
        renderer.status.is_running = False
        renderer.close()
    return seen.exit_code


async def _animate(renderer: Renderer) -> None:
    if not renderer.screen.is_live:
        return
    with suppress(OSError):  # whoever shows the next message meets it too
        while True:
            await asyncio.sleep(FRAME)
            renderer.screen.flush()
