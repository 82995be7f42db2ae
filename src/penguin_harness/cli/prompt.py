"""The line where a person writes to the agent: history, several lines, the ladder of Ctrl-C."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from penguin_harness.cli.follow import POLITE_KILLS, interrupting
from penguin_harness.cli.terminal.spans import Span, crop, text_of

AGAIN: Final = 2.0
"""Seconds within which a second Ctrl-C leaves."""

_STYLE = Style.from_dict({"mark": "ansicyan bold", "about": "ansibrightblack"})


class Killed(Exception):
    """The program was told to end while it asked."""


class Prompt:
    """Asks for the next message, below a line about the session. The terminal is its own only while it asks."""

    def __init__(self, *, history: Path, commands: Sequence[str], about: Callable[[], str], colours: bool) -> None:
        self._about = about
        self._interrupted = float("-inf")
        self._session: PromptSession[str] = PromptSession(
            message=self._message,
            prompt_continuation="  ",
            multiline=True,
            history=_history(history),
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=True,
            key_bindings=self._bindings(),
            style=_STYLE,
            color_depth=None if colours else ColorDepth.DEPTH_1_BIT,
            reserve_space_for_menu=len(commands),
            erase_when_done=True,
        )

    async def ask(self, default: str = "") -> str:
        """The next message. Raises EOFError when the person leaves, and Killed when the program is told to end."""
        self._interrupted = float("-inf")
        app = self._session.app

        def end() -> None:
            if app.is_running:
                app.exit(exception=Killed)

        with interrupting(end, POLITE_KILLS) as seen:
            return await self._session.prompt_async(
                default=default,
                pre_run=lambda: end() if seen.exit_code is not None else None,  # it came before the prompt did
            )

    def _message(self) -> StyleAndTextTuples:
        warned = time.monotonic() - self._interrupted < AGAIN
        about = "press Ctrl-C again to leave" if warned else self._about()
        about = text_of(crop([Span(about)], shutil.get_terminal_size().columns - 1))
        return [("class:about", f"{about}\n"), ("class:mark", "› ")]

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.char_before_cursor == "\\":
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @bindings.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-c")
        @bindings.add("<sigint>")
        def _(event: KeyPressEvent) -> None:
            self._interrupt(event)

        return bindings

    def _interrupt(self, event: KeyPressEvent) -> None:
        now = time.monotonic()
        if event.current_buffer.text:
            event.current_buffer.reset()
        elif now - self._interrupted < AGAIN:
            event.app.exit(exception=EOFError)
            return
        self._interrupted = now
        event.app.invalidate()
        asyncio.get_running_loop().call_later(AGAIN, event.app.invalidate)


def _history(path: Path) -> History:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:  # a read-only home still allows a conversation
        return InMemoryHistory()
    return FileHistory(path)
