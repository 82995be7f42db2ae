"""Where Trace files lie: `<traces>/<yyyy-mm-dd>/<session_id>_<NNN>.jsonl`, and how a session is found again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from penguin_harness.errors import SessionError

SESSION_ID = re.compile(r"session-(\d{4}-\d{2}-\d{2})-\d{2}-\d{2}-\d{2}-[0-9a-f]{8}")
_FILE = re.compile(rf"({SESSION_ID.pattern})_(\d{{3,}})\.jsonl")
_NUMBERED = re.compile(r"(.+)_(\d{3,})\.jsonl")
_SHOWN = 5


class SessionFiles(Struct, frozen=True):
    """The Trace files of one session, in order of their contexts."""

    session_id: str
    paths: tuple[Path, ...]

    @property
    def newest(self) -> Path:
        """The file of the newest context."""
        return self.paths[-1]


def new_session_id(now: datetime | None = None) -> str:
    """`session-YYYY-MM-DD-HH-mm-ss-<8 hex>`, in local time."""
    moment = now or datetime.now().astimezone()
    return f"session-{moment:%Y-%m-%d-%H-%M-%S}-{os.urandom(4).hex()}"


def context_file(traces: Path, session_id: str, number: int) -> Path:
    """The file of the session's context with this number, counted from 1."""
    return traces / session_day(session_id) / f"{session_id}_{number:03d}.jsonl"


def session_and_number(path: Path) -> tuple[str, int]:
    """The session that a file's name names, and its number in it; the whole name and 0 for any other name."""
    named = _NUMBERED.fullmatch(path.name)
    return (named[1], int(named[2])) if named else (path.name, 0)


def next_file(path: Path) -> Path:
    """The file of the context behind the one in `path`."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        raise SessionError(f"{path.name!r} is not the name of a Trace file: <session_id>_<NNN>.jsonl")
    return path.with_name(f"{match[1]}_{int(match[3]) + 1:03d}.jsonl")


def session_day(session_id: str) -> str:
    """The day in a session id, which names its folder. Raises SessionError for anything but a session id."""
    match = SESSION_ID.fullmatch(session_id)
    if match is None:
        raise SessionError(f"{session_id!r} is not a session id: session-YYYY-MM-DD-HH-mm-ss-<8 hex>")
    return match[1]


def list_sessions(traces: Path) -> list[SessionFiles]:
    """All sessions below a traces folder, the newest first."""
    found: dict[str, dict[int, Path]] = {}
    for path in traces.glob("*/session-*.jsonl"):
        match = _FILE.fullmatch(path.name)
        if match is not None:
            found.setdefault(match[1], {})[int(match[3])] = path
    newest_first = sorted(found.items(), reverse=True)
    return [SessionFiles(session, tuple(path for _, path in sorted(files.items()))) for session, files in newest_first]


def find_session(traces: Path, fragment: str, *others: Path) -> SessionFiles:
    """The one session whose id contains the fragment, in these folders.

    Raises SessionError when there is none, or more than one.
    """
    sessions = [session for folder in (traces, *others) for session in list_sessions(folder)]
    exact = [session for session in sessions if session.session_id == fragment]
    matches = exact or [session for session in sessions if fragment in session.session_id]
    match matches:
        case [session]:
            return session
        case []:
            raise SessionError(f"no session matches {fragment!r} in {traces}{_known(sessions)}")
        case _:
            raise SessionError(f"{fragment!r} matches {len(matches)} sessions: {_named(matches)}; use more of the id")


def _known(sessions: list[SessionFiles]) -> str:
    return f"; the newest are {_named(sessions)}" if sessions else "; there are none yet"


def _named(sessions: Iterable[SessionFiles]) -> str:
    names = [session.session_id for session in sessions]
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
