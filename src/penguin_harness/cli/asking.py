"""The person at the keyboard during a run: the question that waits for them, and what they say meanwhile."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

from penguin_harness.cli.approval import Answer, Approver, Question, mode_named
from penguin_harness.cli.arguments import full
from penguin_harness.cli.chat_commands import command_of
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.keys import ESCAPE, Chunk, Keys
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.engine.run import Run
from penguin_harness.omnimessage import OmniMessage, Text, ToolCall, user_text

_STILL_TYPING = 0.6


class Asking:
    """Puts questions and the draft below the page, and hands keys to whom they concern."""

    def __init__(self, renderer: Renderer, draft: Draft | None = None) -> None:
        self.queued: deque[str] = deque()
        """Lines that wait for the end of the run: commands, and words that came too late for it."""
        self.approver: Approver | None = None
        """Whose mode `/approve MODE` changes while a run goes on."""
        self._renderer = renderer
        self._draft = draft
        self._question: Question | None = None
        self._run: Run | None = None
        self._steers = False

    async def ask(self, call: ToolCall) -> Answer:
        """Ask about one call and wait for the key."""
        typed = float("-inf") if self._draft is None else self._draft.touched
        self._question = Question(call, quiet_since=typed + _STILL_TYPING)
        self._renderer.asked = call.tool_call_id
        self._renderer.screen.flush()
        try:
            return await self._question.answer()
        finally:
            self._question = self._renderer.asked = None

    @contextmanager
    def keys(self, run: Run, *, steers: bool = True) -> Generator[None, None, None]:
        """Within it the keyboard is read key by key, and what Enter sends steers the run, if it can be steered."""
        self._run, self._steers = run, steers
        self._renderer.footer = self._lines
        self._renderer.status.has_keys = True
        try:
            with Keys(sys.stdin.fileno(), self._take):
                yield
        finally:
            self._run = self._renderer.footer = None
            self._renderer.status.has_keys = False

    def left_over(self, run: Run, *, queued: bool) -> str:
        """What was typed and nobody got, taken out here: the draft too, unless something queued comes before it."""
        parts = words_of(run.undelivered)
        if queued:
            parts += self.queued
            self.queued.clear()
        if self._draft is not None and self._draft.text and not self.queued:
            parts.append(self._draft.text)
            self._draft.text = ""
        return "\n".join(parts)

    def _take(self, chunk: Chunk) -> None:
        now = time.monotonic()
        if self._question is not None:
            if chunk == "?":
                self._renderer.notice([*full(self._question.call), []])
            self._question.take(chunk, now)
        elif not self._hurry(chunk) and self._draft is not None:
            line = self._draft.take(chunk, now)
            if line is not None:
                self._say(line)
        self._renderer.screen.flush()

    def _hurry(self, chunk: Chunk) -> bool:
        """While the next attempt is waited for: `r` ends the wait, Esc the run."""
        status, run = self._renderer.status, self._run
        if run is None or not status.is_waiting:
            return chunk == ESCAPE
        if chunk == ESCAPE:
            run.abort()
        elif chunk.lower() == "r" and not self._is_writing and run.retry_now():
            status.hurry()
        else:
            return False
        return True

    @property
    def _is_writing(self) -> bool:
        return self._draft is not None and bool(self._draft.text)

    def _say(self, line: str) -> None:
        run = self._run
        if self._changes_mode(line):
            return
        if run is None or not self._steers or command_of(line) is not None or not run.steer([user_text(line)]):
            self.queued.append(line)

    def _changes_mode(self, line: str) -> bool:
        """Who decides about calls can be changed at once, when the line names a mode."""
        command = command_of(line)
        mode = mode_named(command.argument) if command is not None and command.name == "approve" else None
        if mode is None or self.approver is None:
            return False
        self.approver.mode = mode
        self._renderer.notice([[Span(f"tool calls: {mode}", "dim")], []])
        return True

    def _lines(self, width: int) -> list[Line]:
        if self._question is not None:
            return self._question.lines(width)
        said = () if self._run is None else words_of(self._run.undelivered)
        keys = "" if self._is_writing else "r retries now · "
        return [
            *([[Span(f"  {keys}Esc gives up", "dim")]] if self._renderer.status.is_waiting else []),
            *(_waiting("steering", text) for text in said),
            *(_waiting("next", text) for text in self.queued),
            *([] if self._draft is None else self._draft.lines(width)),
        ]


def words_of(messages: tuple[OmniMessage, ...]) -> list[str]:
    """The texts among the messages."""
    return [message.payload.text for message in messages if isinstance(message.payload, Text)]


def _waiting(what: str, text: str) -> Line:
    return [Span(f"  {what}: ", "dim"), Span(one_line(text), "dim")]
