"""`penguin demo`: a recorded session played as the model, while its tools really run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from penguin_harness.agent import create_agent
from penguin_harness.cli.console import DONE, FAILED, say
from penguin_harness.cli.explain import failure_text
from penguin_harness.cli.follow import follow
from penguin_harness.cli.options import Workspace
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.screen import Screen, screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.contracts import ModelRef
from penguin_harness.llm.replay import Replay
from penguin_harness.models import REPLAY
from penguin_harness.omnimessage import ModelMessage, Text, user_text
from penguin_harness.session import Session
from penguin_harness.trace import read_messages
from penguin_harness.verify import check_files

RECORDING = Path(__file__).with_name("demo.jsonl")
_FRAGMENT = 5
_DELAY = 0.036

Fast: TypeAlias = Annotated[bool, Parameter(negative="", help="Without the pauses of a model that thinks.")]


async def demo(*, workspace: Workspace = None, fast: Fast = False) -> int:
    """See it at work: a recorded model writes a small program, and the tools really run. Needs no key."""
    screen = screen_for(sys.stdout)
    renderer = Renderer(screen)
    agent = await create_agent()
    model = Replay(
        ModelRef(REPLAY, str(RECORDING)),
        read_messages(RECORDING),
        fragment=_FRAGMENT,
        delay=0.0 if fast else _DELAY,
    )
    asked = user_text(_first_question())
    async with await agent.create_session(workspace=workspace, model=model, source="cli") as session:
        screen.lines(_opening(session), whole=True)
        renderer.show(asked)
        code = await follow(session.run([asked], approve=lambda call: "allow"), renderer)
        end = renderer.status.end
        if code is not None:
            return code
        if end is None or end.status != "completed":
            say(failure_text(end.error_code, end.error_message) if end else "the run ended before any request")
            return FAILED
        return _close(screen, renderer, session)


def _first_question() -> str:
    """What the recording answers to."""
    for message in read_messages(RECORDING):
        if isinstance(message, ModelMessage) and isinstance(message.payload, Text):
            return message.payload.text
    raise AssertionError("the recording begins with a question")


def _opening(session: Session) -> list[Line]:
    return [
        [Span("penguin demo", "bold cyan")],
        [Span("The model is a recording; its tools really run, in", "dim")],
        [Span(str(session.workspace), "dim")],
    ]


def _close(screen: Screen, renderer: Renderer, session: Session) -> int:
    """Where it is written down, whether that conforms, and what comes next."""
    broken = [finding for finding in check_files([session.trace_path], "strict") if finding.rule is not None]
    count = sum(1 for _ in read_messages(session.trace_path))
    verdict = f"✗ {broken[0].message}" if broken else f"✓ {count} messages, all as the protocol wants them"
    screen.gap()
    screen.lines(
        [
            renderer.status.summary(),
            [],
            [Span("The whole session is one file:", "bold")],
            [Span(str(session.trace_path))],
            [Span(verdict, "red" if broken else "green")],
            [],
            [Span("Next:", "bold")],
            *(_next(command, what) for command, what in _next_steps(session)),
        ],
        whole=True,
    )
    screen.close()
    return FAILED if broken else DONE


def _next_steps(session: Session) -> tuple[tuple[str, str], ...]:
    return (
        (f"penguin trace show {session.session_id[-8:]}", "see it again, from the file alone"),
        ("penguin model add", "give it a model of your own"),
        ("penguin chat", "talk with it, in any folder"),
    )


def _next(command: str, what: str) -> Line:
    return [Span(f"  {command:<30}"), Span(what, "dim")]
