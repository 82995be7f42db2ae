"""The two ends that the harness holds of a command's pipes."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable
from contextlib import suppress

CHUNK = 65_536
"""What a pipe holds, so that one read empties it."""


class OutputPipe:
    """The reading end: whatever comes in is handed on at once, as text of whole characters.

    What is no UTF-8 becomes U+FFFD, and so does NUL, which some programs downstream take for the end of a text.
    """

    def __init__(self, receive: Callable[[str], None], on_end: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        self._on_end = on_end
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._reading = False
        self.is_closed = False
        """Nothing comes any more: nobody else holds it, or it was given back."""
        self._fd, self.theirs = os.pipe()
        os.set_blocking(self._fd, False)

    def resume(self) -> None:
        """Take what comes in."""
        if not self._reading and not self.is_closed:
            self._reading = True
            self._loop.add_reader(self._fd, self.read)

    def pause(self) -> None:
        """Let it wait; the writer waits too when the pipe is full."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def read(self) -> None:
        """Take what is there now, at most what a pipe holds."""
        if self.is_closed:
            return
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return
        if text := self._decoder.decode(data, final=not data).replace("\0", "\ufffd"):
            self._receive(text)
        if not data:
            self.close()
            self._on_end()

    def close(self) -> None:
        """Give the pipe back; who writes to it now is told so."""
        self.pause()
        if not self.is_closed:
            self.is_closed = True
            os.close(self._fd)


class InputPipe:
    """The writing end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._closed = False
        self.theirs, self._fd = os.pipe()
        os.set_blocking(self._fd, False)

    async def write(self, data: bytes, seconds: float) -> int:
        """Write as much as is taken in this time; how many bytes that were. Raises BrokenPipeError."""
        left = memoryview(data)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while left:
                    if self._closed:
                        raise BrokenPipeError
                    try:
                        left = left[os.write(self._fd, left) :]
                    except BlockingIOError:
                        await self._writable()
        return len(data) - len(left)

    def close(self) -> None:
        """The end of the input."""
        if not self._closed:
            self._closed = True
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._ready.set()

    async def _writable(self) -> None:
        self._ready.clear()
        self._loop.add_writer(self._fd, self._ready.set)
        try:
            await self._ready.wait()
        finally:
            if not self._closed:
                self._loop.remove_writer(self._fd)
