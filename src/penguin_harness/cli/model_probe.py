"""`penguin model test`: one tiny request, told step by step."""

from __future__ import annotations

import sys
import time
from typing import Literal, TypeAlias

from msgspec import Raw, Struct

from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.explain import explain
from penguin_harness.cli.terminal.flow import Flow
from penguin_harness.cli.terminal.neutral import neutral, one_line
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
_STEPS = ("reachable", "authorised", "takes tools", "streams", "usage reported")
_PASSED = {"auth": 1, "rejected": 2, "unsupported": 2, "malformed": 3}
"""Steps that are behind a request which failed like this before anything came."""


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
        flow = Flow(screen)
        flow.put(neutral(f"{outcome.error_message or ''}\n"))
        flow.put(explain(outcome.error_code).then, "dim")
        flow.close()
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
    steps = [Step(name) for name in _STEPS]
    reachable, _, _, streams, usage = steps
    completed = outcome.status == "completed"
    passed = len(steps) if completed else 3 if pieces else _PASSED.get(outcome.error_code or "", 0)
    for step in steps[:passed]:
        step.mark = "✓"
    if not completed:
        steps[passed].mark = "✗"
        steps[passed].note = f"{explain(outcome.error_code).what} ({outcome.error_code})"
        return steps
    reachable.note = f"first piece after {first:.2f} s" if pieces else ""
    streams.note = f"{pieces} piece{'' if pieces == 1 else 's'} in {total:.2f} s"
    if outcome.usage is None:
        usage.mark, usage.note = "-", "no; the harness estimates"
    else:
        usage.note = f"{outcome.usage.total:,} tokens"
    return steps


def _line(step: Step) -> Line:
    note = [Span("  "), Span(step.note, "dim")] if step.note else []
    width = max(map(len, _STEPS)) if step.note else 0
    return [Span(f"{step.mark} ", _STYLES[step.mark]), Span(f"{step.name:<{width}}"), *note]
