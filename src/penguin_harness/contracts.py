"""What the parties of a turn promise one another: the model, the tools, the person, the Trace.

The engine knows these and nothing behind them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.omnimessage import (
    CompletePayload,
    Decision,
    ErrorCode,
    EventPayload,
    InlineData,
    InlineThinking,
    PartialPayload,
    PartialToolCallOutput,
    SessionMeta,
    StopReason,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    ToolSchema,
    UserContent,
)

ThinkingLevel: TypeAlias = Literal["none", "low", "medium", "high", "max"]
ToolChoice: TypeAlias = str
"""`auto`, `none`, `required` (some tool must be called), or the name of the tool that must be called."""
Permission: TypeAlias = Literal["r", "rw"]


class ModelRef(Struct, frozen=True):
    """A model's identity: always the pair, never one string."""

    provider: str
    model_id: str


class Budget(Struct, frozen=True):
    """What may be spent before the next request is made; a request that is under way may go beyond it."""

    tokens: int | None = None
    """Input, cached or not, and output; None for no limit."""
    dollars: Decimal | None = None
    """US dollars at the public price; None for no limit."""


class Request(Struct, frozen=True):
    """One request to a model: a function of the context and the run's parameters."""

    system_prompt: str
    messages: Sequence[CompletePayload]
    """Grows only at its end while a context lasts; equal payloads stay the same objects, so an adapter may cache."""
    tools: tuple[ToolSchema, ...] = ()
    thinking_level: ThinkingLevel | None = None
    max_output_tokens: int | None = None
    tool_choice: ToolChoice | None = None
    input_tokens: int = 0
    """About how many tokens system prompt, tools and messages are, so that the answer fits behind them."""


class TextDelta(Struct, frozen=True, gc=False):
    """More text. Another `block` than before begins a new segment; `fidelity` replaces what the segment had."""

    text: str
    block: int = 0
    fidelity: Raw | UnsetType = UNSET


class ThinkingDelta(Struct, frozen=True, gc=False):
    """More thinking. Another `block` than before begins a new segment; `fidelity` replaces what the segment had."""

    thinking: str
    block: int = 0
    fidelity: Raw | UnsetType = UNSET


class CallDelta(Struct, frozen=True, gc=False):
    """More of a tool call, as the provider labels it: `index`, and `id` and `name` where it says them."""

    index: int
    arguments: str = ""
    id: str | None = None
    name: str | None = None
    fidelity: Raw | UnsetType = UNSET


class BlockDelta(Struct, frozen=True):
    """Content that does not stream, whole."""

    payload: InlineData | InlineThinking


class BlockEnd(Struct, frozen=True):
    """The provider says that the open segment is whole."""


class Outcome(Struct, frozen=True):
    """How a request ended: the last item of a model's stream."""

    status: StopReason
    error_code: ErrorCode | None = None
    error_message: str | None = None
    usage: TokenCounts | None = None
    """What it cost, when known; None on a completed request makes the engine estimate."""
    retry_after_ms: int | None = None
    """The wait that the server asked for."""
    overflow: bool = False
    """The provider refused the request because it does not fit into the model's window."""


ModelDelta: TypeAlias = TextDelta | ThinkingDelta | CallDelta | BlockDelta | BlockEnd
ModelItem: TypeAlias = ModelDelta | Outcome


class Model(Protocol):
    """A model behind its vendor's protocol. Keeps no conversation; frames nothing; raises nothing."""

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        ...

    @property
    def context_window(self) -> int:
        """Tokens that fit in one request and its answer."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """Deltas as they arrive, then one Outcome. Closing the generator ends the request and its connection."""
        ...

    async def aclose(self) -> None:
        """Give back connections; the model is not used afterwards."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A model that takes only part of some conversations."""

    def left_out(self, messages: Sequence[CompletePayload]) -> int:
        """How many of these messages cannot go out as they were recorded: another model or protocol signed them."""
        ...


OutputPayload: TypeAlias = PartialToolCallOutput | ToolCallOutput
EmitOutput: TypeAlias = Callable[[OutputPayload], Awaitable[None]]


