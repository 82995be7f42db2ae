"""What a subagent shares with the session that started it: its model, and the gates before its tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from penguin_harness.contracts import (
    EmitEvent,
    Ended,
    Hooks,
    HookVerdict,
    Model,
    ModelItem,
    ModelRef,
    Permission,
    Request,
    Selective,
)
from penguin_harness.omnimessage import CompletePayload, Text, ToolCall, UserContent


class Borrowed:
    """The parent's model: used, and never closed."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        return self._model.ref

    @property
    def context_window(self) -> int:
        """Tokens that fit in one request and its answer."""
        return self._model.context_window

    def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """As the model streams."""
        return self._model.stream(request)

    def left_out(self, messages: Sequence[CompletePayload]) -> int:
        """What the model would leave out."""
        return self._model.left_out(messages) if isinstance(self._model, Selective) else 0

    async def aclose(self) -> None:
        """It belongs to somebody else."""


class Gates:
    """Hooks that decide about calls; what they add to prompts and when they go on is the parent's affair."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    async def user_prompt(self, prompt: Sequence[UserContent], emit: EmitEvent) -> Sequence[Text]:
        """Nothing: the prompt is the parent's."""
        return ()

    async def pre_tool_use(self, call: ToolCall, permission: Permission, emit: EmitEvent) -> HookVerdict | None:
        """As for the parent's calls."""
        return await self._hooks.pre_tool_use(call, permission, emit)

    async def stop(self, ended: Ended, emit: EmitEvent) -> Text | None:
        """Nothing: the parent decides what follows."""
        return None
