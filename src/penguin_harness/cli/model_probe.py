"""`penguin model test`: one tiny request, told step by step."""

from __future__ import annotations

import sys
import time
from typing import Literal, TypeAlias

from msgspec import Raw, Struct

from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.explain import explain
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.contracts import Model, Outcome, Request
from penguin_harness.models import choose_model, open_model
from penguin_harness.omnimessage import Text, ToolSchema
from penguin_harness.state.config import load_config
from penguin_harness.state.paths import agent_paths

_PARAMETERS = Raw(b'{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}')
_REQUEST = Request(
    "You answer in one word.",
    (Text("user", "Say: pong"),),
    (ToolSchema("note_word", "Notes a word down. Not needed now.", _PARAMETERS),),
)

Mark: TypeAlias = Literal["✓", "✗", "-"]
_STYLES = {"✓": "green", "✗": "red", "-": "dim"}
_PASSED_BEFORE_REFUSAL = {"auth": 1, "rejected": 2, "unsupported": 2, "malformed": 2}


class Step(Struct):
    """One thing that a session needs of a model."""

    name: str
    mark: Mark = "-"
    note: str = ""


async def probe_model(provider: str | None = None, model_id: str | None = None) -> int:
    """Ask a model for a word, with a tool on offer, and say how far it comes: reachable, authorised, streams, usage."""
    choice = choose_model(load_config(agent_paths().config), provider=provider, model_id=model_id)
    model = open_model(choice)
    screen = screen_for(sys.stdout)
    screen.lines([[Span(one_line(choice.name), "bold")]])
    screen.flush()
    try:
        steps, outcome = await probe(model)
    finally:
        await model.aclose()
    screen.lines([_line(step) for step in steps])
    if outcome.status != "completed":
        screen.lines([[Span(f"{explain(outcome.error_code).then}", "dim")]])
    screen.close()
    return DONE if outcome.status == "completed" else FAILED


async def probe(model: Model) -> tuple[list[Step], Outcome]:
    """Send the request and judge the answer."""
    begun = time.monotonic()
    first = 0.0
    pieces = 0
    outcome = Outcome("retryable", "malformed", "the stream stopped without an end")
    async for item in model.stream(_REQUEST):
        if isinstance(item, Outcome):
            outcome = item
        else:
            pieces += 1
            first = first or time.monotonic() - begun
    return _judged(outcome, pieces, first, time.monotonic() - begun), outcome


def _judged(outcome: Outcome, pieces: int, first: float, total: float) -> list[Step]:
    steps = [Step("reachable"), Step("authorised"), Step("streams"), Step("usage reported")]
    completed = outcome.status == "completed"
    passed = 4 if completed else 2 if pieces else _PASSED_BEFORE_REFUSAL.get(outcome.error_code or "", 0)
    for step in steps[:passed]:
        step.mark = "✓"
    if not completed:
        failed = steps[min(passed, 3)]
        failed.mark = "✗"
        what = f"{explain(outcome.error_code).what} ({outcome.error_code})"
        failed.note = f"{what}: {one_line(outcome.error_message or '')}"
        return steps
    steps[0].note = f"first piece after {first:.2f} s" if pieces else ""
    steps[2].note = f"{pieces} pieces in {total:.2f} s"
    if outcome.usage is None:
        steps[3].mark, steps[3].note = "-", "no; the harness estimates"
    else:
        steps[3].note = f"{outcome.usage.total:,} tokens"
    return steps


def _line(step: Step) -> Line:
    return [Span(f"{step.mark} ", _STYLES[step.mark]), Span(f"{step.name:<15}"), Span(step.note, "dim")]
