"""The bounded way from the engine to its one consumer."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Channel(Generic[T]):
    """Producers put and then wait for room; the consumer takes in order. Putting itself never waits."""

    def __init__(self, limit: int) -> None:
        self.full = False
        """Whether the consumer lags behind; a producer that can wait then awaits `room`."""
        self.closed = False
        """Whether the last item has been put."""
        self._items: deque[T] = deque()
        self._limit = limit
        self._bounded = True
        self._error: BaseException | None = None
        self._reader: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None

    def put(self, item: T) -> None:
        """Add an item."""
        self._items.append(item)
        if self._reader is not None:
            self._wake_reader()
        elif len(self._items) >= self._limit:
            self.full = self._bounded

    async def room(self) -> None:
        """Wait until the consumer has caught up by half, or nobody bounds the channel any more."""
        while self.full:
            if self._room is None:
                self._room = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._room)

    def unbound(self) -> None:
        """Lift the limit: whoever closes down must not depend on somebody reading."""
        self._bounded = False
        self._make_room()

    def close(self, error: BaseException | None = None) -> None:
        """No more items; after the last one the consumer meets the error or the end."""
        self.closed = True
        self._error = error
        self.unbound()
        self._wake_reader()

    def take_error(self) -> BaseException | None:
        """The error that closed the channel, for the first who asks."""
        error, self._error = self._error, None
        return error

    def take(self) -> T | None:
        """The next item if one is there."""
        if not self._items:
            return None
        item = self._items.popleft()
        if self.full and len(self._items) <= self._limit // 2:
            self._make_room()
        return item

    async def get(self) -> T:
        """The next item. Raises StopAsyncIteration at the end, or the error that closed the channel, once."""
        while (item := self.take()) is None:
            if self.closed:
                raise self.take_error() or StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return item

    def _wake_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None and not reader.done():
            reader.set_result(None)

    def _make_room(self) -> None:
        self.full = False
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)
