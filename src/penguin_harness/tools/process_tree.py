"""What descends from a command, also what left its group or its session, and how it is ended."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

TERM_GRACE = 0.3
KILL_GRACE = 0.2
_PAUSE = 0.01
"""Seconds between two looks, at least; nothing tells of an orphan's end."""
_REST = 4
"""How many times as long as a look takes is waited before the next one."""


class Leader(NamedTuple):
    """The first process of a session; its number may be a stranger's once nothing of the session is left."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Leader:
        """A child that nobody has waited for yet."""
        process = _read_process(pid)
        return cls(pid, process.started if process else 0)

    def has_main_group(self) -> bool:
        """Whether there is anything in its own process group."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is there and belongs to somebody else
            pass
        return True


class ProcessTree:
    """The sessions of its leaders, every process with the mark in its environment, and all the children of these.

    What is out of reach is a process that has left its session, lost its parent, and given up its environment.
    """

    def __init__(self, leaders: Iterable[Leader], mark: str) -> None:
        self._leaders = tuple(leaders)
        self._mark = mark.encode()
        self._since = min(leader.started for leader in self._leaders)
        self._known: dict[int, int] = {}

    def signal(self, number: int) -> bool:
        """Send a signal to every process, 0 to look only; whether there are any.

        It goes to their groups, which a child born meanwhile is in too. A group never reaches beyond its session.
        """
        groups = self._groups()
        for group in groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        return bool(groups)

    async def end(self) -> None:
        """Ask every process to end, then force it; cancelling this forces it at once."""
        try:
            self.signal(signal.SIGTERM)
            await self._gone(TERM_GRACE, 0)
        finally:
            self.signal(signal.SIGKILL)
        await self._gone(KILL_GRACE, signal.SIGKILL)

    async def _gone(self, limit: float, number: int) -> None:
        clock = asyncio.get_running_loop().time
        begun = clock()
        deadline = begun + limit
        while self.signal(number) and (now := clock()) < deadline:
            await asyncio.sleep(max(_PAUSE, _REST * (now - begun)))
            begun = clock()

    def _groups(self) -> set[int]:
        processes = _read_processes()
        if processes is None:
            return {leader.pid for leader in self._leaders if leader.has_main_group()}
        return {process.group for process in self._members(processes) if process.alive}

    def _members(self, processes: dict[int, _Process]) -> list[_Process]:
        sessions = {leader.pid for leader in self._leaders if not _is_stranger(processes.get(leader.pid), leader)}
        young = [process for process in processes.values() if process.started >= self._since]
        ours = {process.pid for process in young if process.session in sessions or self._is_ours(process)}
        found = ours
        while found:
            found = {process.pid for process in young if process.parent in found} - ours
            ours |= found
        members = [processes[pid] for pid in ours]
        self._known.update((member.pid, member.started) for member in members)
        return members

    def _is_ours(self, process: _Process) -> bool:
        if self._known.get(process.pid) == process.started:
            return True
        with suppress(OSError), open(f"/proc/{process.pid}/environ", "rb") as file:  # noqa: PTH123 - a Path is slow
            return self._mark in file.read()
        return False


def _is_stranger(process: _Process | None, leader: Leader) -> bool:
    return process is not None and process.started != leader.started


class _Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    started: int
    """Clock ticks since the machine was started."""
    alive: bool


def _read_processes() -> dict[int, _Process] | None:
    """Every process there is; None where the system has no /proc."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a Path for each process would double the cost
    except FileNotFoundError:
        return None
    found = map(_read_process, map(int, filter(str.isdigit, names)))
    processes = {process.pid: process for process in found if process}
    return processes or None


def _read_process(pid: int) -> _Process | None:
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - a Path is slow
        stat = file.read()
        fields = stat[stat.rindex(b")") + 2 :].split(None, 20)
        state, parent, group, session = fields[:4]
        return _Process(pid, int(parent), int(group), int(session), int(fields[19]), state not in b"ZX")
    return None
