"""`penguin ls`: the sessions on disk, damaged ones too."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from msgspec import Struct

from penguin_harness.cli.agent_options import AgentName, require_agent
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.errors import PenguinError
from penguin_harness.omnimessage import ModelMessage, SessionMeta, SessionMetaMessage, Text
from penguin_harness.state.paths import DEFAULT_AGENT, agent_paths
from penguin_harness.trace import SessionFiles, Skipped, read_messages
from penguin_harness.trace import list_sessions as sessions_below

_BEGUN = re.compile(r"session-(\d{4}-\d{2}-\d{2})-(\d{2})-(\d{2})-(\d{2})-([0-9a-f]{8})")
_COLUMNS = ("session", "begun", "model", "workspace", "first words", "size")
_WORDS = 200


class Listed(Struct, frozen=True, omit_defaults=True):
    """What the list says about one session."""

    session_id: str
    begun: str
    files: int
    bytes: int
    provider: str | None = None
    model_id: str | None = None
    workspace: str | None = None
    source: str | None = None
    first_words: str | None = None
    damaged: str | None = None
    """Why the session cannot be gone on with."""


def list_sessions(
    *,
    limit: Annotated[int, Parameter(help="How many, at most.")] = 20,
    agent: AgentName = DEFAULT_AGENT,
    as_json: Json = False,
) -> None:
    """List the sessions, the newest first."""
    require_agent(agent)
    traces = agent_paths(agent).traces
    listed = [describe(files) for files in sessions_below(traces)[: max(limit, 0)]]
    if as_json:
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(listed)).decode()}\n")
        return
    screen = screen_for(sys.stdout)
    if not listed:
        screen.lines([[Span(f"No sessions yet in {traces}; begin one with `penguin chat`.")]])
    else:
        head: list[Line] = [[Span(name, "dim")] for name in _COLUMNS]
        screen.lines(aligned([head, *(_row(each, whole_id=screen.width is None) for each in listed)], screen.width))
    screen.close()


def describe(files: SessionFiles) -> Listed:
    """Read as much of a session as the list needs. Raises nothing for what lies in the files."""
    size = sum(_size(path) for path in files.paths)
    base = Listed(files.session_id, _begun(files.session_id), len(files.paths), size)
    try:
        meta = next((meta for path in reversed(files.paths) if (meta := _meta(path)) is not None), None)
        words = _first_words(files.paths[0])
    except PenguinError as error:
        return msgspec.structs.replace(base, damaged=str(error))
    if meta is None:
        return msgspec.structs.replace(base, first_words=words, damaged="no readable session_meta")
    return msgspec.structs.replace(
        base,
        provider=meta.provider,
        model_id=meta.model_id,
        workspace=meta.workspace,
        source=meta.source,
        first_words=words,
    )


def _meta(path: Path) -> SessionMeta | None:
    skipped: list[Skipped] = []
    first = next(read_messages(path, skipped), None)
    return first.payload if isinstance(first, SessionMetaMessage) else None


def _first_words(path: Path) -> str | None:
    for message in read_messages(path):
        if isinstance(message, ModelMessage):
            payload = message.payload
            return one_line(payload.text[:_WORDS]) if isinstance(payload, Text) and payload.role == "user" else None
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _begun(session_id: str) -> str:
    match = _BEGUN.fullmatch(session_id)
    assert match is not None, "the list holds session ids only"
    day, hour, minute, second = match.group(1, 2, 3, 4)
    return f"{day} {hour}:{minute}:{second}"


def _row(listed: Listed, *, whole_id: bool) -> list[Line]:
    about: list[Line]
    if listed.damaged is not None:
        about = [[Span("damaged", "red")], [], [Span(one_line(listed.damaged), "red")]]
    else:
        model = f"{listed.provider} / {_short(listed.model_id or '')}"
        about = [
            [Span(one_line(model))],
            [Span(_short(one_line(listed.workspace or "")), "dim")],
            [Span(listed.first_words or "")],
        ]
    begun = listed.begun.rpartition(":")[0]
    name = listed.session_id if whole_id else listed.session_id[-8:]
    return [[Span(name, "bold")], [Span(begun)], *about, [Span(_readable(listed.bytes), "dim")]]


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _readable(size: int) -> str:
    return f"{size / 1024:.0f} kB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"
