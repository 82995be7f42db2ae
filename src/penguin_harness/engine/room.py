"""Room in the model's window: the context is replaced before it is full, and never in a loop."""

from __future__ import annotations

from penguin_harness.contracts import ThinkingLevel
from penguin_harness.engine.compaction import CompactionPolicy, Compactor
from penguin_harness.engine.context import Context
from penguin_harness.engine.control import Control
from penguin_harness.engine.outlet import Outlet
from penguin_harness.omnimessage import CompactionReason, Text

FULL = (
    "The context is full again right after it was replaced, so it is not replaced once more: the prompt, the tools and "
    "what has to be kept take {tokens} tokens, the limit is {limit}."
)


class Room:
    """Watches the context of one run."""

    def __init__(
        self,
        compactor: Compactor,
        policy: CompactionPolicy,
        *,
        window: int,
        outlet: Outlet,
        control: Control,
        thinking_level: ThinkingLevel | None,
    ) -> None:
        self._compactor = compactor
        self._policy = policy
        self._window = window
        self._outlet = outlet
        self._control = control
        self._thinking_level: ThinkingLevel | None = thinking_level
        self._tried = False
        self._overflowed = False

    async def make(self) -> None:
        """Before a request: replace the context if it is due. A failure is not repeated in this run."""
        context = self._outlet.context
        reason = self._policy.due(context, self._window)
        if reason is None or self._tried or not self._possible(context):
            return
        if reason == "context" and self._pauses(context):
            return
        self._tried = not await self._compact(reason)

    async def after_overflow(self) -> bool:
        """The provider found the request too long: replace the context once; whether to try the request again."""
        if self._overflowed or not self._possible(self._outlet.context):
            return False
        self._overflowed = True
        return await self._compact("context")

    async def _compact(self, reason: CompactionReason) -> bool:
        return await self._compactor.compact(
            reason, self._policy.mode, control=self._control, thinking_level=self._thinking_level
        )

    def _possible(self, context: Context) -> bool:
        """Something must have been answered; and dropped in mid-task, a context leaves nothing to go on with."""
        mid_task = context.attempt is not None and bool(context.attempt.calls)
        return context.committed > 0 and not (self._policy.mode == "discard" and mid_task)

    def _pauses(self, context: Context) -> bool:
        """Whether this context was over the limit with its first request already; told once."""
        limit = self._policy.threshold(self._window)
        is_later = context.meta is not None and context.meta.session_usage is not None
        if not is_later or context.first_tokens < limit:
            return False
        self._tried = True
        if context.turns == 1:
            text = FULL.format(tokens=context.first_tokens, limit=limit)
            self._outlet.emit(Text("user", text, sender="harness"))
        return True
