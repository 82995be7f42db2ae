"""Who decides about tool calls: a rule, or a person with one key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from penguin_harness.cli.arguments import proposal
from penguin_harness.cli.terminal.keys import Chunk
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span, wrap
from penguin_harness.contracts import Permission
from penguin_harness.omnimessage import Decision, ToolCall

ApprovalMode: TypeAlias = Literal["allow-all", "read-only", "always-ask", "deny-all"]
Answer: TypeAlias = Literal["allow", "deny", "allow-all"]

_ANSWERS: dict[str, Answer] = {"y": "allow", "n": "deny", "a": "allow-all"}
_ROWS = 16


class Approver:
    """The approval callback of a session; `mode` may change at any time."""

    def __init__(
        self,
        mode: ApprovalMode,
        permission: Callable[[ToolCall], Permission],
        ask: Callable[[ToolCall], Awaitable[Answer]] | None = None,
    ) -> None:
        self.mode: ApprovalMode = mode
        self.denied = 0
        """Calls that the rule denied."""
        self._permission = permission
        self._ask = ask

    async def __call__(self, call: ToolCall) -> Decision:
        """Decide about one call."""
        match self.mode:
            case "allow-all":
                return "allow"
            case "read-only" if self._permission(call) == "r":
                return "allow"
            case "always-ask" if self._ask is not None:
                answer = await self._ask(call)
                if answer == "allow-all":
                    self.mode = "allow-all"
                return "deny" if answer == "deny" else "allow"
            case _:
                self.denied += 1
                return "deny"


class Question:
    """One call that waits for a key."""

    def __init__(self, call: ToolCall, *, quiet_since: float) -> None:
        """Keys of somebody who was just writing something else, up to `quiet_since`, are no answer."""
        self.call = call
        self._quiet_since = quiet_since
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    async def answer(self) -> Answer:
        """Wait for the key."""
        return await self._answer

    def take(self, chunk: Chunk, now: float) -> None:
        """A key; anything but an answer is passed over, and so is a pasted text."""
        answer = _ANSWERS.get(chunk.lower())
        if answer is not None and now >= self._quiet_since and not self._answer.done():
            self._answer.set_result(answer)

    def lines(self, width: int) -> list[Line]:
        """The question, as a live area shows it: what would run is wrapped, never cut without a word."""
        rows = [row for spans in proposal(self.call) for row in wrap(spans, width - 4)]
        return [
            [Span("? ", "bold yellow"), Span(f"Run {one_line(self.call.name)}?", "bold")],
            *([Span("  │ ", "yellow"), *spans] for spans in _shortened(rows)),
            *wrap(_choices(), width),
        ]


def _choices() -> Line:
    keys = (("y", "allow"), ("n", "deny"), ("a", "all in this session"), ("?", "details"))
    return [span for key, what in keys for span in (Span(f"  {key}", "bold cyan"), Span(f" {what}", "dim"))]


def _shortened(rows: list[Line]) -> list[Line]:
    if len(rows) <= _ROWS:
        return rows
    return [*rows[:_ROWS], [Span(f"… {len(rows) - _ROWS} more lines (? shows them)", "dim")]]
