"""Following a run on the screen: every message shown, signals turned into an abort, nothing left behind."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from penguin_harness.cli.console import INTERRUPTED, TERMINATED
from penguin_harness.cli.render import Renderer
from penguin_harness.engine.run import Run

FRAME = 0.08
_CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGHUP: TERMINATED}
POLITE_KILLS = (signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Which signal has asked for the end, if any."""

    def __init__(self) -> None:
        self.exit_code: int | None = None


@contextmanager
def interrupting(
    abort: Callable[[], object], signals: Sequence[signal.Signals] = tuple(_CODES)
) -> Generator[Interrupts, None, None]:
    """Within it Ctrl-C and a polite kill call `abort` instead of ending the program."""
    loop = asyncio.get_running_loop()
    seen = Interrupts()

    def take(number: signal.Signals) -> None:
        seen.exit_code = _CODES[number]
        abort()

    for number in signals:
        loop.add_signal_handler(number, take, number)
    try:
        yield seen
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def follow(
    run: Run,
    renderer: Renderer,
    *,
    hint: str = "Ctrl-C interrupts",
    keys: AbstractContextManager[None] | None = None,
) -> int | None:
    """Show the run to its end, with the `keys` read. Returns the exit code of the signal that came, if one did."""
    renderer.status.begin(hint)
    try:
        async with run:
            with animating(renderer), interrupting(run.abort) as seen, keys or nullcontext():
                async for message in run:
                    renderer.show(message)
    finally:
        renderer.status.is_running = False
        renderer.close()
    return seen.exit_code


@contextmanager
def animating(renderer: Renderer) -> Generator[None, None, None]:
    """Within it what is live moves, and no line waits for the next message to be written."""
    animation = asyncio.create_task(_animate(renderer))
    try:
        yield
    finally:
        animation.cancel()


async def _animate(renderer: Renderer) -> None:
    with suppress(OSError):  # whoever shows the next message meets it too
        while True:
            await asyncio.sleep(FRAME)
            renderer.screen.flush()
