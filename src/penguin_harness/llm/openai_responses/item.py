"""An output item while it is said, and what of it is known only at its end."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, Raw

from penguin_harness.contracts import CallDelta, ModelDelta, TextDelta, ThinkingDelta
from penguin_harness.llm.opacity import written
from penguin_harness.llm.openai_responses.events import Item, arguments_of
from penguin_harness.llm.openai_responses.fidelity import (
    ReasoningFidelity,
    of_call,
    of_message,
    of_reasoning,
    parts_text,
)

BETWEEN = "\n\n"
"""Separates the parts of reasoning."""


class OpenItem:
    """The output item that is being said: a message, a call or reasoning."""

    def __init__(self, kind: str, number: int, index: int | None, label: str | None) -> None:
        self.kind = kind
        self.index = index
        self.label = label
        """The id under which events name it; some servers give every event another one."""
        self._number = number
        self._announced = False
        self._said: list[str] = []
        self._voice = ""
        self._part: int | None = None

    def say(self, piece: str, voice: str, part: int | None) -> ModelDelta | None:
        """A piece that streams, in an event of the type `voice`."""
        match self.kind:
            case "message":
                self._said.append(piece)
                return TextDelta(piece, self._number)
            case "function_call":
                self._voice = voice
                return CallDelta(self._number, piece)
            case _:
                return self._think(piece, voice, part)

    def first(self, item: Item, raw: Raw) -> Iterator[ModelDelta]:
        """What is known at its start."""
        self._announced = True
        if self.kind == "function_call":
            yield CallDelta(self._number, "", item.call_id or item.id or None, item.name or None, of_call(raw))

    def last(self, item: Item, raw: Raw) -> Iterator[ModelDelta]:
        """What is known at its end: what did not stream, and what must be remembered."""
        if not self._announced:
            yield from self.first(item, raw)
        match self.kind:
            case "message":
                text = "".join(self._said)
                rest = "" if text else parts_text(item.content)
                fidelity = of_message(raw, text or rest) if text or rest else UNSET
                if rest or fidelity is not UNSET:
                    yield TextDelta(rest, self._number, fidelity)
            case "function_call":
                rest, fidelity = "" if self._voice else arguments_of(item), of_call(raw)
                if rest or fidelity is not UNSET:
                    yield CallDelta(self._number, rest, fidelity=fidelity)
            case _:
                yield from self._thought(item, of_reasoning(raw))

    def _thought(self, item: Item, fidelity: ReasoningFidelity) -> Iterator[ModelDelta]:
        shown = parts_text(item.summary, BETWEEN) or parts_text(item.content, BETWEEN)
        if shown or self._voice or fidelity.is_content:
            yield ThinkingDelta("" if self._voice else shown, self._number, written(fidelity))

    def _think(self, piece: str, voice: str, part: int | None) -> ModelDelta | None:
        """A summary, or the reasoning itself: what comes first, since some servers send the same in both ways."""
        if not self._voice:
            self._voice, self._part = voice, part
        if voice != self._voice:
            return None
        if part != self._part:
            self._part = part
            piece = BETWEEN + piece
        return ThinkingDelta(piece, self._number)
