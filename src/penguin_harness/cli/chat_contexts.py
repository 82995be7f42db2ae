"""What a person does with a conversation as a whole: make it smaller, hand it over, branch it, leave it behind."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.agent import Agent
from penguin_harness.cli.model import all_models, key_source
from penguin_harness.cli.opening import new_session
from penguin_harness.cli.options import ModelOptions
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.engine.run import Run
from penguin_harness.errors import ConfigError, InputError, SessionError
from penguin_harness.opening import read_context
from penguin_harness.session import Session
from penguin_harness.state.config import load_config
from penguin_harness.trace import find_session

_WHY_NOT = {
    "empty": "there is nothing to make smaller: the model has not answered anything yet",
    "running": "the context cannot be replaced while a run is under way; interrupt it, or wait for its end",
    "closed": "this session is closed",
}


class Move(Struct, frozen=True):
    """The session to go on in, whether its past is to be shown, and what is to be said about it."""

    session: Session
    resumed: bool = False
    words: str = ""


class Contexts:
    """Works for one chat, and knows how its models are reached."""

    def __init__(self, agent: Agent, model: ModelOptions) -> None:
        self._agent = agent
        self._model = model

    def compact(self, session: Session, argument: str) -> Run:
        """Replace the context. Raises InputError for an unknown mode, SessionError when it is not possible now."""
        if argument not in {"", "discard", "summarize"}:
            raise InputError(f"there is no {argument!r}: /compact summarizes the context, /compact discard drops it")
        reason = session.compactability()
        if reason is not None:
            raise SessionError(_WHY_NOT.get(reason, reason))
        return session.compact("discard" if argument == "discard" else "summarize")

    async def switch(self, session: Session, argument: str) -> Run:
        """Go on with another model. Raises InputError for half a name, ConfigError when the model is not there."""
        provider, _, model_id = (one_line(argument)).partition(" ")
        if not model_id:
            raise InputError(f"{provider!r} is half a name: /model PROVIDER MODEL_ID; /model alone lists them")
        if (provider, model_id) == (session.meta.provider, session.meta.model_id):
            raise InputError(f"{provider} / {model_id} is the model already")
        known = load_config(self._agent.paths.config).find(provider, model_id) is not None
        same_place = provider == session.meta.provider and not known
        place = self._model if same_place else ModelOptions()
        try:
            run = await session.switch_model(
                provider=provider, model_id=model_id, base_url=place.base_url, client_type=place.client_type
            )
        except ConfigError as error:
            raise ConfigError(f"{error}; models are added with `penguin model add`, outside the chat") from None
        self._model = place
        return run

    async def fork(self, session: Session, argument: str) -> Move:
        """A copy of the session up to so many turns ago. Raises InputError for no number, SessionError for too many."""
        if argument and not argument.isdecimal():
            raise InputError(f"{argument!r} is no number of turns: /fork copies all, /fork 1 all but the last turn")
        turns = self._turns(session)
        at = turns - int(argument or 0)
        if turns == 0:
            raise SessionError("there is nothing to fork: the model has not answered anything in this context yet")
        if at < 1:
            has = f"{turns} turn{'' if turns == 1 else 's'}"
            raise SessionError(f"this context has {has}, so nothing is left {argument} back; /clear begins anew")
        place = self._model
        forked = await self._agent.fork_session(
            session.session_id, at=at if argument else None, base_url=place.base_url, client_type=place.client_type
        )
        words = f"{forked.session_id}, a copy; the session before it is {session.session_id[-8:]}"
        return Move(forked, resumed=argument != "", words=words)

    def _turns(self, session: Session) -> int:
        """Turns of the current context."""
        if not session.trace_path.exists():
            return 0
        return read_context(find_session(self._agent.paths.traces, session.session_id)).context.turns

    async def clear(self, session: Session) -> Move:
        """A new session with the same model in the same folder."""
        meta = session.meta
        model = ModelOptions(meta.provider, meta.model_id, self._model.base_url, self._model.client_type)
        return Move(await new_session(self._agent, model, session.workspace))

    def models(self, session: Session) -> list[Line]:
        """The configured models, the active one marked."""
        active = (session.meta.provider, session.meta.model_id)
        configured = all_models(load_config(self._agent.paths.config))
        rows = [((model.provider, model.model_id), key_source(model)) for model in configured]
        if active not in [name for name, _ in rows]:
            rows.insert(0, (active, "as this chat was begun"))
        lines = [_row(*name, active=name == active, note=f"key: {key}") for name, key in rows]
        return [*aligned(lines), [Span("/model PROVIDER MODEL_ID goes on with another one", "dim")]]


def _row(provider: str, model_id: str, *, active: bool, note: str) -> list[Line]:
    return [
        [Span("●" if active else " ", "bold green")],
        [Span(one_line(provider))],
        [Span(one_line(model_id), "bold")],
        [Span(note, "dim")],
    ]
