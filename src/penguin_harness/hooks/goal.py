"""A hook that keeps the model at work until a goal is met, or what was set aside for it is used up."""

from __future__ import annotations

from penguin_harness.errors import ConfigError
from penguin_harness.hooks.answer import Answer
from penguin_harness.hooks.occasion import Occasion, Prompt, ProposedCall, TaskEnded
from penguin_harness.hooks.user_hook import UserHook, asking
from penguin_harness.omnimessage import is_blank

MET = "[goal_met]"
"""Alone on the last line of an answer it says that the goal is met."""


def goal(objective: str, *, rounds: int = 10, tokens: int | None = None, name: str = "goal") -> UserHook:
    """Have the model go on until it says that the objective is met.

    After `rounds` more tasks, or `tokens` in the session, it is given one last round to wrap up. For one session.
    Raises ConfigError for an objective without words, or limits that leave no room.
    """
    if is_blank(objective):
        raise ConfigError("a goal needs an objective in words")
    if rounds < 1 or (tokens is not None and tokens < 1):
        raise ConfigError(
            f"a goal of {rounds} rounds and {tokens} tokens cannot be worked on; give it at least 1 of each"
        )
    pursuit = Pursuit(objective.strip(), rounds, tokens)
    return UserHook(name=name, points=("user_prompt", "stop"), ask=asking(pursuit.answer))


class Pursuit:
    """How far a goal has come. It ends once, and is silent then."""

    def __init__(self, objective: str, rounds: int, tokens: int | None) -> None:
        self._objective = objective
        self._rounds = rounds
        self._tokens = tokens
        self._round = 0
        self._wraps_up = False
        self._over = False

    async def answer(self, occasion: Occasion) -> Answer | None:
        """Say the goal with a prompt; at the end of a task, whether to go on."""
        if self._over:
            return None
        match occasion:
            case Prompt():
                return Answer(text=f"[goal]\n{self._objective}\n[/goal]\n{_HOW}")
            case TaskEnded():
                return self._at_the_end(occasion)
            case ProposedCall():
                return None

    def _at_the_end(self, ended: TaskEnded) -> Answer:
        if says_met(ended.answer):
            self._over = True
            return Answer(reason="The goal is met.", output={"round": self._round})
        if self._wraps_up:
            self._over = True
            return Answer(decision="stop", reason="The goal is not met; the last round is over.")
        if (spent := self._spent(ended)) is not None:
            self._wraps_up = True
            return Answer(decision="continue", reason=f"{spent} One round to wrap up.", text=f"{spent} {_WRAP_UP}")
        self._round += 1
        where = f"Round {self._round} of {self._rounds}."
        text = f"The goal is not met yet:\n[goal]\n{self._objective}\n[/goal]\n{where} {_GO_ON} {_HOW}"
        return Answer(decision="continue", reason=where, text=text)

    def _spent(self, ended: TaskEnded) -> str | None:
        if self._tokens is not None and ended.usage.total >= self._tokens:
            return f"The goal's tokens are used up: {ended.usage.total:,} of {self._tokens:,}."
        return f"The goal's {self._rounds} rounds are used up." if self._round == self._rounds else None


_HOW = (
    f"When it is met, and you have checked that it is, end your answer with a line that says {MET} and nothing else. "
    "Say it at no other time."
)
_GO_ON = "Find out what is left to do, and do it; do not repeat what is done."
_WRAP_UP = (
    "Begin nothing new. Leave things in a state that can be used, and say in short what is done, what is not, "
    "and how to go on."
)


def says_met(answer: str) -> bool:
    """Whether an answer says that the goal is met: quoting the word in a sentence does not."""
    lines = [line for line in answer.splitlines() if not is_blank(line)]
    return bool(lines) and lines[-1].strip(" \t*_`.") == MET
