"""What a dead process left open, closed by the first messages of the next run: a function of context and journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from penguin_harness.contracts import Half
from penguin_harness.engine.attempt import Attempt
from penguin_harness.engine.carry import closing_end, closing_output
from penguin_harness.engine.context import Context
from penguin_harness.omnimessage import CompactionEnd, RequestEnd, Text, Thinking, ToolCall, ToolCallOutput

Closing: TypeAlias = Text | Thinking | ToolCall | RequestEnd | ToolCallOutput | CompactionEnd


def closing_messages(context: Context, halves: Sequence[Half] = (), *, keep_undecided: bool = False) -> list[Closing]:
    """The records that close what is open, inside out; none after a clean end.

    `halves` is what the tail journal knows of the open segments. `keep_undecided` leaves the calls of a committed
    request open that nobody decided yet, so that they can be asked.
    """
    closing: list[Closing] = []
    attempt = context.attempt
    if attempt is not None:
        closing += [half for half in halves_of(attempt, halves) if not isinstance(half, ToolCallOutput)]
        end = attempt.end
        if end is None:
            end = closing_end(attempt)
            closing.append(end)
        committed = end.status == "completed"
        shown = {half.tool_call_id: half.output for half in halves if isinstance(half, ToolCallOutput)}
        for call in attempt.calls.values():
            owed = call.output is None and (committed or not call.is_cut)
            asked_again = keep_undecided and committed and call.decision is None and not call.is_cut
            if owed and not asked_again:
                closing.append(closing_output(call, shown.get(call.call.tool_call_id, "")))
    if context.compaction is not None:
        begin = context.compaction.begin
        message = "The process ended during the compaction."
        closing.append(CompactionEnd(begin.reason, begin.mode, "aborted", None, "process_exited", message))
    return closing


def halves_of(attempt: Attempt | None, halves: Sequence[Half]) -> Iterator[Half]:
    """Those halves that belong to something open: the answer while it streams, a call that may have run."""
    if attempt is None:
        return
    streams = attempt.end is None and attempt.usage is None
    for half in halves:
        if isinstance(half, ToolCallOutput):
            call = attempt.calls.get(half.tool_call_id)
            if call is not None and call.is_uncertain:
                yield half
        elif streams:
            yield half
