"""One run of a program: in a session of its own, bounded in what it prints, and gone with everything it started."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from penguin_harness.hooks.answer import HookFailed
from penguin_harness.hooks.descendants import MARK, Descendants
from penguin_harness.invoke import invoke

CHUNK = 65_536
ERRORS_KEPT = 65_536
PIPE_GRACE_S = 0.2
"""How long output is awaited after the end, when something that got away holds the pipe."""
KILL_GRACE_S = 0.3


class Printed(NamedTuple):
    """What a program left."""

    exit_code: int
    """Negative for a signal."""
    output: bytes
    errors: bytes
    """The end of it."""


async def run_program(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], given: bytes, limit: int
) -> Printed:
    """Run a command to its end, `given` on its standard input. What it leaves running is killed.

    Raises HookFailed when it cannot be started or prints more than `limit` bytes.
    """
    with _Pipe(limit) as output, _Pipe(ERRORS_KEPT) as errors:
        mark = os.urandom(12).hex()
        process = _start(command, folder, {**environment, MARK: mark}, given, (output.entry, errors.entry))
        descendants = Descendants(process.pid, mark)
        output.close_entry()
        errors.close_entry()
        exited = asyncio.create_task(invoke(process.wait))  # its thread reaps the process whatever happens here
        try:
            await asyncio.wait({exited, output.overflowed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _kill(descendants, exited)
        await asyncio.wait({output.ended, errors.ended}, timeout=PIPE_GRACE_S)
        if output.overflowed.done():
            raise HookFailed("too_long", f"it printed more than {limit:,} bytes")
        return Printed(exited.result(), bytes(output.data), bytes(errors.data))


def _start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], given: bytes, entries: tuple[int, int]
) -> subprocess.Popen[bytes]:
    # A file for its input, and no pipe: whoever does not read it holds nothing up.
    try:
        with tempfile.TemporaryFile() as stdin:
            stdin.write(given)
            stdin.seek(0)
            return subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=stdin,
                stdout=entries[0],
                stderr=entries[1],
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        is_beside = "/" not in command[0] and (folder / command[0]).is_file()
        hint = f"; write ./{command[0]} for the file in its folder" if is_beside else ""
        raise HookFailed("not_started", f"{command[0]!r} cannot be started: {why}{hint}") from None


async def _kill(descendants: Descendants, exited: asyncio.Task[int]) -> None:
    clock = asyncio.get_running_loop().time
    deadline = clock() + KILL_GRACE_S
    while descendants.kill() and clock() < deadline:  # noqa: ASYNC110 - nothing tells of an orphan's end
        await asyncio.sleep(0.005)
    await asyncio.wait({exited}, timeout=max(0.0, deadline - clock()))


class _Pipe:
    """The end of what a program writes, read while the loop runs."""

    def __init__(self, limit: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.data = bytearray()
        self.overflowed: asyncio.Future[None] = self._loop.create_future()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._limit = limit
        self._exit, self.entry = os.pipe()
        os.set_blocking(self._exit, False)
        self._loop.add_reader(self._exit, self._read)

    def close_entry(self) -> None:
        """The program has it now."""
        if self.entry >= 0:
            os.close(self.entry)
            self.entry = -1

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_entry()
        self._loop.remove_reader(self._exit)
        os.close(self._exit)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._exit, CHUNK)
            if not data:
                self._loop.remove_reader(self._exit)
                _settle(self.ended)
            self.data += data
            if len(self.data) > self._limit:
                del self.data[: -self._limit]
                _settle(self.overflowed)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
