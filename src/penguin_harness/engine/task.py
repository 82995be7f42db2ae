"""A task: its parties, and how the caller wants it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from penguin_harness.contracts import Approve, Hooks, Model, Policy, ThinkingLevel, ToolChoice, Tools
from penguin_harness.engine.compaction import CompactionPolicy, Compactor
from penguin_harness.engine.control import Control
from penguin_harness.engine.decide import Decider
from penguin_harness.engine.head import HeadRecord
from penguin_harness.engine.outlet import Outlet
from penguin_harness.engine.spending import Spending
from penguin_harness.omnimessage import SessionMeta, Text


class RunOptions(Struct, frozen=True):
    """What a run may vary; none of it is kept in the context."""

    approve: Approve | None = None
    thinking_level: ThinkingLevel | None = None
    max_turns: int | None = None
    max_output_tokens: int | None = None
    tool_choice: ToolChoice | None = None
    """Holds for the first turn; only `none` holds for all, else a demand to call would never end."""
    spending: Spending = Spending()

    def choice_of(self, turn: int) -> ToolChoice | None:
        """What the turn with this number, from 0, demands."""
        return self.tool_choice if turn == 0 or self.tool_choice == "none" else None


class Task(Struct, frozen=True):
    """The parties of a run, and how the caller wants it."""

    meta: SessionMeta
    model: Model
    tools: Tools
    outlet: Outlet
    control: Control
    compactor: Compactor
    policy: CompactionPolicy = CompactionPolicy()
    options: RunOptions = RunOptions()
    hooks: Hooks | None = None
    forbids: Policy | None = None
    """The command policy."""
    owed: Sequence[HeadRecord] = ()
    """What a crash left out of the head of the current file."""
    warning: str | None = None
    """What the person and the model must know before anything else."""

    @property
    def decider(self) -> Decider:
        """Who decides about the calls of this run."""
        return Decider(self.outlet, self.options.approve, policy=self.forbids, hooks=self.hooks)


def notice(text: str) -> Text:
    """What the harness tells the person and, with the next request, the model."""
    return Text("user", text, sender="harness")
