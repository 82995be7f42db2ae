"""A session: one conversation in one workspace, its Trace, its model and its tools wired together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Unpack

from msgspec.structs import replace

from penguin_harness.contracts import (
    Approve,
    Budget,
    Hooks,
    Model,
    ModelRef,
    Permission,
    Place,
    Policy,
    ThinkingLevel,
    ToolChoice,
    Tools,
)
from penguin_harness.engine.channel import Channel
from penguin_harness.engine.compaction import CompactionPolicy, Compactor
from penguin_harness.engine.context import Context
from penguin_harness.engine.control import Control
from penguin_harness.engine.head import HeadRecord
from penguin_harness.engine.intake import user_content
from penguin_harness.engine.loop import run_compaction, run_switch, run_task
from penguin_harness.engine.outlet import Emitted, Outlet
from penguin_harness.engine.run import Execution, Run
from penguin_harness.engine.spending import Purse, Spending
from penguin_harness.engine.task import RunOptions, Task
from penguin_harness.engine.title import make_title
from penguin_harness.errors import InputError, SessionError
from penguin_harness.models import ModelChoice, price_of, refuse_both
from penguin_harness.omnimessage import (
    Clock,
    CompactionMode,
    CompletePayload,
    OmniMessage,
    SessionMeta,
    Subagent,
    TokenCounts,
    ToolCall,
    ToolSchema,
)
from penguin_harness.opening import foreign_to, recovered, without_workspace
from penguin_harness.tools.processes import CommandState, Processes
from penguin_harness.trace import SessionLock, Skipped, TailJournal, TraceWriter, next_file


class Descendants(Protocol):
    """The sessions that a session has started."""

    @property
    def at_work(self) -> Sequence[object]:
        """Those with a task under way."""
        ...

    def belong_to(self, parent: Lineage) -> None:
        """The session that they descend from."""
        ...

    async def abort(self) -> None:
        """Interrupt all of them, and wait until everything is closed."""
        ...

    async def aclose(self) -> None:
        """End them all."""
        ...


class Lineage:
    """A session as its descendants see it."""

    def __init__(self, outlet: Outlet, model: Model) -> None:
        self.model = model
        self.approve: Approve | None = None
        self.thinking_level: ThinkingLevel | None = None
        self._outlet = outlet

    @property
    def channel(self) -> Channel[Emitted]:
        """Its stream now."""
        return self._outlet.channel

    def point_to(self, session_id: str) -> None:
        """Record that a child was started."""
        self._outlet.record(Subagent(session_id))


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
        prompt: Callable[[], str],
        policy: CompactionPolicy,
        open_model: Callable[..., Awaitable[Model]],
        owed: Sequence[HeadRecord] = (),
        skipped: Sequence[Skipped] = (),
        purse: Purse | None = None,
        hooks: Hooks | None = None,
        forbids: Policy | None = None,
        allows: Callable[[ToolCall], bool] | None = None,
        descendants: Descendants | None = None,
        processes: Processes | None = None,
    ) -> None:
        self._meta = meta
        self._model = model
        self._tools = tools
        self._writer = writer
        self._lock = lock
        self._prompt = prompt
        self._policy = policy
        self._open_model = open_model
        self._owed = owed
        self._tail = TailJournal(writer.path.with_name(f"{meta.session_id}.tail"), self._place)
        self._outlet = Outlet(context, writer, Clock(context.last_timestamp), self._tail)
        self.recovery = recovered(context, self._tail, skipped)
        """What a resume found beside a cleanly ended session."""
        self._execution: Execution | None = None
        self._told_foreign = False
        self._purse = purse
        self._hooks = hooks
        self._forbids = forbids
        self._allows = allows
        self._processes = processes
        self._lineage = Lineage(self._outlet, model)
        self._descendants = descendants
        if descendants is not None:
            descendants.belong_to(self._lineage)
        self._retired: list[Model] = []
        """Models that a descendant may still be asking."""
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
    def skipped(self) -> tuple[Skipped, ...]:
        """Lines of the Trace that a resume could not read."""
        return self.recovery.skipped

    @property
    def tail_error(self) -> Exception | None:
        """Why half-written answers could not be kept beside the Trace, if so; the Trace itself is not affected."""
        return self._tail.error

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

    @property
    def processes(self) -> tuple[CommandState, ...]:
        """The commands that run or are kept, in the order of their starts."""
        return () if self._processes is None else self._processes.list()

    def permission(self, call: ToolCall) -> Permission:
        """What the call's tool may do: `r` only reads. A call that cannot run counts as `rw`."""
        prepared = self._tools.prepare(call)
        return "rw" if isinstance(prepared, str) else prepared.permission

    def is_allowed(self, call: ToolCall) -> bool:
        """Whether the project's rules allow the call by name, so that an approval callback need not ask."""
        return self._allows is not None and self._allows(call)

    def run(
        self,
        messages: Sequence[OmniMessage] = (),
        *,
        approve: Approve | None = None,
        thinking_level: ThinkingLevel | None = None,
        max_turns: int | None = None,
        max_output_tokens: int | None = None,
        tool_choice: ToolChoice | None = None,
        budget: Budget | None = None,
    ) -> Run:
        """Drive one task; iterate what is returned. It starts at once, and leaving the iteration interrupts it.

        `messages` is user content; with none, the run goes on with what the model has not answered yet.
        Without `approve` every tool call is denied. `tool_choice` is `auto`, `none` (for the whole run), `required` or
        a tool's name (for its first turn). A `budget`, or that of the session, ends the run between two requests with
        a notice; a run with empty input goes on.
        Raises InputError for anything else, ConfigError for a budget in dollars when no price is known, SessionError
        while another run is under way; nothing is written then.
        """
        inputs = [user_content(number, message) for number, message in enumerate(messages, 1)]
        self._check_choice(tool_choice)
        self._check_idle()
        if not inputs and not self._outlet.context.has_unsent():
            raise InputError("there is nothing to go on with: the model has answered everything; pass a message")
        options = RunOptions(approve, thinking_level, max_turns, max_output_tokens, tool_choice, self._spending(budget))
        self._lineage.approve, self._lineage.thinking_level = approve, thinking_level
        return self._start(lambda control: run_task(inputs, self._task(control, options)))

    def compactability(self) -> Literal["closed", "running", "empty"] | None:
        """Why the context cannot be replaced now; None when it can."""
        if self._closed:
            return "closed"
        if self._execution is not None and not self._execution.over:
            return "running"
        return None if self._outlet.context.committed else "empty"

    def compact(self, mode: CompactionMode = "summarize") -> Run:
        """Replace the context now: by a summary that its model writes, or by nothing. Iterate what is returned.

        Raises SessionError when `compactability` has a reason against it.
        """
        self._check_idle()
        if self.compactability() == "empty":
            raise SessionError(f"{self.session_id} has nothing to compact: the model has not answered anything yet")
        return self._start(lambda control: run_compaction(mode, self._task(control, RunOptions())))

    async def switch_model(self, *, model: Model | None = None, **choice: Unpack[ModelChoice]) -> Run:
        """Go on with another model, in a new context: what was said so far is handed over in words.

        The model is named as in `Agent.create_session`. Iterate what is returned: the head of the new context.
        Raises ConfigError when the model is not there, SessionError while a run is under way.
        """
        self._check_idle()
        if model is not None:
            refuse_both(choice)
        chosen = model or await self._open_model(**choice)
        self._check_idle()
        return self._start(lambda control: self._switch(chosen, control))

    async def title(self) -> str | None:
        """A few words for the session, by its model; None when there is nothing to name or the model fails.

        A request aside: it enters neither the context nor the Trace.
        """
        return await make_title(self._model, self.history)

    async def close(self) -> None:
        """Interrupt what runs and give everything back: tasks, processes, connections, files, the lock.

        Raises what ended the last run if nobody has met it, as a Trace that could not be written.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._execution is not None:
                await self._execution.end()
        finally:
            await self._give_back()

    async def _give_back(self) -> None:
        try:
            if self._descendants is not None:
                await self._descendants.aclose()
            await self._tools.aclose()
            for model in (*self._retired, self._model):
                await model.aclose()
        finally:
            self._tail.close()
            self._writer.close()
            self._lock.release()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _task(self, control: Control, options: RunOptions) -> Task:
        owed, self._owed = self._owed, ()  # written once, by whatever runs first
        return Task(
            meta=self._meta,
            model=self._model,
            tools=self._tools,
            outlet=self._outlet,
            control=control,
            compactor=Compactor(model=self._model, outlet=self._outlet, rotate=self._rotate),
            policy=self._policy,
            options=options,
            hooks=self._hooks,
            forbids=self._forbids,
            owed=owed,
            warning=self._warning(),
        )

    def _warning(self) -> str | None:
        """What the person and the model must know before anything else; of what cannot be sent, once."""
        told = [without_workspace(self.workspace)]
        if not self._told_foreign:
            self._told_foreign = True
            told.append(foreign_to(self._model, self.history))
        return "\n".join(filter(None, told)) or None

    async def _switch(self, model: Model, control: Control) -> None:
        before, self._model, self._lineage.model = self._model, model, model
        await self._open_context(control)
        if self._descendants is not None and self._descendants.at_work:
            self._retired.append(before)
        else:
            await before.aclose()

    async def _open_context(self, control: Control) -> None:
        """The model is another one than the Trace's newest context has: it gets a context of its own."""
        ref = self._model.ref
        renamed = replace(
            self._meta,
            provider=ref.provider,
            model_id=ref.model_id,
            model_context_window=self._model.context_window,
        )
        if self._outlet.context.meta is None:
            self._meta = renamed
        else:
            await run_switch(self._task(control, RunOptions()), lambda: self._rotate(renamed))

    def _rotate(self, meta: SessionMeta | None = None) -> SessionMeta:
        """Go on in the next Trace file, with a prompt assembled anew."""
        usage = self._outlet.context.usage
        self._meta = replace(meta or self._meta, system_prompt=self._prompt(), session_usage=usage)
        self._writer.move(next_file(self._writer.path))
        return self._meta

    def _place(self) -> Place:
        """How far the Trace goes now."""
        context = self._outlet.context
        content = len(context.attempt.content) if context.attempt else 0
        return Place(self._writer.path.name, context.requests, content)

    def _start(self, drive: Callable[[Control], Awaitable[None]]) -> Run:
        """Begin a run, behind one that is still being interrupted."""

        async def drive_with_its_model(control: Control) -> None:
            if ModelRef(self._meta.provider, self._meta.model_id) != self._model.ref:
                await self._open_context(control)
            try:
                await drive(control)
            except asyncio.CancelledError:
                if self._descendants is not None:
                    await self._descendants.abort()
                raise

        before = self._execution
        waits_for = before if before is not None and not before.done else None
        self._execution = Execution(drive_with_its_model, self._outlet, waits_for)
        return Run(self._execution)

    def _spending(self, budget: Budget | None) -> Spending:
        """The purses that a run is paid from."""
        purses = [*([Purse("run", budget)] if budget else ()), *([self._purse] if self._purse else ())]
        in_dollars = any(purse.budget.dollars is not None for purse in purses)
        return Spending(purses, price_of(self._model.ref) if in_dollars else None)

    def _check_choice(self, choice: ToolChoice | None) -> None:
        known = ["auto", "none", "required", *(tool.name for tool in self.tools)]
        if choice is not None and choice not in known:
            raise InputError(f"tool_choice is {choice!r}; it may be {', '.join(known)}")

    def _check_idle(self) -> None:
        if self._closed:
            raise SessionError(f"{self.session_id} is closed; resume it with `agent.resume_session`")
        if self._execution is not None and not self._execution.over:
            raise SessionError(f"{self.session_id} has a run under way; wait for its end or call its `abort` first")
