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
from typing import Any, TypeAlias, TypeVar, cast

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
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(cast(T, result))
        else:
            done.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function)
        except StopIteration as stop:  # a future refuses it
            error = RuntimeError(f"StopIteration: {stop.value!r}")
        except BaseException as raised:  # noqa: BLE001 - handed to whoever awaits
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    _give(work)
    return await done


Job: TypeAlias = Callable[[], None]

_idle: deque[queue.SimpleQueue[Job]] = deque()
"""The inboxes of threads that wait for work: starting one costs more than most functions that run in it."""

_LINGER = 2.0
"""Seconds that a thread waits for more work before it ends."""


def _give(job: Job) -> None:
    try:
        _idle.pop().put(job)
    except IndexError:
        threading.Thread(target=_serve, args=(job,), name="penguin-call", daemon=True).start()


def _serve(job: Job) -> None:
    inbox: queue.SimpleQueue[Job] = queue.SimpleQueue()
    while True:
        job()
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
