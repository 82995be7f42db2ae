"""A run as its caller sees it: an async iterator of messages that ends with the task."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from operator import itemgetter
from types import TracebackType
from typing import Generic, TypeVar

from penguin_harness.engine.channel import Channel
from penguin_harness.engine.control import Control
from penguin_harness.engine.intake import user_content
from penguin_harness.engine.outlet import Emitted, Outlet
from penguin_harness.errors import PenguinError, TraceError
from penguin_harness.omnimessage import Abort, OmniMessage, UserContent, encode, model_message

T = TypeVar("T")

BUFFERED = 256
"""Messages that may wait for the consumer before the producers do."""


class Execution:
    """The engine's task behind its channel. Needs no reader to come to its end."""

    def __init__(self, drive: Callable[[Control], Awaitable[None]], outlet: Outlet, after: Execution | None) -> None:
        self.control = Control()
        self.channel: Channel[Emitted] = Channel(BUFFERED)
        self.aborting = False
        self.loop = asyncio.get_running_loop()
        self._drive = drive
        self._outlet = outlet
        self._after = after
        self._started = False
        self._task = self.loop.create_task(self._execute(), name="penguin-run")

    @property
    def done(self) -> bool:
        """Whether nothing of it runs any more."""
        return self._task.done()

    @property
    def over(self) -> bool:
        """Whether the task is ending or has ended: another one may be started, and waits for it."""
        return self.done or self.aborting or self.channel.closed

    def steer(self, content: Sequence[UserContent]) -> bool:
        """Queue words for the next input; False when there will be none."""
        if self.over:
            return False
        self.control.steer(content)
        return True

    def retry_now(self) -> bool:
        """End the announced wait; False when there is none."""
        attempt = self._outlet.context.attempt
        end = None if attempt is None else attempt.end
        if self.over or end is None or end.retry_in_ms is None:
            return False
        self.control.hurry()
        return True

    def abort(self) -> None:
        """Interrupt the task. A second time, or at its end, it does nothing."""
        if self.aborting or self.done:
            return
        self.aborting = True
        self.channel.unbound()
        if self._started:
            self._task.cancel()

    def abandon(self) -> None:
        """The reader is gone, perhaps in another thread or after the loop: a user abort."""
        if self.done or self.loop.is_closed():
            return
        try:
            here = asyncio.get_running_loop() is self.loop
        except RuntimeError:
            here = False
        if here:
            self.abort()
        else:
            self.loop.call_soon_threadsafe(self.abort)

    async def wait(self) -> None:
        """Wait until the task has ended and everything of it is closed."""
        await asyncio.wait([self._task])

    async def end(self) -> None:
        """Interrupt the task if it still runs, wait for it, and raise what ended it if nobody has met it yet."""
        self.abort()
        await self.wait()
        if (error := self.channel.take_error()) is not None:
            raise error

    async def _execute(self) -> None:
        error: BaseException | None = None
        try:
            if self._after is not None:
                await self._after.wait()
                self._after = None
            self._outlet.channel = self.channel
            self._started = True
            if self.aborting:
                self._task.cancel()
            await self._drive(self.control)
        except asyncio.CancelledError:
            self.channel.unbound()
            error = self._record_abort()
        except Exception as failure:  # noqa: BLE001 - raised where the caller reads
            error = failure
        finally:
            self.channel.close(error)

    def _record_abort(self) -> TraceError | None:
        try:
            self._outlet.emit(Abort(self.control.interrupts))
        except TraceError as error:
            return error
        return None


class Reader(AsyncIterator[T], Generic[T]):
    """One pass over a run. Dropping it before the end is a user abort, as `break` does."""

    def __init__(self, execution: Execution, view: Callable[[Emitted], T]) -> None:
        self._execution = execution
        self._channel = execution.channel
        self._view = view

    def __aiter__(self) -> Reader[T]:
        return self

    async def __anext__(self) -> T:
        item = self._channel.take()
        if item is None:
            try:
                item = await self._channel.get()
            except asyncio.CancelledError:
                self._execution.abort()
                raise
        return self._view(item)

    def __del__(self) -> None:
        self._execution.abandon()


class Run:
    """One task, under way. Iterate it for its messages; leaving early interrupts it.

    async with session.run([user_text("…")]) as run:
        async for message in run: …
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._messages: Reader[OmniMessage] | None = None
        self._read = False

    def __aiter__(self) -> AsyncIterator[OmniMessage]:
        self._read = True
        return Reader(self._execution, _message)

    async def __anext__(self) -> OmniMessage:
        if self._messages is None:
            self._read = True
            self._messages = Reader(self._execution, _message)
        return await anext(self._messages)

    def lines(self) -> AsyncIterator[bytes]:
        """The messages as their encoded lines, without newlines: for those who forward them."""
        self._read = True
        return Reader(self._execution, _line)

    def emitted(self) -> AsyncIterator[Emitted]:
        """The messages, each with its line where it has one already: for who passes them on."""
        self._read = True
        return Reader(self._execution, _as_it_is)

    def abort(self) -> None:
        """Interrupt the task: what is open is closed, and the stream ends with one `abort` event."""
        self._execution.abort()

    def steer(self, messages: Sequence[OmniMessage]) -> bool:
        """Say something to the task under way: the model gets it with the next input. False when it is over.

        What could not be delivered any more is in `undelivered` when the run has ended.
        Raises InputError for anything but user content.
        """
        content = [user_content(number, message) for number, message in enumerate(messages, 1)]
        return self._execution.steer(content)

    @property
    def undelivered(self) -> tuple[OmniMessage, ...]:
        """Steering that the model has not been given: pass it to the next run, or drop it."""
        return tuple(map(model_message, self._execution.control.steering))

    def retry_now(self) -> bool:
        """End the wait before a retry; False when none is announced."""
        return self._execution.retry_now()

    async def aclose(self) -> None:
        """Interrupt the task if it still runs, and wait until nothing of it is left.

        Raises what ended the task if nobody has met it yet, as a Trace that could not be written.
        """
        await self._execution.end()

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.aclose()
        except PenguinError:
            if error is None:
                raise

    def __del__(self) -> None:
        if not self._read:
            self._execution.abandon()


_message: Callable[[Emitted], OmniMessage] = itemgetter(0)


def _as_it_is(emitted: Emitted) -> Emitted:
    return emitted


def _line(emitted: Emitted) -> bytes:
    message, line = emitted
    return encode(message) if line is None else line
