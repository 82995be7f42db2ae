"""`penguin chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from msgspec import Struct

from penguin_harness.agent import Agent
from penguin_harness.cli.agent_options import AgentName
from penguin_harness.cli.approval import Approver
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.chat_commands import COMMANDS, Command, command_of, obey, put_help
from penguin_harness.cli.chat_contexts import Contexts, Move
from penguin_harness.cli.console import DONE, INTERRUPTED, TERMINATED
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.follow import follow
from penguin_harness.cli.greeting import greet, model_name, owes_answer
from penguin_harness.cli.opening import named_agent, new_session, resumed_session
from penguin_harness.cli.options import Approval, MaxTurns, ModelOptions, Spend, Thinking, Workspace
from penguin_harness.cli.prompt import Killed, Prompt
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.status import tokens
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.contracts import Budget, ThinkingLevel
from penguin_harness.engine.run import Run
from penguin_harness.errors import ConfigError, PenguinError
from penguin_harness.omnimessage import is_blank, user_text
from penguin_harness.session import Session
from penguin_harness.state.paths import DEFAULT_AGENT

NO_MODEL = ModelOptions()
NO_CAP = Spend()


async def chat(
    *,
    resume: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=(0, 1),
            negative="",
            metavar="[FRAGMENT]",
            help="Go on with the session that has this in its id; without it the newest of this folder.",
        ),
    ] = None,
    agent: AgentName = DEFAULT_AGENT,
    workspace: Workspace = None,
    model: ModelOptions = NO_MODEL,
    approve: Approval = None,
    max_turns: MaxTurns = None,
    spend: Spend = NO_CAP,
    thinking: Thinking = None,
) -> int:
    """Talk with an agent in this folder. What is typed while it works steers it; /help lists what else there is."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("chat needs a terminal; in a pipe use `penguin run -m TEXT`")
    opened = await named_agent(agent)
    if resume is None:
        session = await new_session(opened, model, workspace)
    else:
        session = await resumed_session(opened, resume[0] if resume else "", model, workspace)
    limits = Limits(thinking, max_turns, spend.budget)
    talk = Chat(opened, model, Renderer(screen_for(sys.stdout)), limits)
    approver = Approver(approve or "always-ask", session.permission, talk.asking.ask)
    after = Move(session, resumed=resume is not None)
    while isinstance(after, Move):
        here = after.session
        approver = Approver(approver.mode, here.permission, talk.asking.ask, allows=here.is_allowed)
        talk.asking.approver = approver
        after = await talk.hold(after, approver)
    return after


class Limits(Struct, frozen=True):
    """What holds for each task of a chat."""

    thinking: ThinkingLevel | None
    max_turns: int | None
    budget: Budget | None


class Chat:
    """One person at one terminal, session after session."""

    def __init__(self, agent: Agent, model: ModelOptions, renderer: Renderer, limits: Limits) -> None:
        self.asking = Asking(renderer, Draft())
        self._agent = agent
        self._contexts = Contexts(agent, model)
        self._renderer = renderer
        self._limits = limits
        self._begun = ""
        """What the prompt opens with."""

    async def hold(self, here: Move, approver: Approver) -> Move | int:
        """Talk until the person leaves: the exit code; or goes on in another session: that one."""
        async with here.session as session:
            greet(self._renderer, session, here.words, resumed=here.resumed)
            prompt = self._prompt(session, approver)
            after: Move | int | None = None
            while after is None:
                try:
                    text = await self._next_text(prompt)
                except EOFError:
                    return DONE
                except Killed:
                    return TERMINATED
                command = command_of(text)
                if command is None:
                    after = await self._do(session, approver, text)
                else:
                    after = await self._obey(command, session, approver)
        return after

    async def _next_text(self, prompt: Prompt) -> str:
        if self.asking.queued:
            text = self.asking.queued.popleft()
        else:
            begun, self._begun = self._begun, ""
            self._renderer.screen.flush()
            text = await prompt.ask(begun)
        if not is_blank(text):
            self._renderer.show(user_text(text))
        return text

    async def _do(self, session: Session, approver: Approver, text: str) -> int | None:
        """One task. An empty line goes on with what the model has not answered, or is an idle Enter."""
        if is_blank(text) and not owes_answer(session):
            return None
        inputs = [] if is_blank(text) else [user_text(text)]
        limits = self._limits
        run = session.run(
            inputs,
            approve=approver,
            thinking_level=limits.thinking,
            max_turns=limits.max_turns,
            budget=limits.budget,
        )
        return await self._follow(run, steers=True)

    async def _obey(self, command: Command, session: Session, approver: Approver) -> Move | int | None:
        try:
            match command.name:
                case "exit" | "quit":
                    return DONE
                case "help":
                    put_help(self._renderer.screen)
                case "clear" | "new":
                    return await self._contexts.clear(session)
                case "fork":
                    return await self._contexts.fork(session, command.argument)
                case "compact":
                    return await self._follow(self._contexts.compact(session, command.argument))
                case "model" if command.argument:
                    return await self._follow(await self._contexts.switch(session, command.argument))
                case "model":
                    self._say(self._contexts.models(session))
                case _:
                    self._say(obey(command, session, approver))
        except PenguinError as error:
            self._renderer.notice([[Span(one_line(str(error)), "yellow")]])
            self._renderer.screen.gap()
        return None

    async def _follow(self, run: Run, *, steers: bool = False) -> int | None:
        """Show a run. What was typed and nobody got is in the prompt again when it did not end well."""
        status = self._renderer.status
        code = await follow(run, self._renderer, keys=self.asking.keys(run, steers=steers))
        left = self.asking.left_over(run, queued=status.was_aborted)
        self._begun = "\n".join(part for part in (self._begun, left) if part)
        self._renderer.screen.gap()
        if status.end is not None:
            self._say([status.summary()])
        return None if code == INTERRUPTED else code

    def _say(self, lines: Sequence[Line]) -> None:
        self._renderer.screen.lines([*lines, []], whole=True)

    def _prompt(self, session: Session, approver: Approver) -> Prompt:
        def about() -> str:
            window = session.meta.model_context_window
            return f"{model_name(session)} · {tokens(session.context_tokens)} of {tokens(window)} · {approver.mode}"

        history = self._agent.paths.agent / "chat_history"
        return Prompt(history=history, commands=[*COMMANDS], about=about, colours=self._renderer.screen.is_styled)
