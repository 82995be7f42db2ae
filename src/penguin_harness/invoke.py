"""Calling what a user passed in: an async function where it is, a plain one in a thread of its own."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

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

    threading.Thread(target=work, name=f"penguin-{getattr(function, '__name__', 'call')}", daemon=True).start()
    return await done
