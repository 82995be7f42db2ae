"""Child processes: each in a session of its own, its output streamed, nothing of it left behind."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from penguin_harness.invoke import invoke

CHUNK = 65_536
"""What a pipe holds, so that one read empties it."""
PIPE_GRACE = 0.1
"""Seconds that output is still awaited after the process has ended, when something else holds its pipe."""
TERM_GRACE = 0.3
KILL_GRACE = 0.2


class Processes:
    """The commands of one session's tools, those left in the background included."""

    def __init__(self) -> None:
        self._running: set[_Child] = set()
        self._left: set[_Session] = set()

    async def run(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        write: Callable[[str], Awaitable[None]],
    ) -> int:
        """Run a command to its end, its output going to `write`; the exit code, negative for a signal.

        What it leaves in the background lives on until `aclose`. When cancelled, everything it started is gone first.
        """
        child = _Child(command, folder, environment)
        self._running.add(child)
        try:
            await child.copy_to(write)
            return await child.session.exit_code()
        except BaseException:
            await child.session.end()
            raise
        finally:
            self._running.discard(child)
            child.close()
            if child.may_live_on():
                self._left.add(child.session)
            self._forget_the_ended()

    async def aclose(self) -> None:
        """End every command, and what commands left in the background."""
        sessions = self._left.union(child.session for child in self._running)
        self._left = set()
        await asyncio.gather(*(session.end() for session in sessions))

    def _forget_the_ended(self) -> None:
        processes = _processes() if self._left else ()
        self._left = {session for session in self._left if session.groups(processes)}


class _Child:
    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = self._loop.create_future()
        self._over = self._drained = self._at_end = False
        self._pipe, theirs = os.pipe()
        try:
            os.set_blocking(self._pipe, False)
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
        self.session = _Session(process)
        self.session.exited.add_done_callback(lambda _: self._loop.call_later(PIPE_GRACE, self._hang_up))

    async def copy_to(self, write: Callable[[str], Awaitable[None]]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := await self._read():
            if text := decoder.decode(data):
                await write(text)
        if text := decoder.decode(b"", final=True):
            await write(text)

    def may_live_on(self) -> bool:
        """Whether to look for what it left in the background, since a look at every process has its price."""
        return not self._at_end or self.session.has_main_group()

    def close(self) -> None:
        self._over = self._drained = True
        os.close(self._pipe)

    async def _read(self) -> bytes:
        """The next bytes; b"" at the end of the pipe, or when the process has ended and the grace is over."""
        while not self._drained:
            if not self._over:
                await self._readable()
            self._drained = self._over  # one more read gives all that the ended process had written
            with suppress(BlockingIOError):
                data = os.read(self._pipe, CHUNK)
                self._at_end = not data
                return data
        return b""

    async def _readable(self) -> None:
        self._wake = self._loop.create_future()
        self._loop.add_reader(self._pipe, self._settle)
        try:
            await self._wake
        finally:
            self._loop.remove_reader(self._pipe)

    def _settle(self) -> None:
        if not self._wake.done():
            self._wake.set_result(None)

    def _hang_up(self) -> None:
        self._over = True
        self._settle()


class _Session:
    """A leader and all that descends from it, unless it went to a session of its own.

    Ending goes by session and not by process group: `timeout` and job control make groups of their own.
    """

    def __init__(self, leader: subprocess.Popen[bytes]) -> None:
        self._id = leader.pid
        self.exited = asyncio.create_task(invoke(leader.wait))  # its thread reaps the leader whatever happens here

    async def exit_code(self) -> int:
        await asyncio.wait({self.exited})
        return self.exited.result()

    async def end(self) -> None:
        """Ask every process to end, then force it; cancelling this forces it at once."""
        try:
            self._signal(signal.SIGTERM)
            await self._gone(TERM_GRACE)
        finally:
            self._signal(signal.SIGKILL)
        await self._gone(KILL_GRACE)

    def has_main_group(self) -> bool:
        """Whether there is anything in the leader's own process group."""
        try:
            os.killpg(self._id, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is there and belongs to somebody else
            pass
        return True

    def groups(self, processes: Sequence[_Process] | None) -> set[int]:
        """The process groups that still have a living member."""
        if processes is None:
            return {self._id} if self.has_main_group() else set()
        members = [process for process in processes if process.session == self._id]
        if self.exited.done() and any(process.pid == self._id for process in members):
            return set()  # the number is free for a stranger only when nobody of ours is left
        return {process.group for process in members if process.alive}

    def _signal(self, number: signal.Signals) -> None:
        for group in self.groups(_processes()):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    async def _gone(self, limit: float) -> None:
        clock = asyncio.get_running_loop().time
        deadline = clock() + limit
        await asyncio.wait({self.exited}, timeout=limit)
        while self.groups(_processes()) and clock() < deadline:  # noqa: ASYNC110 - nothing tells of an orphan's end
            await asyncio.sleep(0.01)


class _Process(NamedTuple):
    pid: int
    group: int
    session: int
    alive: bool


def _processes() -> list[_Process] | None:
    """Every process there is; None where the system has no /proc."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a Path for each process would double the cost
    except FileNotFoundError:
        return None
    found: list[_Process] = []
    for name in filter(str.isdigit, names):
        with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            stat = file.read()
            state, _, group, session, _ = stat[stat.rindex(b")") + 2 :].split(None, 4)
            found.append(_Process(int(name), int(group), int(session), state not in b"ZX"))
    return found
