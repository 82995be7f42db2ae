"""A session: one conversation in one workspace, its Trace, its model and its tools wired together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from penguin_harness.contracts import Approve, Model, Permission, ThinkingLevel, Tools
from penguin_harness.engine.context import Context
from penguin_harness.engine.control import Control
from penguin_harness.engine.intake import user_content
from penguin_harness.engine.loop import RunOptions, run_task
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.run import Execution, Run
from penguin_harness.errors import InputError, SessionError
from penguin_harness.omnimessage import (
    Clock,
    CompletePayload,
    OmniMessage,
    SessionMeta,
    TokenCounts,
    ToolCall,
    ToolSchema,
)
from penguin_harness.trace import SessionLock, Skipped, TraceWriter


class Session:
    """Made by an Agent. Use it as an async context manager, or call `close`."""

    def __init__(
        self,
        *,
        meta: SessionMeta,
        context: Context,
        model: Model,
        tools: Tools,
        writer: TraceWriter,
        lock: SessionLock,
        skipped: Sequence[Skipped] = (),
    ) -> None:
        self.skipped = tuple(skipped)
        """Lines of the Trace that a resume could not read."""
        self._meta = meta
        self._model = model
        self._tools = tools
        self._writer = writer
        self._lock = lock
        self._outlet = Outlet(context, writer, Clock(context.last_timestamp))
        self._execution: Execution | None = None
        self._closed = False

    @property
    def session_id(self) -> str:
        """`session-YYYY-MM-DD-HH-mm-ss-<8 hex>`."""
        return self._meta.session_id

    @property
    def meta(self) -> SessionMeta:
        """Model, prompt and folders of the current context."""
        return self._meta

    @property
    def workspace(self) -> Path:
        """The folder that the tools work in."""
        return Path(self._meta.workspace)

    @property
    def trace_path(self) -> Path:
        """The current Trace file; it exists from the first run on."""
        return self._writer.path

    @property
    def usage(self) -> TokenCounts:
        """Tokens that the session has cost so far."""
        return self._outlet.context.usage

    @property
    def context_tokens(self) -> int:
        """Size of the context at its last completed request, in tokens."""
        return self._outlet.context.context_tokens

    @property
    def history(self) -> tuple[CompletePayload, ...]:
        """What the model would be sent now, the system prompt aside."""
        return self._outlet.context.request_messages()

    @property
    def tools(self) -> tuple[ToolSchema, ...]:
        """What the model may call."""
        return self._tools.schemas

    def permission(self, call: ToolCall) -> Permission:
        """What the call's tool may do: `r` only reads. A call that cannot run counts as `rw`."""
        prepared = self._tools.prepare(call)
        return "rw" if isinstance(prepared, str) else prepared.permission

    def run(
        self,
        messages: Sequence[OmniMessage] = (),
        *,
        approve: Approve | None = None,
        thinking_level: ThinkingLevel | None = None,
        max_turns: int | None = None,
        max_output_tokens: int | None = None,
    ) -> Run:
        """Drive one task; iterate what is returned. It starts at once, and leaving the iteration interrupts it.

        `messages` is user content; with none, the run goes on with what the model has not answered yet.
        Without `approve` every tool call is denied.
        Raises InputError for anything else, and SessionError while another run is under way; nothing is written then.
        """
        inputs = [user_content(number, message) for number, message in enumerate(messages, 1)]
        previous = self._idle()
        if not inputs and not self._outlet.context.has_unsent():
            raise InputError("there is nothing to go on with: the model has answered everything; pass a message")
        options = RunOptions(approve, thinking_level, max_turns, max_output_tokens)

        async def drive(control: Control) -> None:
            await run_task(
                inputs,
                meta=self._meta,
                model=self._model,
                tools=self._tools,
                options=options,
                control=control,
                outlet=self._outlet,
            )

        self._execution = Execution(drive, self._outlet, previous)
        return Run(self._execution)

    async def close(self) -> None:
        """Interrupt what runs and give everything back: tasks, processes, connections, files, the lock."""
        if self._closed:
            return
        self._closed = True
        if self._execution is not None:
            self._execution.abort()
            await self._execution.wait()
        try:
            await self._tools.aclose()
            await self._model.aclose()
        finally:
            self._writer.close()
            self._lock.release()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _idle(self) -> Execution | None:
        """The run to wait for before the next one: one that is being interrupted."""
        if self._closed:
            raise SessionError(f"{self.session_id} is closed; resume it with `agent.resume_session`")
        current = self._execution
        if current is None or current.done:
            return None
        if current.aborting or current.channel.closed:
            return current
        raise SessionError(f"{self.session_id} has a run under way; wait for its end or call its `abort` first")
