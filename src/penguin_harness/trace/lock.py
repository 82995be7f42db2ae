"""One writer for each session, across processes: a lock that the system gives back when its owner dies."""

from __future__ import annotations

import fcntl
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from penguin_harness.errors import TraceError, TraceLocked


class Owner(Struct):
    """Who holds a lock."""

    pid: int
    host: str
    since: str


class SessionLock:
    """Held from its making until `release`. Raises TraceLocked at once when somebody else holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _acquire(path)

    def check(self) -> None:
        """Raise TraceLocked when the lock is not ours any more: its file was removed, and somebody else may write."""
        if os.fstat(self._file).st_nlink == 0:
            name = self.path.name.removesuffix(".lock")
            raise TraceLocked(f"{name} is not ours any more: its lock was removed; resume it to go on writing")

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        file, self._file = self._file, -1
        if file < 0:
            return
        if os.fstat(file).st_nlink:  # else the path is somebody else's lock by now
            self.path.unlink(missing_ok=True)
        os.close(file)


def _acquire(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if _lock(file, path) and _is_still(file, path):
                break
            os.close(file)  # its last owner removed it between opening and locking
    except OSError as error:
        raise TraceError(f"cannot lock the session at {path}: {error.strerror or error}") from None
    owner = Owner(os.getpid(), socket.gethostname(), datetime.now(UTC).isoformat(timespec="seconds"))
    os.ftruncate(file, 0)
    os.pwrite(file, msgspec.json.encode(owner), 0)
    return file


def _lock(file: int, path: Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = _owner(file)
        os.close(file)
        name = path.name.removesuffix(".lock")
        raise TraceLocked(f"{name} is being written by {owner}; end it there, or work on another session") from None
    return True


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _owner(file: int) -> str:
    try:
        owner = msgspec.json.decode(os.pread(file, 4096, 0), type=Owner)
    except msgspec.MsgspecError:  # it has locked the file and not written its name yet
        return "another process"
    here = "this process" if owner.pid == os.getpid() and owner.host == socket.gethostname() else f"process {owner.pid}"
    return f"{here} on {owner.host} since {owner.since}"


def lock_holder(path: Path) -> str | None:
    """Who holds the lock at this path, in words; None when nobody does. Writes nothing."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # no lock file, or none that we may know of
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _owner(file)
    finally:
        os.close(file)
    return None
