"""Calling what a user passed in: an async function where it is, a plain one in a thread."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
import select
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from types import FunctionType
from typing import Any, Generic, TypeAlias, TypeVar, cast

T = TypeVar("T")


async def invoke(function: Callable[..., T | Awaitable[T]], *args: Any, **kwargs: Any) -> T:
    """The function's result. The event loop never waits for a plain function that takes its time.

    When cancelled, a plain function goes on in its daemon thread, which nothing waits for, and its result is dropped.
    """
    if is_async(function):
        return await cast(Awaitable[T], function(*args, **kwargs))
    return await in_thread(function, *args, **kwargs)


def in_thread(function: Callable[..., T | Awaitable[T]], *args: Any, **kwargs: Any) -> ThreadCall[T]:
    """Call a plain function in a daemon thread. A short one has finished when this returns; await it in any case."""
    call: ThreadCall[T] = ThreadCall(functools.partial(function, *args, **kwargs))
    try:
        _give(call.run)
    except (RuntimeError, OSError) as error:  # the system has no more threads, or pipes
        call.fail(error)
    else:
        call.give_it_a_moment()
    return call


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives a coroutine: an async function, method, partial or callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, FunctionType) and inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


_PATIENCE = 0.0001
"""Seconds that the loop waits for a thread on the spot: most plain functions need less than a way through the loop."""


class ThreadCall(Generic[T]):
    """A function at work in a thread; awaiting it gives what the function returns, awaited too if it is awaitable."""

    def __init__(self, function: Callable[[], T | Awaitable[T]]) -> None:
        self._function = function
        self._context = contextvars.copy_context()
        self._working = threading.Lock()
        self._working.acquire()
        self._result: T | Awaitable[T] | None = None
        self._is_awaitable = False
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    def run(self) -> None:
        """Call the function; in the thread."""
        try:
            self._result = self._context.run(self._function)
            self._is_awaitable = hasattr(self._result, "__await__")
        except StopIteration as stop:  # which a coroutine cannot raise
            self._error = RuntimeError(f"StopIteration: {stop.value!r}")
        except BaseException as error:  # noqa: BLE001 - handed to whoever awaits
            self._error = error
        self._working.release()
        if self._waiter is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._waiter.get_loop().call_soon_threadsafe(_wake, self._waiter)

    def fail(self, error: BaseException) -> None:
        """It could not be called."""
        self._error = error
        self._working.release()

    def give_it_a_moment(self) -> None:
        """Let the thread go first."""
        if self._working.acquire(timeout=_PATIENCE):
            self._working.release()

    @property
    def finished(self) -> bool:
        """Whether awaiting it takes no time."""
        return not self._working.locked() and not self._is_awaitable

    def __await__(self) -> Generator[Any, None, T]:
        return self._outcome().__await__()

    async def _outcome(self) -> T:
        if self._working.locked():
            self._waiter = asyncio.get_running_loop().create_future()
            if self._working.locked():  # asked again, since `run` looked for the waiter when it was done
                await self._waiter
        try:
            if self._error is not None:
                raise self._error
        finally:
            self._error = None  # its traceback leads back here
        return await cast(Awaitable[T], self._result) if self._is_awaitable else cast(T, self._result)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


Job: TypeAlias = Callable[[], None]

_LINGER_MS = 2_000
"""How long a thread waits for more work: starting one costs more than most functions that run in it."""


class _Worker:
    """A daemon thread that does one job after another.

    Its bell is a pipe because writing to one lets go of the interpreter while the thread wakes up: a short job is often
    done before the write returns. A lock or a queue would wake the thread only to have it wait for the interpreter.
    """

    def __init__(self, job: Job) -> None:
        self._job: Job | None = job
        self._awaits, self._rings = os.pipe()
        try:
            threading.Thread(target=self._serve, name="penguin-call", daemon=True).start()
        except RuntimeError:
            self._close()
            raise

    def give(self, job: Job) -> None:
        """Have it do another job, now that it idles."""
        self._job = job
        os.write(self._rings, b"!")

    def _serve(self) -> None:
        bell = select.poll()
        bell.register(self._awaits, select.POLLIN)
        while self._job is not None:
            self._job()
            self._job = None
            _idle.append(self)
            if bell.poll(_LINGER_MS) or not self._retire():
                os.read(self._awaits, 1)
        self._close()

    def _retire(self) -> bool:
        """Take itself off the idle ones; False when a job is on the way."""
        try:
            _idle.remove(self)
        except ValueError:
            return False
        return True

    def _close(self) -> None:
        os.close(self._awaits)
        os.close(self._rings)


_idle: deque[_Worker] = deque()


def _give(job: Job) -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        _Worker(job)
    else:
        worker.give(job)


os.register_at_fork(after_in_child=_idle.clear)
