"""Single keys from the terminal while something runs; Ctrl-C stays a signal."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import termios
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeAlias

Chunk: TypeAlias = str
"""What one read brought: a key, or a pasted text."""

ESCAPE: Chunk = "\x1b"
ALT_ENTER: Chunk = "\x1b\r"

_REST = 0.05
"""Seconds in which the rest of a key's sequence follows its Esc, which else is the key of that name."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


class Keys:
    """Within it the terminal sends each key at once and does not show it."""

    def __init__(self, descriptor: int, take: Callable[[Chunk], None]) -> None:
        self._descriptor = descriptor
        self._take = take
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._before: list[Any] = []
        self._escape: asyncio.TimerHandle | None = None

    def __enter__(self) -> Keys:
        self._before = termios.tcgetattr(self._descriptor)
        mode = termios.tcgetattr(self._descriptor)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            self._stop()
        else:
            self._pass_on(self._decode(data))

    def _pass_on(self, text: Chunk) -> None:
        if self._escape is not None:
            self._escape.cancel()
            self._escape = None
            text = ESCAPE + text
        if text == ESCAPE:
            self._escape = asyncio.get_running_loop().call_later(_REST, self._end_escape)
        elif text == ALT_ENTER:
            self._take(ALT_ENTER)
        elif typed := _ESCAPES.sub("", text):
            self._take(typed)

    def _end_escape(self) -> None:
        self._escape = None
        self._take(ESCAPE)

    def _stop(self) -> None:
        if self._escape is not None:
            self._escape.cancel()
            self._escape = None
        asyncio.get_running_loop().remove_reader(self._descriptor)
