"""`penguin run`: one task, from a message to its end."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Annotated

from cyclopts import Parameter

from penguin_harness.agent import create_agent
from penguin_harness.cli.approval import ApprovalMode, Approver
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.console import DONE, FAILED, read_input, say, write_line
from penguin_harness.cli.explain import failure_text
from penguin_harness.cli.follow import follow, interrupting
from penguin_harness.cli.opening import new_session, resumed_session
from penguin_harness.cli.options import Approval, Json, MaxTurns, ModelOptions, Thinking, Workspace
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.engine.run import Run
from penguin_harness.errors import ConfigError, InputError
from penguin_harness.omnimessage import OmniMessage, RequestEnd, decode, user_text
from penguin_harness.session import Session

NO_MODEL = ModelOptions()


async def run(
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
    workspace: Workspace = None,
    model: ModelOptions = NO_MODEL,
    approve: Approval = None,
    max_turns: MaxTurns = None,
    thinking: Thinking = None,
    resume: Annotated[str | None, Parameter(help="Go on with the session that has this in its id.")] = None,
    as_json: Json = False,
) -> int:
    """Do one task and end.

    On a terminal everything is shown. In a pipe stdout gets the model's answers, and stderr what it did.
    """
    mode = approval_mode(approve, as_json=as_json)
    inputs = [user_text(text) for text in _texts(message, resumed=resume is not None)]
    agent = await create_agent()
    session = await (
        new_session(agent, model, workspace) if resume is None else resumed_session(agent, resume, model, workspace)
    )
    async with session:
        renderer = _renderer()
        asking = Asking(renderer)
        approver = Approver(mode, session.permission, asking.ask)
        task = session.run(inputs, approve=approver, thinking_level=thinking, max_turns=max_turns)
        if as_json:
            end, code = await _print_lines(task)
        else:
            with asking.keys() if mode == "always-ask" else nullcontext():
                code = await follow(task, renderer)
            end = renderer.status.end
            if renderer.screen.is_live:
                renderer.screen.gap()
                renderer.screen.lines([renderer.status.summary(), _session_mark(session)])
                renderer.screen.close()
    if approver.denied and approve is None:
        say(
            f"{approver.denied} tool call(s) denied, since nobody can be asked here; see --approve allow-all, read-only"
        )
    return _exit_code(end, code)


def approval_mode(asked: ApprovalMode | None, *, as_json: bool = False) -> ApprovalMode:
    """Who decides. Raises ConfigError when somebody should be asked and cannot be."""
    can_ask = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
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


def _renderer() -> Renderer:
    if sys.stdout.isatty():
        return Renderer(screen_for(sys.stdout), final_failures=False)
    return Renderer(screen_for(sys.stderr), answers=sys.stdout, final_failures=False)


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


def _exit_code(end: RequestEnd | None, interrupted: int | None) -> int:
    if interrupted is not None:
        return interrupted
    if end is None or end.status != "completed":
        say(failure_text(end.error_code, end.error_message) if end else "the run ended before any request")
        return FAILED
    return DONE


def _session_mark(session: Session) -> Line:
    return [Span(f"go on: penguin chat --resume {session.session_id[-8:]}", "dim")]