class Invocation(Protocol):
    """One call that may run."""

    @property
    def permission(self) -> Permission:
        """Whether the tool only reads (`r`) or may change things (`rw`)."""
        ...

    async def run(self, emit: EmitOutput) -> None:
        """Run the tool and emit one whole segment that ends in the complete output. Raises nothing.

        When cancelled it stops the tool, closes the segment with `aborted` and returns.
        """
        ...

    def abandon(self) -> Sequence[OutputPayload]:
        """Close a call that would not stop: the payloads still owed. What the tool says later is dropped."""
        ...


EmitEvent: TypeAlias = Callable[[EventPayload], None]
"""Records an event and streams it."""


class Tools(Protocol):
    """The environment: the tools that a session offers."""

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """As the model is told, in a fixed order."""
        ...

    async def connect(self, emit: EmitEvent) -> None:
        """Bring what connects on first use, and say so: called before the first request of each run. Raises nothing."""
        ...

    def news(self) -> Sequence[Text]:
        """What happened beside the calls and the model must know, as a background command's end: each once."""
        ...

    def prepare(self, call: ToolCall) -> Invocation | str:
        """The call ready to run, or what the model is told because it cannot: unknown tool, unreadable arguments."""
        ...

    async def aclose(self) -> None:
        """End everything that the tools started."""
        ...


Approve: TypeAlias = Callable[[ToolCall], Decision | Awaitable[Decision]]
"""Asked for one call at a time; plain functions run in a thread. Anything but `allow` denies, also raising."""


Policy: TypeAlias = Callable[[ToolCall], str | None]
"""Why the command policy forbids a call, in words; None when it does not. Asked before any person is."""


class HookVerdict(Struct, frozen=True):
    """What a hook decided about a call."""

    decision: Literal["allow", "deny"]
    name: str
    """The hook's name."""
    reason: str = ""


class Ended(Struct, frozen=True):
    """How far a task has come when it ends."""

    answer: str
    """The model's last words."""
    turns: int
    """Requests that the run has made."""
    usage: TokenCounts
    """Totals of the session."""


class Hooks(Protocol):
    """What a user has hung into the course of a run. Each answer is one `hook` event; raises nothing."""

    async def user_prompt(self, prompt: Sequence[UserContent], emit: EmitEvent) -> Sequence[Text]:
        """What is added behind the prompt."""
        ...

    async def pre_tool_use(self, call: ToolCall, permission: Permission, emit: EmitEvent) -> HookVerdict | None:
        """The first decision about a call, before the policy and any person; None when no hook has an opinion."""
        ...

    async def stop(self, ended: Ended, emit: EmitEvent) -> Text | None:
        """The next task of the same run; None lets the run end."""
        ...


class Recorder(Protocol):
    """Where recorded messages go: one file for each model context."""

    def append(self, line: bytes, *, commit: bool = False) -> None:
        """Write one line; `commit` marks a point that later records depend on. Raises TraceError, nothing written."""
        ...


class Place(Struct, frozen=True):
    """How far a Trace goes: its newest file, the request in it, and how much that request has said."""

    file: str
    request: int
    """Requests begun in the file so far."""
    content: int
    """Complete payloads of the newest request so far."""


Half: TypeAlias = Text | Thinking | ToolCall | ToolCallOutput
"""What was shown of a segment whose process died, as the interrupted message that it becomes."""


class Tail(Protocol):
    """The net below half-written segments: what was shown of them survives the process. Raises nothing."""

    def note(self, fragment: PartialPayload) -> None:
        """A fragment was shown."""
        ...

    def recorded(self, payload: CompletePayload | EventPayload | SessionMeta) -> None:
        """A record is on disk: a segment that it completes needs no net any more."""
        ...

    def halves(self) -> Sequence[Half]:
        """What is known of the segment that is open exactly where the Trace ends, and of the request's outputs.

        Of outputs also those that are on disk by now: the context knows which calls are open.
        """
        ...

    def clear(self) -> None:
        """All of it is on disk: forget it."""
        ...
