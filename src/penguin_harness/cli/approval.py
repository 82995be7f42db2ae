"""Who decides about tool calls: a rule, or a person with one key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias, cast, get_args

from penguin_harness.cli.arguments import decoded, proposal
from penguin_harness.cli.terminal.keys import Chunk
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span, width_of, wrap
from penguin_harness.contracts import Permission
from penguin_harness.omnimessage import Decision, ToolCall

ApprovalMode: TypeAlias = Literal["allow-all", "read-only", "always-ask", "deny-all"]
Answer: TypeAlias = Literal["allow", "deny", "allow-exact", "allow-all"]

_ANSWERS: dict[str, Answer] = {"y": "allow", "n": "deny", "e": "allow-exact", "a": "allow-all"}
_MODES = get_args(ApprovalMode)
_KEYS = (
    ("y", "allow"),
    ("n", "deny"),
    ("e", "always exactly this"),
    ("a", "all in this session"),
    ("?", "details"),
)
_ROWS = 16


class Approver:
    """The approval callback of one session; `mode` may change at any time, also while a question is open."""

    def __init__(
        self,
        mode: ApprovalMode,
        permission: Callable[[ToolCall], Permission],
        ask: Callable[[ToolCall], Awaitable[Answer]] | None = None,
        *,
        allows: Callable[[ToolCall], bool] | None = None,
    ) -> None:
        """`allows` says which calls the project's rules allow, so that nobody need be asked about them."""
        self.mode: ApprovalMode = mode
        self.denied = 0
        """Calls that the rule denied."""
        self._permission = permission
        self._ask = ask
        self._allows = allows
        self._always: set[tuple[str, str]] = set()

    async def __call__(self, call: ToolCall) -> Decision:
        """Decide about one call."""
        match self.mode:
            case "allow-all":
                return "allow"
            case "read-only" if self._permission(call) == "r":
                return "allow"
            case "always-ask" if _exactly(call) in self._always or (self._allows is not None and self._allows(call)):
                return "allow"
            case "always-ask" if self._ask is not None:
                return self._decided(call, await self._ask(call))
            case _:
                self.denied += 1
                return "deny"

    def _decided(self, call: ToolCall, answer: Answer) -> Decision:
        match answer:
            case "deny":
                return "deny"
            case "allow-exact":
                self._always.add(_exactly(call))
            case "allow-all":
                self.mode = "allow-all"
            case "allow":
                pass
        return "allow"


def mode_named(text: str) -> ApprovalMode | None:
    """The mode with that name."""
    return cast(ApprovalMode, text) if text in _MODES else None


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
            *_choices(width),
        ]


def _exactly(call: ToolCall) -> tuple[str, str]:
    """The tool and all its arguments, whatever their order: another command, even a longer one, is another key."""
    members = decoded(call.arguments)
    if members is None:
        return call.name, call.arguments
    return call.name, json.dumps(members, sort_keys=True)


def _choices(width: int) -> list[Line]:
    """The keys, as many in a row as fit."""
    rows: list[list[Span]] = [[]]
    for key, what in _KEYS:
        choice = [Span(f"  {key}", "bold cyan"), Span(f" {what}", "dim")]
        if rows[-1] and width_of([*rows[-1], *choice]) > width:
            rows.append([])
        rows[-1] += choice
    return [part for row in rows for part in wrap(row, width)]


def _shortened(rows: list[Line]) -> list[Line]:
    if len(rows) <= _ROWS:
        return rows
    return [*rows[:_ROWS], [Span(f"… {len(rows) - _ROWS} more lines (? shows them)", "dim")]]
