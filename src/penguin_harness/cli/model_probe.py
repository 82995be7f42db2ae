"""`penguin model test`: what of a model works, step by step."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
from cyclopts import Parameter

from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.model import read_key
from penguin_harness.cli.model_checks import Tried, checks
from penguin_harness.cli.model_step import STEPS, Step
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import neutral, one_line
from penguin_harness.cli.terminal.screen import Screen, screen_for
from penguin_harness.cli.terminal.spans import Span
from penguin_harness.contracts import ModelRef
from penguin_harness.llm.catalog import facts
from penguin_harness.models import choose_model, open_model
from penguin_harness.state.config import Model, load_config
from penguin_harness.state.paths import agent_paths

_STYLES = {"✓": "green", "✗": "red", "-": "dim"}
_WIDTH = max(map(len, STEPS))


async def probe_model(
    provider: str | None = None,
    model_id: str | None = None,
    *,
    base_url: Annotated[str | None, Parameter(help="Where the provider is reached.")] = None,
    client_type: Annotated[str | None, Parameter(help="The wire protocol.")] = None,
    api_key_stdin: Annotated[bool, Parameter(negative="", help="Read the key from standard input.")] = False,
    as_json: Json = False,
) -> int:
    """Try a model with a few small requests, and say what works: streaming, tools, images, thinking.

    The exit code is 0 when a session would work. Without names the default model is tried.
    """
    choice = choose_model(
        load_config(agent_paths().config),
        provider=provider,
        model_id=model_id,
        base_url=base_url,
        client_type=client_type,
        api_key=read_key() if api_key_stdin else None,
    )
    tried = _tried(choice)
    screen = None if as_json else screen_for(sys.stdout)
    if screen is not None:
        screen.lines([[Span(one_line(choice.name), "bold")]])
        screen.flush()
    steps: list[Step] = []
    try:
        async for step in checks(tried):
            steps.append(step)
            if screen is not None:
                _show(screen, step)
    finally:
        await tried.model.aclose()
    works = not any(step.rules_out for step in steps)
    if screen is not None:
        put_line(screen, [Span(_verdict(steps, works=works), "bold")])
        screen.close()
    else:
        report = msgspec.json.encode({"works": works, "steps": steps})
        sys.stdout.write(f"{msgspec.json.format(report).decode()}\n")
    return DONE if works else FAILED


def _tried(choice: Model) -> Tried:
    """The model, and what configuration and catalogue say of it."""
    known = facts(ModelRef(choice.provider, choice.model_id))
    return Tried(
        open_model(choice),
        choice.vision if choice.vision is not None or known is None else known.vision,
        known is None or known.thinking_kind != "none",
        choice.output_limit or (known.output_limit if known else None),
    )


def _show(screen: Screen, step: Step) -> None:
    mark = Span(f"{step.mark} ", _STYLES[step.mark])
    note = [Span(f"{step.name:<{_WIDTH}}  "), Span(step.note, "" if step.failed else "dim")]
    screen.lines([[mark, *(note if step.note else [Span(step.name)])]], whole=True)
    for lesson in step.learnt:
        put_line(screen, [Span(f"  learnt: {neutral(lesson)}", "cyan")], margin=4)
    if step.words:
        put_line(screen, [Span(f"  {one_line(step.words)}")], margin=4)
    if step.way_out:
        put_line(screen, [Span(f"  {step.way_out}", "dim")], margin=4)
    screen.flush()


def _verdict(steps: list[Step], *, works: bool) -> str:
    failed = [step.name for step in steps if step.failed]
    if not works:
        return f"no session works with it: {failed[-1]}"
    return f"a session works, but not: {', '.join(failed)}" if failed else "a session works"
