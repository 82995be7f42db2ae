"""Any Trace is a model: it says again what was recorded, as long as the conversation follows the recording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.llm.recording import Recording, Turn, conversation
from penguin_harness.llm.restream import restream
from penguin_harness.omnimessage import OmniMessage

DEFAULT_WINDOW = 128_000


class Replay:
    """A model made of recorded messages.

    It keeps no position: each request's own messages say how far the conversation has come.
    """

    def __init__(
        self, ref: ModelRef, messages: Iterable[OmniMessage], *, fragment: int = 24, delay: float = 0.0
    ) -> None:
        """`fragment`: characters per delta. `delay`: seconds between deltas, for a live look."""
        self._ref = ref
        self._fragment = fragment
        self._delay = delay
        self._recording = Recording(messages)

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        return self._ref

    @property
    def context_window(self) -> int:
        """The recorded model's window."""
        return self._recording.window or DEFAULT_WINDOW

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """The recorded answer in fragments, or a fatal outcome that says where the conversation left the recording."""
        turn = self._find(conversation(request.messages))
        if isinstance(turn, str):
            yield Outcome("fatal", "rejected", turn)
            return
        for delta in restream(turn.said, self._fragment):
            if self._delay:
                await asyncio.sleep(self._delay)
            yield delta
        yield turn.outcome

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _find(self, turns: Sequence[Turn]) -> Turn | str:
        furthest, reason = -1, "the recording has no turn 1"
        for context in self._recording.contexts:
            followed, problem = _follow(turns, context)
            if problem is None:
                return context[len(turns) - 1]
            if followed > furthest:
                furthest, reason = followed, problem
        return reason


def _follow(turns: Sequence[Turn], context: Sequence[Turn]) -> tuple[int, str | None]:
    """How many turns agree with the recording, and what the first one that does not is about."""
    for position, turn in enumerate(turns):
        number = position + 1
        if position == len(context):
            return position, f"the recording has no turn {number}"
        recorded = context[position]
        if turn.asked != recorded.asked:
            live, then = _quote(turn.asked), _quote(recorded.asked)
            return position, f"turn {number} was asked {live}, the recording was asked {then}"
        if sorted(turn.answered) != sorted(recorded.answered):
            live, then = _quote(turn.answered), _quote(recorded.answered)
            return position, f"turn {number} has the outputs of {live}, the recording has those of {then}"
        if number < len(turns) and turn.said != recorded.said:
            return position, f"turn {number} has another answer than the recording"
    return len(turns), None


def _quote(texts: Sequence[str]) -> str:
    return " and ".join(repr(text if len(text) <= 80 else f"{text[:79]}…") for text in texts) or "nothing"
