"""The subagents of one session, and the two tools with which its model works them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal, Protocol, TypeAlias

from msgspec import Meta, Struct

from penguin_harness.contracts import Approve, Model, ModelRef, ThinkingLevel
from penguin_harness.engine.channel import Channel
from penguin_harness.engine.outlet import Emitted
from penguin_harness.errors import ConfigError, PenguinError, ToolFailed
from penguin_harness.omnimessage import Text
from penguin_harness.session import Session
from penguin_harness.subagents.child import Child, close_all
from penguin_harness.subagents.forward import Forwarder
from penguin_harness.tools import Tool, ToolResult, tool

SUBAGENT_TOOLS = ("run_subagent", "input_subagent")
CAP = 8
DEPTH = 1
FOREGROUND_MS = 600_000
"""How long a call waits for its subagent unless it says otherwise."""
LONGEST_MS = 3_600_000
_GRACE_S = 60

Level: TypeAlias = Literal["none", "low", "medium", "high", "max"]
Wait: TypeAlias = Annotated[
    int,
    Meta(
        description="Milliseconds to wait for its end; then it goes on in the background, and its end is told.",
        ge=0,
        le=LONGEST_MS,
    ),
]


class SubagentLimits(Struct, frozen=True):
    """How many subagents, and how deep."""

    cap: int = CAP
    """Subagents of one session that may be at work at the same time."""
    depth: int = DEPTH
    """Generations below the first session; 0 offers no subagents."""


class Parent(Protocol):
    """What the children need of the session that started them."""

    @property
    def approve(self) -> Approve | None:
        """The approval callback of its newest run."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel | None:
        """Of its newest run."""
        ...

    @property
    def model(self) -> Model:
        """The model that it asks now."""
        ...

    @property
    def channel(self) -> Channel[Emitted]:
        """Its stream now."""
        ...

    def point_to(self, session_id: str) -> None:
        """Record that a child was started."""
        ...


Open: TypeAlias = Callable[[str | None, Model | ModelRef], Awaitable[Session]]
"""Opens a session for a child with this model, or the one of that name: a new one, or the one with that id."""


