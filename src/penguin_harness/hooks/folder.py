"""Hooks as files: a folder for each in the agent's state, with a `hook.toml` and the program.

points = ["pre_tool_use"]
command = ["python3", "guard.py"]
order = 10                        # lower ones are asked first
timeout_s = 5
on_failure = "deny"               # or "ignore": the call goes on to the command policy and the person
tools = ["exec_command", "mcp__*"]
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Struct

from penguin_harness.errors import ConfigError
from penguin_harness.hooks.answer import DECISIONS
from penguin_harness.hooks.program import Host, Program
from penguin_harness.hooks.user_hook import TIMEOUT_S, OnFailure, UserHook
from penguin_harness.omnimessage import HookPoint

FILE = "hook.toml"
LONGEST_FILE = 100_000
"""Bytes."""


class HookFile(Struct, frozen=True, kw_only=True):
    """What the file says."""

    points: Annotated[tuple[HookPoint, ...], Meta(min_length=1)]
    command: Annotated[tuple[Annotated[str, Meta(min_length=1)], ...], Meta(min_length=1)]
    order: int = 0
    timeout_s: float = TIMEOUT_S
    on_failure: OnFailure = "ignore"
    tools: tuple[str, ...] = ()


def load_hooks(folder: Path, host: Host, *, off: Collection[str] = ()) -> list[UserHook]:
    """The hooks in a folder, those left out that are `off`; none when it is not there.

    Raises ConfigError for one that cannot be used: a gate that is silently missing would let everything pass.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and entry.name[0] not in "._")
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise ConfigError(f"cannot read the hooks in {folder}: {error.strerror or error}") from None
    for name in off:
        if name not in names:
            raise ConfigError(f"hooks.off names {name!r}, which is no hook in {folder}{_meant(name, names)}")
    return [_load(folder / name, host) for name in names if name not in off]


def _load(folder: Path, host: Host) -> UserHook:
    path = folder / FILE
    file = _read(path)
    try:
        return UserHook(
            name=folder.name,
            points=file.points,
            ask=Program(folder.name, file.command, folder, host).ask,
            order=file.order,
            timeout_s=file.timeout_s,
            on_failure=file.on_failure,
            tools=file.tools,
        )
    except ConfigError as error:
        raise ConfigError(f"cannot use {path}: {error}") from None


def _read(path: Path) -> HookFile:
    import tomllib  # only who has hooks pays for it

    if not path.is_file():
        raise ConfigError(f"the hook {path.parent.name!r} has no file {path}; write it, or remove the folder")
    if path.stat().st_size > LONGEST_FILE:
        raise ConfigError(f"cannot read {path}: it is longer than {LONGEST_FILE:,} bytes")
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # ValueError: broken UTF-8 or TOML
        raise ConfigError(f"cannot read {path}: {error}") from None
    for key in table:
        if key not in HookFile.__struct_fields__:
            raise ConfigError(f"cannot read {path}: unknown key {key!r}{_meant(key, HookFile.__struct_fields__)}")
    try:
        return msgspec.convert(table, HookFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"cannot read {path}: {error}{_meant_value(str(error))}") from None


def _meant_value(fault: str) -> str:
    """What a value may be of which msgspec says that it is none."""
    found = re.match(r"Invalid enum value '(.*)' - at `\$\.(\w+)", fault, re.DOTALL)
    if found is None:
        return ""
    return _meant(found[1], get_args(OnFailure) if found[2] == "on_failure" else [*DECISIONS])


def _meant(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if known else ""
