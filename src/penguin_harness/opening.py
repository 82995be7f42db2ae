"""What is known of a session when it is opened: what a dead process left, and what will not work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from penguin_harness.contracts import Half, Model, Selective, Tail
from penguin_harness.engine.closing import halves_of
from penguin_harness.engine.context import Context
from penguin_harness.omnimessage import CompletePayload, ToolCall
from penguin_harness.trace import Skipped

GONE = "The workspace {workspace} is not there: tools that need it will fail until it is put back."
FOREIGN = (
    "{count} of the messages so far carry what another model or protocol signed, as its thinking. They go to the model "
    "without it."
)


class Recovery(Struct, frozen=True):
    """What a resume found of a process that did not come to its end; the next run records it."""

    halves: tuple[Half, ...] = ()
    """What was shown of segments that are not complete: of the model's answer, or of a tool's output."""
    uncertain: tuple[ToolCall, ...] = ()
    """Calls that were allowed and have no output: they may have run."""
    skipped: tuple[Skipped, ...] = ()
    """Lines of the Trace that could not be read."""


def recovered(context: Context, tail: Tail, skipped: Sequence[Skipped]) -> Recovery:
    """What the Trace and the tail journal tell of an end that was none."""
    uncertain = (call.call for call in context.open_calls() if call.is_uncertain)
    return Recovery(tuple(halves_of(context.attempt, tail.halves())), tuple(uncertain), tuple(skipped))


def without_workspace(workspace: Path) -> str | None:
    """The warning that the folder to work in is gone."""
    return None if workspace.is_dir() else GONE.format(workspace=workspace)


def foreign_to(model: Model, history: Sequence[CompletePayload]) -> str | None:
    """The warning that a part of the history cannot be sent as it was recorded."""
    count = model.left_out(history) if isinstance(model, Selective) else 0
    return FOREIGN.format(count=count) if count else None
