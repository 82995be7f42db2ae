"""What a tool may know of the session it works for, and its way to stream."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from penguin_harness.tools.processes import Processes
from penguin_harness.tools.recovery import RecoveryFile
from penguin_harness.tools.redact import Redactor
from penguin_harness.tools.sandbox import SandboxPolicy
from penguin_harness.tools.versions import Versions

Write: TypeAlias = Callable[[str], Awaitable[None]]


async def _into_nothing(_text: str) -> None:
    return


class ToolContext:
    """Given to every parameter annotated with it. Built by hand, it lets a test call a tool directly."""

    def __init__(
        self,
        *,
        workspace: Path,
        session_id: str,
        scratchpad: Path,
        environment: Mapping[str, str] | None = None,
        guarded: Iterable[Path] = (),
        secrets: Collection[str] = (),
        sandbox: SandboxPolicy | None = None,
    ) -> None:
        self.workspace = workspace
        self.session_id = session_id
        self.environment: Mapping[str, str] = environment or {}
        """For child processes; see `child_environment`."""
        self.guarded = tuple(guarded)
        """Files that the file tools never open, whatever path leads to them: those with credentials."""
        self.redactor = Redactor(secrets)
        """Hides the secret values in whatever a tool says."""
        self.sandbox = sandbox
        """What commands and file tools may touch; None for everything that the user may."""
        self.versions = Versions()
        """The files as they were last seen here."""
        self._scratchpad = scratchpad
        self.processes = Processes(self.redactor, self._new_file)
        """The commands that were started here."""
        self._write: Write = _into_nothing

    @property
    def scratchpad(self) -> Path:
        """The session's folder for files of its own, made when first asked for."""
        self._scratchpad.mkdir(parents=True, exist_ok=True)
        return self._scratchpad

    async def write(self, text: str) -> None:
        """Stream a piece of the output; waits while the reader is slow."""
        await self._write(text)

    def writing_to(self, write: Write) -> ToolContext:
        """The same context with another place for what is streamed."""
        context = copy.copy(self)
        context._write = write
        return context

    def _new_file(self, name: str, room: int) -> RecoveryFile:
        return RecoveryFile(lambda: self.scratchpad, name, room)
