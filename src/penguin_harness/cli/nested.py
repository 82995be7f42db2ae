"""A child session inside its parent's page: one line for each thing that it did."""

from __future__ import annotations

from penguin_harness.cli.deck import Deck
from penguin_harness.cli.notices import event_lines
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import (
    ApprovalDecision,
    EventMessage,
    ModelMessage,
    OmniMessage,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    ToolCall,
    ToolCallOutput,
)

_LONGEST = 300


class Child:
    """What a child session shows; its messages are told apart by their origin alone."""

    def __init__(self, origin: tuple[str, ...]) -> None:
        self._deck = Deck()
        self._margin = Span("  " * (len(origin) - 1) + f"┆ {one_line(origin[-1])[-8:]} ", "magenta")

    def show(self, message: OmniMessage, width: int | None, now: float) -> list[Line]:
        """The lines that this message adds to the page."""
        match message:
            case ModelMessage(payload=payload, timestamp=at):
                lines = self._said(payload, at)
            case EventMessage(payload=ApprovalDecision(decision=decision, tool_call_id=call_id), timestamp=at):
                self._deck.decide(call_id, decision, at=at, now=now)
                lines = []
            case EventMessage(payload=payload):
                lines = event_lines(payload)
            case _:
                lines = []
        room = None if width is None else width - len(self._margin.text)
        return [[self._margin, *spans] for spans in (*lines, *(c.short_line(room) for c in self._deck.take_finished()))]

    def live_lines(self, spinner: str, now: float) -> list[Line]:
        """What it is doing."""
        return [[self._margin, *card.live_lines(spinner, now)[0]] for card in self._deck.cards]

    def _said(self, payload: object, at: str) -> list[Line]:
        match payload:
            case PartialToolCall():
                self._deck.add_arguments(payload)
            case PartialToolCallOutput():
                self._deck.add_output(payload)
            case ToolCall():
                self._deck.add_call(payload)
            case ToolCallOutput():
                self._deck.finish(payload, at=at)
            case Text(role=role, text=text) if text.strip():
                style = "" if role == "assistant" else "dim"
                return [[Span("› " if role == "user" else "", "cyan"), Span(one_line(text[:_LONGEST]), style)]]
            case _:
                pass
        return []
