"""What a server says beside the protocol, in a file of its own: stderr, log messages, noise; without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from penguin_harness.omnimessage import clean
from penguin_harness.tools.redact import CleanStream, Redactor

LIMIT = 5_000_000
"""Bytes that are kept of what one connection says."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_GLIMPSE = 200
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class ServerLog:
    """The file of one server, made with its first line; what cannot be written is not kept."""

    def __init__(self, name: str, folder: Callable[[], Path], redactors: Sequence[Redactor] = ()) -> None:
        self.notes: list[str] = []
        """What a person should know, each once."""
        self.last_words = ""
        """The last line on stderr."""
        self._name = f"mcp-{_UNSAFE.sub('_', name)}.log"
        self._folder = folder
        self._redactors = redactors
        self._stderr = [CleanStream(redactor) for redactor in redactors]
        self._room = LIMIT
        self._is_noisy = False

    def stderr(self, text: str) -> None:
        """Keep more of what the server wrote to its stderr."""
        for stream in self._stderr:
            text = stream.feed(text)
        self._said(text)

    def stderr_ended(self) -> None:
        """Nothing follows on stderr."""
        text = ""
        for stream in self._stderr:
            text = stream.feed(text) + stream.flush()
        self._said(text)

    def redact(self, text: str) -> str:
        """A text of the server as anybody may read it."""
        text = clean(text)
        for redactor in self._redactors:
            text = redactor.redact(text)
        return text

    def noise(self, line: str) -> None:
        """Take note of output that is no message; only the first is told."""
        if not self._is_noisy:
            self._is_noisy = True
            self.note(f"skipped output that is no message, as {self._glimpse(line)!r}")

    def note(self, text: str) -> None:
        """Tell a person, once."""
        text = self.redact(text)
        if text not in self.notes:
            self.notes.append(text)
            self.line(text)

    def line(self, text: str) -> None:
        """Keep a line that comes from here and not from stderr."""
        self._write(f"[penguin] {_CONTROL.sub(' ', self.redact(text))}\n")

    def _said(self, text: str) -> None:
        if lines := [line for line in text.splitlines() if line.strip()]:
            self.last_words = self._glimpse(lines[-1])
        self._write(text)

    def _glimpse(self, text: str) -> str:
        text = " ".join(_CONTROL.sub(" ", self.redact(text)).split())
        return text if len(text) <= _GLIMPSE else f"{text[:_GLIMPSE]}…"

    def _write(self, text: str) -> None:
        data = clean(text).encode()[: self._room]
        if not data:
            return
        self._room -= len(data)
        try:
            with (self._folder() / self._name).open("ab") as file:
                file.write(data)
        except OSError as error:
            self._room = 0
            self.notes.append(f"what the server says is not kept: {error.strerror or error}")