class Children:
    """Starts, follows and ends the subagents of one session."""

    def __init__(self, open_session: Open, limits: SubagentLimits) -> None:
        self._open = open_session
        self._limits = limits
        self._parent: Parent | None = None
        self._children: dict[str, Child] = {}
        self._opening = 0
        """Those whose sessions are being opened: they have their places already."""

    def belong_to(self, parent: Parent) -> None:
        """The session whose tools these are."""
        self._parent = parent

    @property
    def tools(self) -> list[Tool]:
        """`run_subagent` and `input_subagent`; none where the depth is used up."""
        return [self._run_tool(), self._input_tool()] if self._limits.depth > 0 else []

    @property
    def at_work(self) -> list[Child]:
        """Those with a task under way."""
        return [child for child in self._children.values() if child.at_work]

    def news(self) -> Sequence[Text]:
        """The ends of tasks that nobody waited for: each once."""
        ended = [child for child in self._children.values() if child.in_background and not child.at_work]
        for child in ended:
            child.in_background = False
        return [Text("user", child.report()[0], sender="harness") for child in ended]

    async def abort(self) -> None:
        """The person interrupted: so is every descendant."""
        await asyncio.gather(*(child.abort() for child in self.at_work))
        for child in self._children.values():
            child.in_background = False

    async def aclose(self) -> None:
        """End them all and give their sessions back."""
        children, self._children = list(self._children.values()), {}
        await close_all(children)

    def _run_tool(self) -> Tool:
        @tool(name="run_subagent", timeout=LONGEST_MS / 1000 + _GRACE_S)
        async def run_subagent(
            task: Annotated[str, Meta(description="What to do, with all that it needs to know.", min_length=1)],
            description: Annotated[str, Meta(description="The task in a few words, for people.")] = "",
            thinking_level: Annotated[Level | None, Meta(description="Other than your own.")] = None,
            provider: Annotated[str | None, Meta(description="Of another model than your own; with model_id.")] = None,
            model_id: Annotated[str | None, Meta(description="The model's name at that provider.")] = None,
            run_in_background: Annotated[bool, Meta(description="Do not wait for it.")] = False,
            yield_time_ms: Wait = FOREGROUND_MS,
        ) -> ToolResult:
            """Give a task to a subagent: an agent of its own with the same tools, in the same workspace.
            It sees nothing of this conversation, and answers with its last words. Several calls at once run side by
            side. Use it for work whose steps you need not see.
            """
            parent = self._require_room()
            child = await self._new(description or task[:80], chosen(provider, model_id))
            child.start(task, parent.approve, thinking_level or parent.thinking_level)
            return await self._result(child, 0 if run_in_background else yield_time_ms)

        return run_subagent

    def _input_tool(self) -> Tool:
        @tool(name="input_subagent", timeout=LONGEST_MS / 1000 + _GRACE_S)
        async def input_subagent(
            session_id: Annotated[str, Meta(description="As run_subagent named it.")],
            action: Annotated[
                Literal["message", "poll", "kill"],
                Meta(description="Say something more, look how far it is, or end it."),
            ] = "message",
            text: Annotated[str, Meta(description="What to say; for `message`.")] = "",
            yield_time_ms: Wait = FOREGROUND_MS,
        ) -> ToolResult:
            """Go on with a subagent: a message steers the task under way, or begins another one in the same session."""
            parent = self._parent
            assert parent is not None
            child = self._children.get(session_id) or await self._again(session_id)
            if action == "kill":
                await child.abort()
            elif action == "message":
                if not text.strip():
                    raise ToolFailed("A message needs a text; use the action `poll` to look how far it is.")
                if not child.steer(text):
                    self._require_room()
                    child.start(text, parent.approve, parent.thinking_level)
            return await self._result(child, yield_time_ms)

        return input_subagent

    async def _result(self, child: Child, wait_ms: int) -> ToolResult:
        """What has come of the child within this time; a call that is interrupted interrupts it."""
        try:
            ended = await child.wait(wait_ms / 1000)
        except asyncio.CancelledError:
            await child.abort()
            raise
        child.in_background = not ended
        text, good = child.report()
        if not ended:
            text += "; its end will be told. Go on with other work, or look with input_subagent."
        return ToolResult(text, stop_reason="completed" if good else "fatal")

    async def _new(self, about: str, other: ModelRef | None) -> Child:
        model = other or self._require_room().model
        self._opening += 1
        try:
            return self._known(await self._open(None, model), about)
        except ConfigError as error:
            raise ToolFailed(f"The subagent cannot be started: {error}") from None
        finally:
            self._opening -= 1

    async def _again(self, session_id: str) -> Child:
        """A child of an earlier process."""
        try:
            return self._known(await self._open(session_id, self._require_room().model), session_id)
        except PenguinError as error:
            known = ", ".join(self._children) or "none"
            raise ToolFailed(
                f"There is no subagent {session_id!r} ({error}). Those of this session: {known}."
            ) from None

    def _known(self, session: Session, about: str) -> Child:
        parent = self._parent
        assert parent is not None
        child = Child(session, Forwarder(lambda: session.meta, lambda: parent.channel), about)
        self._children[session.session_id] = child
        parent.point_to(session.session_id)
        return child

    def _require_room(self) -> Parent:
        if len(self.at_work) + self._opening >= self._limits.cap:
            names = ", ".join(child.session_id for child in self.at_work) or "they have only begun"
            raise ToolFailed(f"{self._limits.cap} subagents are at work, which is the limit: {names}. Wait for one.")
        assert self._parent is not None
        return self._parent


def chosen(provider: str | None, model_id: str | None) -> ModelRef | None:
    """The model of that name; None for the parent's. Raises ToolFailed for half a name."""
    if provider is None and model_id is None:
        return None
    if not provider or not model_id:
        raise ToolFailed("Another model is named by provider and model_id together; leave out both for your own.")
    return ModelRef(provider, model_id)
