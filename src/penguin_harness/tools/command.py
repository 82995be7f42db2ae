"""One command at work: what it prints, what it is told, and how it ends with all that it started."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from penguin_harness.invoke import invoke
from penguin_harness.tools.backlog import Backlog
from penguin_harness.tools.pipes import CHUNK, InputPipe, OutputPipe
from penguin_harness.tools.process_tree import KILL_GRACE, Leader, ProcessTree

MARK = "PENGUIN_COMMAND"
"""The environment variable by which a command's processes are known, also those of a harness inside a command."""
PIPE_GRACE = 0.1
"""Seconds that output is still awaited after the process has ended, when something else holds its pipe."""
SETTLING = 0.1
"""Seconds that processes may take to go with the one that has ended."""
SLOW = 0.01
"""Seconds between two reads of output that nobody waits for and that is more than is shown."""


class CommandLine(Struct, frozen=True, kw_only=True):
    """What is to be run."""

    text: str
    """As people know it."""
    argv: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    has_input: bool = False
    """Whether something can be written to it; otherwise its input is empty."""
    timeout: float | None = None
    """Seconds after which it is ended."""


class Command:
    """Made by Processes. It is over when its process has ended, whatever that left behind."""

    def __init__(self, line: CommandLine, command_id: str, mark: str, backlog: Backlog) -> None:
        self._loop = asyncio.get_running_loop()
        self.line = line
        self.id = command_id
        self.backlog = backlog
        self.started = time.time()
        self.in_background = self.told = self.over = self.timed_out = False
        self._followed = self._ending = self._closed = False
        self._changed = asyncio.Event()
        self._following = asyncio.Lock()
        self._end_in_time: asyncio.Task[None] | None = None
        self._output = OutputPipe(self._receive, self._on_pipe_end)
        self._input: InputPipe | None = None
        process = self._start(mark)
        self._began, self._ended = self._loop.time(), 0.0
        self.leader = Leader.of(process.pid)
        self.tree = ProcessTree([self.leader], mark)
        self.exited = asyncio.create_task(invoke(process.wait))  # its thread reaps it whatever happens here
        self.exited.add_done_callback(self._on_exit)
        self._timers = [self._loop.call_later(line.timeout, self._time_out)] if line.timeout else []
        self._output.resume()

    @property
    def exit(self) -> int | None:
        """The exit code, negative for a signal; None while there is none."""
        has_one = self.exited.done() and not self.exited.cancelled() and not self.exited.exception()
        return self.exited.result() if has_one else None

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._ended or self._loop.time()) - self._began

    @property
    def lingers(self) -> bool:
        """Whether it is over and has left processes: those that hold its pipe, or are in its first group."""
        may_linger = self.over and not self._closed and (not self._output.is_closed or self.leader.has_main_group())
        return may_linger and self.tree.signal(0)  # a look at every process has its price

    async def follow(self, write: Callable[[str], Awaitable[None]], seconds: float) -> bool:
        """Pass on what it prints until it is over or the time is; whether all was passed on and it is over.

        Meanwhile it prints no faster than `write` takes it. What was passed on once is not passed on again. Of one that
        was over before, what it has left is followed.
        """
        async with self._following:
            deadline = self._loop.time() + seconds
            was_over = self.over
            self._followed, expired = True, False
            try:
                while True:
                    self._changed.clear()
                    is_last = self._output.is_closed if was_over else self.over
                    text = self.backlog.take()
                    self._output.resume()
                    if text:
                        await write(text)
                    if is_last or expired:
                        self.told = self.told or is_last or was_over
                        return is_last
                    expired = not await self._change_before(deadline)
            finally:
                self._followed = False
                self._output.resume()

    async def settle(self) -> None:
        """Give what dies with it a moment, as the sandbox's first process, so that it does not pass for left behind."""
        for _ in range(5):
            if not self.lingers:
                return
            await asyncio.sleep(SETTLING / 5)

    async def send(self, text: str, seconds: float) -> int:
        """Write to its input as far as it takes it in this time; how many bytes. Raises BrokenPipeError."""
        if self._input is None:
            raise BrokenPipeError
        return await self._input.write(text.encode(), seconds)

    def end_input(self) -> None:
        """Nothing more is written to it."""
        if self._input is not None:
            self._input.close()

    async def end(self) -> None:
        """End it and all that descends from it; cancelling this forces it at once."""
        self._ending = True
        try:
            await self.tree.end()
            await asyncio.wait({self.exited}, timeout=KILL_GRACE)
        finally:
            self.close()

    def close(self) -> None:
        """Nothing is read of it or written to it any more, whatever is left of it."""
        self._finish()
        self._closed = True
        self._output.close()

    def _start(self, mark: str) -> subprocess.Popen[bytes]:
        environment = dict(self.line.environment)
        environment[MARK] = environment.get(MARK, "") + mark
        try:
            self._input = InputPipe() if self.line.has_input else None
            return subprocess.Popen(
                self.line.argv,
                cwd=self.line.folder,
                env=environment,
                stdin=self._input.theirs if self._input else subprocess.DEVNULL,
                stdout=self._output.theirs,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            self._output.close()
            self.end_input()
            raise
        finally:
            for pipe in filter(None, (self._output, self._input)):
                os.close(pipe.theirs)

    def _receive(self, text: str) -> None:
        self.backlog.feed(text, bounded=not self._followed)
        self._changed.set()
        if self._followed:
            if self.backlog.size >= CHUNK:
                self._output.pause()
        elif self.backlog.is_cut:
            self._output.pause()
            self._loop.call_later(SLOW, self._output.resume)

    async def _change_before(self, deadline: float) -> bool:
        if self._loop.time() >= deadline:
            return False
        try:
            async with asyncio.timeout_at(deadline):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _on_exit(self, _: asyncio.Task[int]) -> None:
        self._ended = self._loop.time()
        if self._output.is_closed:
            self._finish_by_itself()
        else:
            self._timers.append(self._loop.call_later(PIPE_GRACE, self._finish_by_itself))

    def _on_pipe_end(self) -> None:
        self._changed.set()
        if self.exited.done():
            self._finish_by_itself()

    def _finish_by_itself(self) -> None:
        if not self._ending:  # what is being ended is over when all of it is gone
            self._finish()

    def _finish(self) -> None:
        """It is over; what its process had printed last is taken before."""
        if self.over:
            return
        self.over = True
        self._output.read()
        self._output.read()  # the first one may have emptied the pipe just before its end
        for timer in self._timers:
            timer.cancel()
        self.end_input()
        self._changed.set()

    def _time_out(self) -> None:
        self.timed_out = True
        self._end_in_time = asyncio.create_task(self.end())
