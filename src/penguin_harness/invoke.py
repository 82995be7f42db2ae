"""Calling what a user passed in: an async function where it is, a plain one in a thread."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


async def invoke(function: Callable[..., T | Awaitable[T]], *args: Any, **kwargs: Any) -> T:
    """The function's result. The event loop never stops for a plain function.

    When cancelled, a plain function goes on in its daemon thread, which nothing waits for, and its result is dropped.
    """
    if is_async(function):
        return await cast(Awaitable[T], function(*args, **kwargs))
    result = await _in_thread(functools.partial(function, *args, **kwargs))
    return await cast(Awaitable[T], result) if inspect.isawaitable(result) else cast(T, result)


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives a coroutine: an async function, method, partial or callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def _in_thread(function: Callable[[], T]) -> T:
    job = _Job(function)
    _give(job)
    if not job.finished.acquire(timeout=_PATIENCE):
        await job.wait()
    return job.result()


class _Job(Generic[T]):
    """One call in a thread, and the loop that waits for it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.finished = threading.Lock()
        self.finished.acquire()
        self._function = function
        self._context = contextvars.copy_context()
        self._result: T | None = None
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    def run(self) -> None:
        """Call the function; in the thread."""
        try:
            self._result = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 - handed to whoever awaits
            self._error = error
        self.finished.release()
        if self._waiter is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._waiter.get_loop().call_soon_threadsafe(_wake, self._waiter)

    async def wait(self) -> None:
        """Wait until it has run; in the loop."""
        self._waiter = asyncio.get_running_loop().create_future()
        # Here and in `run` each first says where it is and then looks at the other, so that one of them sees it.
        if not self.finished.acquire(blocking=False):
            await self._waiter

    def result(self) -> T:
        """What the function returned or raised."""
        if isinstance(self._error, StopIteration):  # a coroutine may not raise it
            raise RuntimeError(f"StopIteration: {self._error.value!r}") from None
        if self._error is not None:
            raise self._error
        return cast(T, self._result)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


_idle: deque[queue.SimpleQueue[_Job[Any]]] = deque()
"""The inboxes of threads that wait for work: starting one costs more than most functions that run in it."""

_PATIENCE = 0.0001
"""Seconds that the loop waits for a thread in place: most plain functions need less than the way through the loop."""

_LINGER = 2.0
"""Seconds that a thread waits for more work before it ends."""


def _give(job: _Job[Any]) -> None:
    try:
        _idle.pop().put(job)
    except IndexError:
        threading.Thread(target=_serve, args=(job,), name="penguin-call", daemon=True).start()


def _serve(job: _Job[Any]) -> None:
    inbox: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
    while True:
        job.run()
        _idle.append(inbox)
        try:
            job = inbox.get(timeout=_LINGER)
        except queue.Empty:
            try:
                _idle.remove(inbox)
            except ValueError:  # just taken: its job is on the way
                job = inbox.get()
            else:
                return


os.register_at_fork(after_in_child=_idle.clear)
