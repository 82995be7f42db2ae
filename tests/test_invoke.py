"""Plain functions run in threads: short ones are over at once, long ones never hold up the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable

import pytest

from penguin_harness.invoke import in_thread, invoke


async def test_a_result_an_error_and_what_a_coroutine_cannot_raise() -> None:
    def fail(error: Exception) -> None:
        raise error

    assert await invoke(lambda: 1) == 1
    with pytest.raises(ValueError, match="no"):
        await invoke(fail, ValueError("no"))
    with pytest.raises(RuntimeError, match="StopIteration: 1"):
        await invoke(fail, StopIteration(1))


async def test_a_long_function_does_not_hold_up_the_loop() -> None:
    go_on = threading.Event()
    call = in_thread(go_on.wait, 10)
    assert not call.finished
    asyncio.get_running_loop().call_soon(go_on.set)
    assert await call
    assert call.finished


async def test_what_a_plain_function_returns_is_awaited() -> None:
    async def later() -> int:
        return 1

    def plain() -> Awaitable[int]:
        return later()

    assert await invoke(plain) == 1
    call = in_thread(plain)
    assert not call.finished, "awaiting it may take its time"
    assert await call == 1


async def test_functions_at_the_same_time_have_threads_of_their_own() -> None:
    together = threading.Barrier(3, timeout=10)
    assert sorted(await asyncio.gather(*(invoke(together.wait) for _ in range(3)))) == [0, 1, 2]
