"""What is known of a session when it is opened: what a dead process left, and what will not work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from penguin_harness.contracts import Half, Model, Selective, Tail
from penguin_harness.engine.closing import halves_of
from penguin_harness.engine.context import Context, fold_all
from penguin_harness.engine.head import HeadRecord, missing_head
from penguin_harness.errors import TraceError
from penguin_harness.omnimessage import CompletePayload, SessionMeta, ToolCall
from penguin_harness.trace import SessionFiles, Skipped, read_messages

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


class Opened(Struct):
    """Where a session stands when it is opened."""

    path: Path
    meta: SessionMeta
    context: Context
    owed: list[HeadRecord]
    skipped: list[Skipped]


def read_context(files: SessionFiles) -> Opened:
    """Fold the newest file that begins a context. Raises TraceError when there is none."""
    skipped: list[Skipped] = []
    for number, path in reversed([*enumerate(files.paths)]):
        context = folded(path, skipped)
        if context.meta is not None:
            owed: list[HeadRecord] = []
            if number and context.requests == 0:
                owed = missing_head(folded(files.paths[number - 1], skipped), context)
            return Opened(path, context.meta, context, owed, skipped)
    reasons = "; ".join(map(str, skipped[:3])) or "it is empty"
    raise TraceError(f"{files.session_id} has no readable session_meta in {files.newest.parent}: {reasons}")


def folded(path: Path, skipped: list[Skipped]) -> Context:
    """The state at the end of a Trace file."""
    return fold_all(Context(), read_messages(path, skipped))
