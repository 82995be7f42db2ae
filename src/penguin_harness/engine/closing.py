"""What a dead process left open, closed by the first messages of the next run: a function of the context."""

from __future__ import annotations

from typing import TypeAlias

from penguin_harness.engine.carry import closing_end, closing_output
from penguin_harness.engine.context import Context
from penguin_harness.omnimessage import CompactionEnd, RequestEnd, ToolCallOutput

Closing: TypeAlias = RequestEnd | ToolCallOutput | CompactionEnd


def closing_messages(context: Context, *, keep_undecided: bool = False) -> list[Closing]:
    """The records that close what is open, inside out; none after a clean end.

    `keep_undecided` leaves the calls of a committed request open that nobody decided yet, so that they can be asked.
    """
    closing: list[Closing] = []
    attempt = context.attempt
    if attempt is not None:
        end = attempt.end
        if end is None:
            end = closing_end(attempt)
            closing.append(end)
        committed = end.status == "completed"
        for call in attempt.calls.values():
            owed = call.output is None and (committed or not call.is_cut)
            asked_again = keep_undecided and committed and call.decision is None and not call.is_cut
            if owed and not asked_again:
                closing.append(closing_output(call))
    if context.compaction is not None:
        begin = context.compaction.begin
        message = "The process ended during the compaction."
        closing.append(CompactionEnd(begin.reason, begin.mode, "aborted", None, "process_exited", message))
    return closing
