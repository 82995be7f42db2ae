"""Hooks in a temporary folder, and a record of what they answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from penguin_harness.contracts import Ended, HookVerdict, Permission
from penguin_harness.hooks import HookSet, Host, UserHook, load_hooks
from penguin_harness.omnimessage import EventPayload, Hook, Text, TokenCounts, ToolCall, UserContent

SESSION = "session-2026-12-01-09-00-00-0123abcd"


def host(folder: Path, **variables: str) -> Host:
    return Host(SESSION, folder, {"PATH": os.environ["PATH"], **variables})


def write_hook(folder: Path, name: str, toml: str, **files: str) -> Path:
    """A hook's folder below `folder / hooks`; files are executable, a `_` in their names stands for a dot."""
    place = folder / "hooks" / name
    place.mkdir(parents=True)
    (place / "hook.toml").write_text(toml, encoding="utf-8")
    for file, text in files.items():
        path = place / file.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o700)
    return place


def shell_hook(folder: Path, script: str, *, name: str = "guard", point: str = "pre_tool_use", more: str = "") -> None:
    write_hook(
        folder, name, f'points = ["{point}"]\ncommand = ["./hook.sh"]\n{more}\n', hook_sh=f"#!/bin/sh\n{script}\n"
    )


def loaded(folder: Path, **variables: str) -> list[UserHook]:
    return load_hooks(folder / "hooks", host(folder, **variables))


class Asked:
    """A HookSet and the events that its answers become."""

    def __init__(self, *hooks: UserHook, redact: Callable[[str], str] = str) -> None:
        self.hooks = HookSet(hooks, redact=redact)
        self.events: list[Hook] = []

    def emit(self, payload: EventPayload) -> None:
        assert isinstance(payload, Hook)
        msgspec.json.encode(payload)
        self.events.append(payload)

    async def prompt(self, *content: UserContent | str) -> Sequence[Text]:
        given = [Text("user", each) if isinstance(each, str) else each for each in content]
        return await self.hooks.user_prompt(given, self.emit)

    async def call(
        self, name: str = "touch", arguments: str = '{"name":"a"}', permission: Permission = "rw"
    ) -> HookVerdict | None:
        return await self.hooks.pre_tool_use(ToolCall("assistant", name, arguments, "call_1"), permission, self.emit)

    async def stop(self, answer: str = "Done.", *, turns: int = 1, tokens: int = 100) -> str | None:
        usage = TokenCounts.of(cache_write=tokens)
        text = await self.hooks.stop(Ended(answer, turns, usage), self.emit)
        return None if text is None else text.text

    @property
    def event(self) -> Hook:
        """The only one there is."""
        [event] = self.events
        return event

    def output(self, key: str) -> str:
        """What the only event records under a key."""
        value = (self.event.output or {})[key]
        assert isinstance(value, str)
        return value
