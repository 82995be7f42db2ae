"""The person at the keyboard during a run: the question that waits for them, and what they type meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from penguin_harness.cli.approval import Answer, Question
from penguin_harness.cli.arguments import full
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.keys import Chunk, Keys
from penguin_harness.cli.terminal.spans import Line
from penguin_harness.omnimessage import ToolCall

_STILL_TYPING = 0.6


class Asking:
    """Puts questions and the draft below the page, and hands them the keys."""

    def __init__(self, renderer: Renderer, draft: Draft | None = None) -> None:
        self._renderer = renderer
        self._draft = draft
        self._question: Question | None = None

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
    def keys(self) -> Generator[None, None, None]:
        """Within it the keyboard is read key by key."""
        self._renderer.footer = self._lines
        try:
            with Keys(sys.stdin.fileno(), self._take):
                yield
        finally:
            self._renderer.footer = None

    def _take(self, chunk: Chunk) -> None:
        now = time.monotonic()
        if self._question is not None:
            if chunk == "?":
                self._renderer.notice([*full(self._question.call), []])
            self._question.take(chunk, now)
        elif self._draft is not None:
            self._draft.take(chunk, now)
        self._renderer.screen.flush()

    def _lines(self, width: int) -> list[Line]:
        if self._question is not None:
            return self._question.lines(width)
        return [] if self._draft is None else self._draft.lines(width)
