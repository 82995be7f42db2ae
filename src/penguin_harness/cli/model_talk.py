"""One request to a model outside of any session: what it said, when, and what its refusals taught."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import Model, Outcome, Request, TextDelta
from penguin_harness.engine.segmenter import Segmenter
from penguin_harness.engine.segments import MalformedStream
from penguin_harness.omnimessage import AssistantContent, Text, ToolCall

_LESSONS = 10
"""More than any adapter can learn."""

_UNENDED = Outcome("retryable", "malformed", "the stream stopped without an end")


class Heard(Struct, frozen=True):
    """What came of a request."""

    payloads: tuple[AssistantContent, ...]
    outcome: Outcome
    first: float
    """Seconds until the first piece; 0 when none came."""
    total: float
    pieces: int
    """Of anything."""
    text_pieces: int
    learnt: tuple[str, ...] = ()
    """How it was asked differently, in words."""

    @property
    def completed(self) -> bool:
        """Whether the answer came to its end."""
        return self.outcome.status == "completed"

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls."""
        return [payload for payload in self.payloads if isinstance(payload, ToolCall)]

    @property
    def text(self) -> str:
        """All text."""
        return "".join(payload.text for payload in self.payloads if isinstance(payload, Text))


async def hear(model: Model, request: Request, *, used: Sequence[ToolCall] = ()) -> Heard:
    """Send the request, again as often as a refusal teaches how. `used` are the calls that stand in it."""
    learnt: list[str] = []
    heard = await _once(model, request, used)
    while (lesson := _lesson(heard.outcome)) is not None and len(learnt) < _LESSONS:
        learnt.append(lesson)
        heard = await _once(model, request, used)
    return replace(heard, learnt=tuple(learnt))


def _lesson(outcome: Outcome) -> str | None:
    """A refusal is worth another try only when the adapter asks differently from now on."""
    if (outcome.status, outcome.error_code) != ("retryable", "rejected"):
        return None
    return (outcome.error_message or "").partition(", since ")[0]


async def _once(model: Model, request: Request, used: Sequence[ToolCall]) -> Heard:
    payloads: list[AssistantContent] = []
    segmenter = Segmenter(lambda _: None, payloads.append, frozenset(call.tool_call_id for call in used))
    outcome, first, pieces, text_pieces = _UNENDED, 0.0, 0, 0
    begun = time.monotonic()
    async for item in model.stream(request):
        if isinstance(item, Outcome):
            outcome = item
            continue
        pieces += 1
        text_pieces += isinstance(item, TextDelta) and bool(item.text)
        first = first or time.monotonic() - begun
        try:
            segmenter.push(item)
        except MalformedStream as error:
            outcome = Outcome("retryable", "malformed", str(error))
            break
    segmenter.close(outcome.status)
    return Heard(tuple(payloads), outcome, first, time.monotonic() - begun, pieces, text_pieces)
