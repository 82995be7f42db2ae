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

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


class Keys:
    """Within it the terminal sends each key at once and does not show it."""

    def __init__(self, descriptor: int, take: Callable[[Chunk], None]) -> None:
        self._descriptor = descriptor
        self._take = take
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._before: list[Any] = []

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
        elif text := _ESCAPES.sub("", self._decode(data)):
            self._take(text)

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
