"""Text on its way out: valid Unicode, and free of secret values wherever it was cut into pieces."""

from __future__ import annotations

import re
from collections.abc import Collection

from penguin_harness.omnimessage import clean, ends_with_high_surrogate

MARK = "[redacted]"
SHORTEST_SECRET = 6
"""Shorter values are words that any output may hold (`none`, `EMPTY`): replacing them would ruin it."""


class Redactor:
    """Replaces secret values; at each place the longest that fits."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._secrets = sorted({value for value in secrets if len(value) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets)))

    def redact(self, text: str) -> str:
        """A whole text without secrets."""
        return self._pattern.sub(MARK, text) if self._occurs_in(text) else text

    def split(self, text: str) -> tuple[str, str]:
        """What is decided of a text that goes on, and its end that may be the beginning of a secret."""
        if not self._secrets:
            return text, ""
        if not self._occurs_in(text):
            border = self._border(text, 0)
            return text[:border], text[border:]
        done: list[str] = []
        position, border = 0, self._border(text, 0)
        while (found := self._pattern.search(text, position)) and found.start() < border:
            done += (text[position : found.start()], MARK)
            position = found.end()
            if position > border:  # the secret reached over the border
                border = self._border(text, position)
        done.append(text[position:border])
        return "".join(done), text[border:]

    def _occurs_in(self, text: str) -> bool:
        return any(secret in text for secret in self._secrets)

    def _border(self, text: str, start: int) -> int:
        """Where the longest end begins that is the beginning of a secret."""
        return min(_beginning_of(secret, text, start) for secret in self._secrets)


def _beginning_of(secret: str, text: str, start: int) -> int:
    position = max(start, len(text) - len(secret) + 1)
    while (position := text.find(secret[0], position)) != -1:
        if secret.startswith(text[position:]):
            return position
        position += 1
    return len(text)


class CleanStream:
    """One output in pieces; holds back an end that the next piece may complete."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        text = self._held + piece
        cut = len(text) - ends_with_high_surrogate(text)
        ready, held = self._redactor.split(clean(text[:cut]))
        self._held = held + text[cut:]
        return ready

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest, self._held = self._redactor.redact(clean(self._held)), ""
        return rest

    def note(self, text: str) -> str:
        """A whole text that stands apart from the stream."""
        return self._redactor.redact(clean(text))
