"""The commands of one session: those at work, those in the background, and what is told of them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence

from msgspec import Struct

from penguin_harness.errors import ToolFailed
from penguin_harness.omnimessage import Text, clean
from penguin_harness.tools.backlog import Backlog
from penguin_harness.tools.command import Command, CommandLine
from penguin_harness.tools.ending import brief, ending, lasted
from penguin_harness.tools.process_tree import KILL_GRACE, Leader, ProcessTree
from penguin_harness.tools.recovery import RecoveryFile
from penguin_harness.tools.redact import Redactor

CAP = 64
"""Commands in the background, those included that are over and can still be asked for their output."""
TOLD = 2_000
"""Characters of a command's last output that its end is told with."""


class CommandState(Struct, frozen=True, kw_only=True):
    """A command as a front end lists it."""

    id: str
    command: str
    folder: str
    started: float
    """Seconds since 1970."""
    seconds: float
    """How long it has run."""
    in_background: bool
    exit: int | None
    """The exit code, negative for a signal; None while it runs."""
    lingers: bool
    """Whether it has ended and left processes that run on."""


class Processes:
    """Starts, keeps and ends commands. Nothing of them outlives `aclose`."""

    def __init__(self, redactor: Redactor, new_file: Callable[[str, int], RecoveryFile]) -> None:
        """`new_file` makes a file of that name which keeps so many bytes."""
        self._redactor = redactor
        self._new_file = new_file
        self._token = secrets.token_hex(8)
        self._count = 0
        self._first: Leader | None = None
        self._commands: dict[str, Command] = {}
        self._notices: list[str] = []
        self._closed = False

    def start(self, line: CommandLine) -> Command:
        """Start a command; whoever does it calls `keep`, `forget` or `end`. Raises OSError, ValueError, ToolFailed."""
        if self._closed:
            raise ToolFailed("The session is closed.")
        self._count += 1
        name = f"{self._token[:4]}-{self._count}"
        backlog = Backlog(self._redactor, lambda room: self._new_file(f"process-{name}", room))
        command = Command(line, name, f"{self._token}-{self._count}.", backlog)
        self._first = self._first or command.leader
        self._commands[name] = command
        return command

    def find(self, process_id: str) -> Command:
        """A command in the background, which counts as used now. Raises ToolFailed."""
        command = self._commands.get(process_id)
        if command is None or not command.in_background:
            known = [f"{each.id} ({brief(each)})" for each in self._in_background()]
            raise ToolFailed(f"There is no process {process_id!r}. In the background: {', '.join(known) or 'none'}.")
        self._commands[process_id] = self._commands.pop(process_id)
        return command

    async def keep(self, command: Command) -> None:
        """Let a command go on in the background. Beyond the cap the one used longest ago makes room."""
        command.in_background = True
        self._commands[command.id] = self._commands.pop(command.id, command)
        while len(kept := self._in_background()) > CAP:
            await self._evict(next((each for each in kept if each.over and not each.lingers), kept[0]))

    def forget(self, command: Command) -> None:
        """It is over, and there is nothing more to say about it."""
        self._commands.pop(command.id, None)
        command.close()

    async def end(self, command: Command) -> None:
        """End a command and forget it; cancelling this forces it at once."""
        try:
            await command.end()
        finally:
            self.forget(command)

    def list(self) -> tuple[CommandState, ...]:
        """Every command that runs, or is kept, in the order of their starts."""
        return tuple(map(_state, sorted(self._commands.values(), key=lambda command: command.started)))

    def news(self) -> Sequence[Text]:
        """The ends that no call has told: each once."""
        self._notices += [self._report(each) for each in self._in_background() if each.over and not each.told]
        notices, self._notices = self._notices, []
        return [Text("user", self._redactor.redact(clean(notice)), sender="harness") for notice in notices]

    async def aclose(self) -> None:
        """End every command, and whatever any of them has left."""
        self._closed = True
        commands = list(self._commands.values())
        self._commands.clear()
        try:
            if self._first is not None:
                leaders = [self._first, *(command.leader for command in commands)]
                await ProcessTree(leaders, f"{self._token}-").end()
            if exits := [command.exited for command in commands]:
                await asyncio.wait(exits, timeout=KILL_GRACE)
        finally:
            for command in commands:
                command.close()
                command.backlog.close()

    def _in_background(self) -> Sequence[Command]:
        return [command for command in self._commands.values() if command.in_background]

    async def _evict(self, command: Command) -> None:
        del self._commands[command.id]
        if not command.over or command.lingers:
            await self.end(command)
            self._notices.append(self._report(command, " to make room"))
        elif not command.told:
            self._notices.append(self._report(command))
        command.close()

    def _report(self, command: Command, why: str = "") -> str:
        """What the model is told of an end; a short output counts as shown with it."""
        command.told = True
        last, total = command.backlog.last(TOLD), command.backlog.size
        text = f"The command {command.id} ({brief(command)}) has ended{why} after {lasted(command)}: {ending(command)}."
        if total > len(last):
            return f"{text} The last {len(last)} of {total} new characters that it printed:\n{last}"
        command.backlog.take()
        return f"{text} Its last output:\n{last}" if last.strip() else text


def _state(command: Command) -> CommandState:
    return CommandState(
        id=command.id,
        command=command.line.text,
        folder=str(command.line.folder),
        started=command.started,
        seconds=command.seconds,
        in_background=command.in_background,
        exit=command.exit,
        lingers=command.lingers,
    )
