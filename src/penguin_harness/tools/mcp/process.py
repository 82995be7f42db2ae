"""A server's process: its lines, its stderr, its exit, and its end together with all that it started."""

from __future__ import annotations

import asyncio
import codecs
import secrets
import signal
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from penguin_harness.tools.process_tree import Leader, ProcessTree

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one message: more than any output that is of use, and less than the memory there is."""
_CHUNK = 65_536
_MARK = "PENGUIN_MCP_SERVER"
"""The variable by which a process is known as one of the server's."""
_QUIT_GRACE = 0.5
"""Seconds to end by itself when its stdin is closed, as the protocol has it."""
_REAP_GRACE = 0.5
_EXIT_GRACE = 0.2
"""Seconds between the end of its output and its exit, or the other way round when something else holds the pipe."""


class LineTooLong(Exception):
    """The server sends without an end of line."""


class ServerProcess:
    """One process in a session of its own."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Protocol, mark: str) -> None:
        self._transport = transport
        self._protocol = protocol
        self._exited = protocol.exited
        self._tree = ProcessTree([Leader.of(transport.get_pid())], mark)

    @classmethod
    async def start(
        cls, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], stderr: Callable[[str], None]
    ) -> ServerProcess:
        """Start it; what it writes to its stderr goes to `stderr`. Raises OSError."""
        loop = asyncio.get_running_loop()
        mark = secrets.token_hex(16)
        transport, protocol = await loop.subprocess_exec(
            lambda: _Protocol(loop, stderr),
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            env={**environment, _MARK: mark},
            start_new_session=True,
        )
        return cls(transport, protocol, mark)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines that it prints, until it ends; nothing is awaited from a pipe that only a child holds."""
        pending = bytearray()
        while data := await self._protocol.read_or_exit():
            start = len(pending)
            pending += data
            if pending.find(b"\n", start) != -1:
                *lines, rest = pending.split(b"\n")
                pending = bytearray(rest)
                for line in lines:
                    yield bytes(line)
            elif len(pending) > LONGEST_LINE:
                raise LineTooLong(f"it sent more than {LONGEST_LINE} bytes without an end of line")

    async def write(self, data: bytes) -> None:
        """Write to its stdin; waits while it does not read. Raises OSError when it is closed."""
        stdin = self._protocol.stdin
        assert stdin is not None
        stdin.write(data)
        await stdin.drain()

    async def how_it_ended(self) -> str:
        """In words, when it has ended or is about to."""
        await _wait(self._exited, _EXIT_GRACE)
        code = self._transport.get_returncode()
        if code is None:
            return "it closed its output"
        return f"it was killed by {_signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"

    async def end(self) -> None:
        """Close its stdin, then ask it to end, then force it; all that it has started goes with it."""
        try:
            if self._protocol.stdin is not None:
                self._protocol.stdin.close()
            await _wait(self._exited, _QUIT_GRACE)
        finally:
            await self._tree.end()
            await _wait(self._exited, _REAP_GRACE)
            self._transport.close()


class _Protocol(SubprocessStreamProtocol):
    def __init__(self, loop: asyncio.AbstractEventLoop, stderr: Callable[[str], None]) -> None:
        super().__init__(limit=_CHUNK, loop=loop)
        self.exited = asyncio.Event()
        self._take_stderr = stderr
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if fd == 2 and isinstance(data, bytes):
            self._take_stderr(self._decoder.decode(data))
        else:
            super().pipe_data_received(fd, data)

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()

    async def read_or_exit(self) -> bytes:
        """The next output; b"" at its end, or when the process has ended and nothing more comes."""
        assert self.stdout is not None
        reading = asyncio.ensure_future(self.stdout.read(_CHUNK))
        exiting = asyncio.ensure_future(self.exited.wait())
        try:
            await asyncio.wait({reading, exiting}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await asyncio.wait({reading}, timeout=_EXIT_GRACE)
            return reading.result() if reading.done() else b""
        finally:
            reading.cancel()
            exiting.cancel()


def _signal_name(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


async def _wait(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
