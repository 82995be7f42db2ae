"""A process and all that it starts, found and killed."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple

MARK = "PENGUIN_HOOK_CALL"
"""A variable that everything inherits which a program starts, also what goes to a session of its own."""


class Descendants:
    """The members of a leader's session, and those that left it, whom the mark in their environment gives away."""

    def __init__(self, leader: int, mark: str) -> None:
        self._leader = leader
        self._mark = f"{MARK}={mark}".encode()
        own = _process(str(leader))
        self._since = own.started if own is not None else 0

    def kill(self) -> bool:
        """Kill those that live; whether there were any that may still have to end."""
        try:
            names = os.listdir("/proc")  # noqa: PTH208 - a Path for each process would double the cost
        except FileNotFoundError:  # a system without it: what stayed in the group
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGKILL)
            return False
        found = [process.pid for name in names if (process := _process(name)) and self._is_member(process)]
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return bool(found)

    def _is_member(self, process: _Process) -> bool:
        if not process.alive or process.started < self._since:
            return False
        return process.session == self._leader or self._mark in _environment(process.pid)


class _Process(NamedTuple):
    pid: int
    session: int
    started: int
    """In the system's own ticks."""
    alive: bool


def _process(name: str) -> _Process | None:
    if not name.isdigit():
        return None
    with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
        stat = file.read()
        fields = stat[stat.rindex(b")") + 2 :].split()
        return _Process(int(name), int(fields[3]), int(fields[19]), fields[0] not in b"ZX")
    return None


def _environment(pid: int) -> bytes:
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
        return file.read()
    return b""
