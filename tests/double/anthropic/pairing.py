"""Whether each call has its one result, first thing in the turn behind it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.anthropic.turns import Block, Turn
from tests.double.anthropic.wording import invalid
from tests.double.refusal import Refusal


def check_pairing(turns: list[Turn]) -> Iterator[Refusal]:
    """Ids that repeat, calls without a result, results without a call."""
    ids: set[str] = set()
    for turn, behind in zip(turns, [*turns[1:], None], strict=True):
        calls = [block for block in turn.blocks if block.kind == "tool_use" and turn.role == "assistant"]
        for call in calls:
            if call.text("id") in ids:
                yield invalid(call.at, "`tool_use` ids must be unique", "duplicate_id")
            ids.add(call.text("id"))
        yield from _check_answers(calls, behind)
    for before, turn in zip([None, *turns], turns, strict=False):
        yield from _check_results(before, turn)


def _check_answers(calls: list[Block], behind: Turn | None) -> Iterator[Refusal]:
    answered = {result.text("tool_use_id") for result in _leading_results(behind)}
    missing = [call.text("id") for call in calls if call.text("id") not in answered]
    if missing:
        text = f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}."
        text = f"{text} Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        yield invalid(f"messages.{calls[-1].message}", text, "unanswered_call")


def _leading_results(turn: Turn | None) -> list[Block]:
    """The results that stand before everything else."""
    blocks = turn.blocks if turn is not None and turn.role == "user" else []
    end = next((number for number, block in enumerate(blocks) if block.kind != "tool_result"), len(blocks))
    return blocks[:end]


def _check_results(before: Turn | None, turn: Turn) -> Iterator[Refusal]:
    calls = {block.text("id") for block in (before.blocks if before else ()) if block.kind == "tool_use"}
    seen: set[str] = set()
    for block in turn.blocks:
        if block.kind != "tool_result" or turn.role != "user":
            continue
        id_ = block.text("tool_use_id")
        if id_ not in calls:
            text = f"unexpected `tool_use_id` found in `tool_result` blocks: {id_}. Each `tool_result` block must have"
            yield invalid(
                block.at, f"{text} a corresponding `tool_use` block in the previous message.", "orphan_output"
            )
        elif id_ in seen:
            text = "each tool_use must have a single result. Found multiple `tool_result` blocks with id"
            yield invalid(block.at, f"{text}: {id_}", "duplicate_output")
        seen.add(id_)
