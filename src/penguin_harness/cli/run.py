"""`penguin run`: one task, from a message to its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from penguin_harness.agent import create_agent
from penguin_harness.cli.approval import ApprovalMode, Approver
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.console import DONE, FAILED, read_input, say
from penguin_harness.cli.explain import failure_text
from penguin_harness.cli.follow import follow, interrupting
from penguin_harness.cli.opening import new_session, resumed_session
from penguin_harness.cli.options import Approval, Json, MaxTurns, ModelOptions, Thinking, Workspace
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.engine.run import Run
from penguin_harness.errors import ConfigError, InputError
from penguin_harness.omnimessage import EventMessage, OmniMessage, RequestEnd, decode, user_text

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
        new_session(agent, model, workspace)
        if resume is None
        else resumed_session(agent, resume, model, workspace)
    )
    async with session:
        renderer = _renderer()
        asking = Asking(renderer)
        approver = Approver(mode, session.permission, asking.ask)
        options = {"approve": approver, "thinking_level": thinking, "max_turns": max_turns}
        task = session.run(inputs, approve=approver, thinking_level=thinking, max_turns=max_turns)
        if as_json:
            end, code = await _print_lines(task)
        else:
            with asking.keys(mode == "always-ask"):
                code = await follow(task, renderer)
            end = renderer.status.end
    return _report(end, code, approver, asked_for=approve)
