"""`penguin chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from penguin_harness import __version__
from penguin_harness.agent import Agent, create_agent
from penguin_harness.cli.approval import Approver
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.chat_commands import COMMANDS, is_command, obey
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.follow import follow
from penguin_harness.cli.opening import new_session, resumed_session
from penguin_harness.cli.options import Approval, MaxTurns, ModelOptions, Thinking, Workspace
from penguin_harness.cli.prompt import Prompt
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.status import tokens
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Span
from penguin_harness.contracts import ThinkingLevel
from penguin_harness.errors import ConfigError, InputError
from penguin_harness.omnimessage import ModelMessage, OmniMessage, SessionMetaMessage, Text, user_text
from penguin_harness.session import Session
from penguin_harness.trace import read_messages

NO_MODEL = ModelOptions()
_SHOWN_TASKS = 3


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
    workspace: Workspace = None,
    model: ModelOptions = NO_MODEL,
    approve: Approval = None,
    max_turns: MaxTurns = None,
    thinking: Thinking = None,
) -> None:
    """Talk with an agent in this folder. /help lists what there is besides talking."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("chat needs a terminal; in a pipe use `penguin run -m TEXT`")
    agent = await create_agent()
    if resume is None:
        session = await new_session(agent, model, workspace)
    else:
        session = await resumed_session(agent, resume[0] if resume else "", model, workspace)
    talk = Chat(agent, model, Renderer(screen_for(sys.stdout)), thinking=thinking, max_turns=max_turns)
    approver = Approver(approve or "always-ask", session.permission, talk.asking.ask)
    again = resume is not None
    while (next_session := await talk.hold(session, approver, resumed=again)) is not None:
        session, again = next_session, False
        approver = Approver(approver.mode, session.permission, talk.asking.ask)


class Chat:
    """One person at one terminal, session after session."""

    def __init__(
        self,
        agent: Agent,
        model: ModelOptions,
        renderer: Renderer,
        *,
        thinking: ThinkingLevel | None,
        max_turns: int | None,
    ) -> None:
        self._agent = agent
        self._model = model
        self._renderer = renderer
        self._thinking: ThinkingLevel | None = thinking
        self._max_turns = max_turns
        self._draft = Draft()
        self.asking = Asking(renderer, self._draft)

    async def hold(self, session: Session, approver: Approver, *, resumed: bool) -> Session | None:
        """Talk until the person leaves, or wants a new session: that one, then."""
        async with session:
            self._greet(session, resumed=resumed)
            prompt = self._prompt(session, approver)
            while True:
                try:
                    text = await self._next_text(prompt)
                except EOFError:
                    return None
                if not is_command(text):
                    await self._do(session, approver, text)
                    continue
                after, lines = obey(text, session, approver)
                self._renderer.screen.lines([*lines, []], whole=True)
                self._renderer.screen.flush()
                if after == "exit":
                    return None
                if after == "new":
                    break
        return await new_session(self._agent, self._model_of(session), session.workspace)

    async def _next_text(self, prompt: Prompt) -> str:
        if self._draft.queued:
            text = self._draft.queued.popleft()
            self._renderer.show(user_text(text))
            return text
        begun, self._draft.text = self._draft.text, ""
        text = await prompt.ask(begun)
        if text.strip():
            self._renderer.show(user_text(text))
        return text

    async def _do(self, session: Session, approver: Approver, text: str) -> None:
        """One task. An empty line goes on with what the model has not answered."""
        inputs = [user_text(text)] if text.strip() else []
        try:
            run = session.run(inputs, approve=approver, thinking_level=self._thinking, max_turns=self._max_turns)
        except InputError:  # nothing to go on with: an idle Enter
            return
        with self.asking.keys():
            interrupted = await follow(run, self._renderer)
        if interrupted is not None:
            self._draft.text = "\n".join([*self._draft.queued, self._draft.text]).strip("\n")
            self._draft.queued.clear()
        self._renderer.screen.gap()
        self._renderer.screen.lines([self._renderer.status.summary(), []])
        self._renderer.screen.flush()

    def _greet(self, session: Session, *, resumed: bool) -> None:
        meta = session.meta
        screen = self._renderer.screen
        screen.lines(
            [
                [Span("penguin ", "bold cyan"), Span(f"{__version__} · {_model_name(session)}", "dim")],
                [Span(one_line(meta.workspace), "dim")],
                [Span("Enter sends · Alt-Enter breaks the line · Ctrl-C interrupts · /help", "dim")],
                [],
            ]
        )
        if resumed:
            self._show_past(session)
        screen.flush()

    def _show_past(self, session: Session) -> None:
        """The last tasks, as they looked."""
        messages = [m for m in read_messages(session.trace_path) if not isinstance(m, SessionMetaMessage)]
        asked = [number for number, message in enumerate(messages) if _is_asked(message)]
        begin = asked[-_SHOWN_TASKS] if len(asked) > _SHOWN_TASKS else 0
        if begin:
            shown = f"… {begin} earlier messages: penguin trace show {session.session_id[-8:]}"
            self._renderer.screen.lines([[Span(shown, "dim")]])
        for message in messages[begin:]:
            self._renderer.show(message)
        self._renderer.close()
        for problem in session.skipped:
            self._renderer.screen.lines([[Span(f"! skipped {one_line(str(problem))}", "yellow")]])
        self._renderer.screen.gap()

    def _prompt(self, session: Session, approver: Approver) -> Prompt:
        def about() -> str:
            window = session.meta.model_context_window
            return f"{_model_name(session)} · {tokens(session.context_tokens)} of {tokens(window)} · {approver.mode}"

        history = self._agent.paths.agent / "chat_history"
        return Prompt(history=history, commands=[*COMMANDS], about=about, colours=self._renderer.screen.is_styled)

    def _model_of(self, session: Session) -> ModelOptions:
        meta = session.meta
        return ModelOptions(meta.provider, meta.model_id, self._model.base_url, self._model.client_type)


def _model_name(session: Session) -> str:
    return f"{one_line(session.meta.provider)} / {one_line(session.meta.model_id)}"


def _is_asked(message: OmniMessage) -> bool:
    payload = message.payload if isinstance(message, ModelMessage) else None
    return isinstance(payload, Text) and payload.role == "user" and payload.sender in {None, "user"}
