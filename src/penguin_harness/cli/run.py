"""`penguin run`: one task, from a message to its end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Parameter
from msgspec import Struct

from penguin_harness.cli.agent_options import AgentName
from penguin_harness.cli.approval import ApprovalMode, Approver
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.console import DONE, FAILED, read_input, say, write_line
from penguin_harness.cli.explain import failure_text
from penguin_harness.cli.follow import follow, interrupting
from penguin_harness.cli.opening import named_agent, new_session, resumed_session
from penguin_harness.cli.options import Approval, Json, MaxTurns, ModelOptions, Spend, Thinking, Workspace
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.contracts import Budget, ThinkingLevel
from penguin_harness.engine.run import Run
from penguin_harness.errors import ConfigError, InputError
from penguin_harness.omnimessage import OmniMessage, RequestEnd, decode, user_text
from penguin_harness.session import Session
from penguin_harness.state.paths import DEFAULT_AGENT

NO_MODEL = ModelOptions()
NO_CAP = Spend()


def run(
    *,
    message: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--message", "-m"],
            negative="",
            allow_leading_hyphen=True,
            help="What to do; may come several times. `-` reads standard input, as does leaving it out in a pipe.",
        ),
    ] = (),
    agent: AgentName = DEFAULT_AGENT,
    workspace: Workspace = None,
    model: ModelOptions = NO_MODEL,
    approve: Approval = None,
    max_turns: MaxTurns = None,
    spend: Spend = NO_CAP,
    thinking: Thinking = None,
    resume: Annotated[str | None, Parameter(help="Go on with the session that has this in its id.")] = None,
    as_json: Json = False,
) -> int:
    """Do one task and end.

    On a terminal everything is shown. In a pipe stdout gets the model's answers, and stderr what it did.
    """
    mode = approval_mode(approve, as_json=as_json)
    job = Job(
        texts=_texts(message, resumed=resume is not None),  # before the loop runs, so that Ctrl-C ends the waiting
        agent=agent,
        mode=mode,
        workspace=workspace,
        model=model,
        max_turns=max_turns,
        budget=spend.budget,
        thinking=thinking,
        resume=resume,
        as_json=as_json,
    )
    done = asyncio.run(perform(job))
    if done.denied and approve is None:
        say(f"{done.denied} tool call(s) denied, since nobody can be asked here; see --approve")
    return _exit_code(done)


class Job(Struct, frozen=True, kw_only=True):
    """What there is to do, and how."""

    texts: list[str]
    agent: str
    mode: ApprovalMode
    workspace: Path | None
    model: ModelOptions
    max_turns: int | None
    budget: Budget | None
    thinking: ThinkingLevel | None
    resume: str | None
    as_json: bool


class Done(Struct, frozen=True):
    """How it ended."""

    end: RequestEnd | None
    """How the last request ended."""
    interrupted: int | None
    """The exit code of the signal that came, if one did."""
    denied: int
    """Calls that the rule denied."""


async def perform(job: Job) -> Done:
    """Do the job in a session of its own, or in the one to go on with."""
    agent = await named_agent(job.agent)
    session = await (
        new_session(agent, job.model, job.workspace)
        if job.resume is None
        else resumed_session(agent, job.resume, job.model, job.workspace)
    )
    async with session:
        renderer = _renderer()
        asking = Asking(renderer)
        approver = Approver(job.mode, session.permission, asking.ask, allows=session.is_allowed)
        asking.approver = approver
        inputs = [user_text(text) for text in job.texts]
        task = session.run(
            inputs, approve=approver, thinking_level=job.thinking, max_turns=job.max_turns, budget=job.budget
        )
        if job.as_json:
            end, interrupted = await _print_lines(task)
            return Done(end, interrupted, approver.denied)
        interrupted = await follow(task, renderer, keys=asking.keys(task) if job.mode == "always-ask" else None)
        if renderer.screen.is_live:
            renderer.screen.gap()
            renderer.screen.lines([renderer.status.summary(), _session_mark(session)])
        renderer.screen.close()
        return Done(renderer.status.end, interrupted, approver.denied)


def approval_mode(asked: ApprovalMode | None, *, as_json: bool = False) -> ApprovalMode:
    """Who decides. Raises ConfigError when somebody should be asked and cannot be."""
    can_ask = sys.stdin.isatty() and _page().isatty() and not as_json
    if asked == "always-ask" and not can_ask:
        why = "with --json nobody can be asked" if as_json else "there is no terminal to ask on"
        raise ConfigError(f"{why}; pass --approve allow-all, read-only or deny-all")
    return asked or ("always-ask" if can_ask else "deny-all")


def _texts(messages: tuple[str, ...], *, resumed: bool) -> list[str]:
    """The input: as given, or standard input. A resumed session may go on without any."""
    if not messages and not sys.stdin.isatty():
        text = read_input()
        return [text] if text.strip() or not resumed else []
    if not messages and not resumed:
        raise InputError("nothing to do: pass -m TEXT, or -m - and the text on standard input")
    return [read_input() if text == "-" else text for text in messages]


def _page() -> TextIO:
    """Where a person looks."""
    return sys.stdout if sys.stdout.isatty() else sys.stderr


def _renderer() -> Renderer:
    page = _page()
    return Renderer(screen_for(page), answers=None if page is sys.stdout else sys.stdout, final_failures=False)


async def _print_lines(task: Run) -> tuple[RequestEnd | None, int | None]:
    """The messages' lines on stdout, each at once."""
    end: RequestEnd | None = None
    async with task:
        with interrupting(task.abort) as seen:
            async for line in task.lines():
                write_line(line)
                sys.stdout.flush()
                if b'"request_end"' in line:
                    end = _own_end(decode(line)) or end
    return end, seen.exit_code


def _own_end(message: OmniMessage) -> RequestEnd | None:
    payload = message.payload
    return payload if isinstance(payload, RequestEnd) and message.origin is None else None


def _exit_code(done: Done) -> int:
    if done.interrupted is not None:
        return done.interrupted
    end = done.end
    if end is None or end.status != "completed":
        say(failure_text(end.error_code, end.error_message) if end else "the run ended before any request")
        return FAILED
    return DONE


def _session_mark(session: Session) -> Line:
    return [Span(f"go on: penguin chat --resume {session.session_id[-8:]}", "dim")]
