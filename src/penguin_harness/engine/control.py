"""What reaches a running task from outside: words of the person, and impatience."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from penguin_harness.omnimessage import ErrorCode, UserContent


class Control:
    """One task's handle for its caller. Nothing of it is kept in the context."""

    def __init__(self) -> None:
        self.interrupts: ErrorCode = "user_abort"
        """What an abort would interrupt now."""
        self._steering: deque[UserContent] = deque()
        self._hurry = asyncio.Event()

    @property
    def steering(self) -> tuple[UserContent, ...]:
        """What was said and not delivered yet."""
        return tuple(self._steering)

    def steer(self, content: Sequence[UserContent]) -> None:
        """Queue words for the next input of the task."""
        self._steering.extend(content)

    def take_steering(self) -> tuple[UserContent, ...]:
        """What is to be delivered now; it is not delivered again."""
        taken = self.steering
        self._steering.clear()
        return taken

    def hurry(self) -> None:
        """End the wait before a retry, also one that is about to begin."""
        self._hurry.set()

    def announce_wait(self) -> None:
        """A retry is announced: from now on an abort interrupts the wait for it."""
        self.interrupts = "backoff_interrupted"

    async def wait(self, until: float) -> None:
        """Wait until a time of the event loop's clock, or until somebody is in a hurry."""
        self.announce_wait()
        try:
            async with asyncio.timeout_at(until):
                await self._hurry.wait()
        except TimeoutError:  # the wait is over
            pass
        finally:
            self._hurry.clear()
        self.interrupts = "user_abort"  # an interrupted wait leaves it: the abort says what it interrupted
