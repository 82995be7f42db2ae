"""The renderer: OmniMessages in, a page out. It knows no other source, so a stream and its Trace look the same.

Messages are attributed by origin and tool_call_id alone. What the model says grows on the page; a tool's card stays
live below it and goes onto the page when it is finished, in call order, never into the middle of a text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from penguin_harness.cli.deck import Deck
from penguin_harness.cli.inputs import input_lines, is_spoken
from penguin_harness.cli.nested import Child
from penguin_harness.cli.notices import event_lines, meta_lines, unknown_line
from penguin_harness.cli.speech import Answers, Speech
from penguin_harness.cli.status import Status
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import (
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    EventMessage,
    EventPayload,
    ImageUrl,
    InlineData,
    ModelMessage,
    ModelPayload,
    OmniMessage,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    RequestEnd,
    SessionMetaMessage,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    UnknownMessage,
)


class Renderer:
    """Shows the messages of one session, with those of its children, on a screen."""

    def __init__(
        self,
        screen: Screen,
        *,
        answers: TextIO | None = None,
        final_failures: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`answers`: where the model's texts go instead, unrendered, when the page is not for them.

        Without `final_failures` the caller itself says why a run failed.
        """
        self.screen = screen
        self.status = Status(clock)
        self.footer: Callable[[int], Sequence[Line]] | None = None
        """Further live lines at the bottom: a question, a draft."""
        self.asked: str | None = None
        """The call that the footer asks about."""
        self._final_failures = final_failures
        self._clock = clock
        self._answers = None if answers is None else Answers(answers)
        self._speech = Speech(screen, self._answers)
        self._deck = Deck()
        self._children: dict[tuple[str, ...], Child] = {}
        self._waiting: list[Sequence[Line]] = []
        self._compacting = False
        self._strange: set[str] = set()
        screen.live = self._live_lines

    def show(self, message: OmniMessage) -> None:
        """Show the next message."""
        self.status.see(message)
        if message.origin:
            self._show_child(message, message.origin)
        else:
            self._show_own(message)
        self._settle()
        self.screen.flush(force=False)

    def notice(self, lines: Sequence[Line]) -> None:
        """Put lines onto the page, as soon as no text is in the way."""
        self._waiting.append(lines)
        self._settle()

    def pause(self) -> None:
        """More messages may come later: nothing stays live, and calls without an output are told as open."""
        self._speech.end()
        open_calls = [card.open_line() for card in self._deck.park()]
        self._settle()
        if open_calls:
            self.screen.gap()
            self.notice(open_calls)
        self.screen.flush()

    def close(self, *, whole: bool = True) -> None:
        """The messages are over: nothing stays live. What is open is told as such, if these were `whole`."""
        self._speech.end()
        if whole:
            self._deck.close()
        else:
            self._deck = Deck()
        if self._answers is not None:
            self._answers.keep()
        self._settle()
        self.screen.flush()

    def _show_own(self, message: OmniMessage) -> None:
        match message:
            case ModelMessage(payload=payload, timestamp=at):
                if not self._compacting:
                    self._show_said(payload, at)
            case EventMessage(payload=payload, timestamp=at):
                self._show_event(payload, at)
            case SessionMetaMessage(payload=meta):
                self.notice(meta_lines(meta))
            case UnknownMessage():
                self.notice([unknown_line(message)])

    def _show_said(self, payload: ModelPayload, at: str) -> None:
        match payload:
            case PartialText(event_type=event, text=text):
                self._speech.fragment("text", event, text)
            case PartialThinking(event_type=event, thinking=text):
                self._speech.fragment("thinking", event, text)
            case Text(role="assistant", text=text, stop_reason=stop_reason):
                self._speech.complete("text", text, stop_reason)
            case Thinking(thinking=text, stop_reason=stop_reason):
                self._speech.complete("thinking", text, stop_reason)
            case Text():
                self._show_input(payload)
            case PartialToolCall() | PartialToolCallOutput() | ToolCall() | ToolCallOutput():
                self._show_tool(payload, at)
            case ImageUrl(image_url=url):
                self.notice([[Span("› ", "cyan"), Span(f"[image {one_line(url[:60])}]", "dim")]])
            case InlineData(mime_type=mime_type):
                self.notice([[Span(f"[{one_line(mime_type)}]", "dim")]])
            case _:
                pass

    def _show_tool(self, payload: PartialToolCall | PartialToolCallOutput | ToolCall | ToolCallOutput, at: str) -> None:
        match payload:
            case PartialToolCall():
                known = self._deck.add_arguments(payload)
            case PartialToolCallOutput():
                known = self._deck.add_output(payload)
            case ToolCallOutput():
                known = self._deck.finish(payload, at=at)
            case ToolCall():
                self._deck.add_call(payload)
                known = True
        if not known and payload.tool_call_id not in self._strange:
            self._strange.add(payload.tool_call_id)
            call_id = one_line(payload.tool_call_id)
            self.notice([[Span(f"! ignored: a {payload.type} for the unknown call {call_id!r}", "yellow")]])

    def _show_input(self, text: Text) -> None:
        """What the person, or somebody in their place, tells the model."""
        if is_spoken(text):
            self._settle()
            self.screen.gap()
        self.notice(input_lines(text))

    def _show_event(self, payload: EventPayload, at: str) -> None:
        match payload:
            case ApprovalDecision(decision=decision, tool_call_id=call_id):
                self._deck.decide(call_id, decision, at=at, now=self._clock())
            case RequestEnd():
                self._end_request(payload)
            case CompactionBegin(context=tokens, reason=reason):
                self._compacting = True
                self.notice([[Span(f"◇ making the context smaller ({reason}, {tokens:,} tokens)", "dim")]])
            case CompactionEnd():
                self._compacting = False
            case _:
                pass
        is_final = isinstance(payload, RequestEnd) and payload.status != "completed" and payload.retry_in_ms is None
        if (self._final_failures or not is_final) and (lines := event_lines(payload)):
            self.notice(lines)

    def _end_request(self, end: RequestEnd) -> None:
        if end.status != "completed":
            self._deck.close_cut()
        if self._answers is not None:
            if end.retry_in_ms is None:
                self._answers.keep()
            else:
                self._answers.drop()

    def _show_child(self, message: OmniMessage, origin: tuple[str, ...]) -> None:
        child = self._children.setdefault(origin, Child(origin))
        lines = child.show(message, self.screen.width, self._clock())
        if lines:
            self._waiting.append(lines)

    def _settle(self) -> None:
        """Write what is finished, unless a text is being written."""
        if self._speech.is_open:
            return
        waiting, self._waiting = self._waiting, []
        for spans in (spans for lines in waiting for spans in lines):
            put_line(self.screen, spans)
        for card in self._deck.take_finished():
            self.screen.gap()
            self.screen.lines(card.final_lines(self.screen.width))

    def _live_lines(self, width: int) -> list[Line]:
        now = self._clock()
        spinner = self.status.spinner
        lines = [spans for card in self._deck.others(self.asked) for spans in card.live_lines(spinner, now)]
        lines += [spans for child in self._children.values() for spans in child.live_lines(spinner, now)]
        if self.status.is_running:
            lines += self.status.lines(self._speech.kind, len(self._deck.cards), width)
        if self.footer is not None:
            lines += self.footer(width)
        return [[], *lines] if lines and not self.screen.at_gap else lines
