"""Text on its way out: valid Unicode, and free of secret values wherever it was cut into pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from penguin_harness.omnimessage import clean, ends_with_high_surrogate
from penguin_harness.tools.secret_forms import encoded_forms, plain_forms

MARK = "[redacted]"
SHORTEST_SECRET = 6
"""Shorter values are words that any output may hold (`none`, `EMPTY`): replacing them would ruin it."""

_WRAP = re.compile(r"(?<![\r\n])\r?\n[ \t]{0,64}(?:\d{1,9}\t)?(?![ \t\r\n])")
"""Where a program has wrapped a long line: the line break with what stands before the next line, as its number."""
_OPEN_WRAP = re.compile(r"(?<![\r\n])(?:\r|\r?\n[ \t]{0,64}\d{0,9})\Z")
_LONGEST_WRAP = 80
_GLIMPSE = 8

Span = tuple[int, int]


class Split(NamedTuple):
    """A text that goes on, cut where it is not decided yet."""

    ready: str
    held: str
    covered: int
    """Characters at the beginning of `held` that belong to a mark which is in `ready`."""


class Redactor:
    """Replaces secret values, also escaped or encoded ones; those that overlap become one mark."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        values = {value for value in secrets if len(value) >= SHORTEST_SECRET}
        self._plain = _long_first(form for value in values for form in plain_forms(value))
        self._encoded = _long_first(form for value in values for form in encoded_forms(value))

    def redact(self, text: str, *, covered: int = 0) -> str:
        """A whole text without secrets; `covered` as a Split says it."""
        return self._marked(_Unwrapped(text), covered, len(text)).ready if self._plain else text

    def split(self, text: str, *, covered: int = 0) -> Split:
        """What is decided of a text that goes on, and its end that may be the beginning of a secret."""
        if not self._plain:
            return Split(text, "", 0)
        unwrapped = _Unwrapped(text)
        return self._marked(unwrapped, covered, self._border(unwrapped))

    def _marked(self, unwrapped: _Unwrapped, covered: int, border: int) -> Split:
        text, spans = unwrapped.text, self._spans(unwrapped)
        if not spans and not covered:
            return Split(text[:border], text[border:], 0)
        done: list[str] = []
        position = 0
        for start, end in _merged([(0, covered), *spans] if covered else spans):
            is_shown = covered > 0 and start == 0
            if start >= border and not is_shown:
                break
            done += (text[position:start], "" if is_shown else MARK)
            position = end
        done.append(text[position:border])
        return Split("".join(done), text[border:], max(0, position - border))

    def _spans(self, unwrapped: _Unwrapped) -> list[Span]:
        text, flat = unwrapped.text, unwrapped.flat
        plain = [span for form in self._plain if form in text for span in _occurrences(form, text)]
        encoded = [span for form in self._encoded if form in flat for span in _occurrences(form, flat)]
        return plain + [(unwrapped.outside(start), unwrapped.outside(end - 1) + 1) for start, end in encoded]

    def _border(self, unwrapped: _Unwrapped) -> int:
        """Where the longest end begins that is the beginning of a secret."""
        text = unwrapped.text
        border = min(_beginning_of(form, text) for form in self._plain)
        ends = [unwrapped.flat] if self._encoded else []
        if self._encoded and (wrap := _OPEN_WRAP.search(text, max(0, len(text) - _LONGEST_WRAP))):
            ends.append(unwrapped.flat_until(wrap.start()))  # what follows may make it one
        for flat in ends:
            start = min(_beginning_of(form, flat) for form in self._encoded)
            border = min(border, unwrapped.outside(start)) if start < len(flat) else border
        return border


class _Unwrapped:
    """A text as it was before some program wrapped its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = _WRAP.sub("", text) if "\n" in text else text
        self._wraps: tuple[list[int], list[int]] | None = None

    def flat_until(self, place: int) -> str:
        """What stands before a place of the text."""
        return _WRAP.sub("", self.text[:place])

    def outside(self, place: int) -> int:
        """Where in the text a place of the flat one is."""
        self._wraps = self._wraps or self._find()
        starts, removed = self._wraps
        return place + removed[bisect_right(starts, place)]

    def _find(self) -> tuple[list[int], list[int]]:
        starts: list[int] = []
        removed = [0]
        for wrap in _WRAP.finditer(self.text):
            starts.append(wrap.start() - removed[-1])
            removed.append(removed[-1] + len(wrap[0]))
        return starts, removed


def _long_first(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({form for form in forms if len(form) >= SHORTEST_SECRET}, key=len, reverse=True))


def _occurrences(form: str, text: str) -> Iterator[Span]:
    position = text.find(form)
    while position != -1:
        yield position, position + len(form)
        position = text.find(form, position + 1)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """In order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _beginning_of(form: str, text: str) -> int:
    position = max(0, len(text) - len(form) + 1)
    while (position := text.find(form[0], position)) != -1:
        rest = len(text) - position
        if text.startswith(form[: min(_GLIMPSE, rest)], position) and form.startswith(text[position:]):
            return position
        position += 1
    return len(text)


class CleanStream:
    """One output in pieces; holds back an end that the next piece may complete."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""
        self._covered = 0

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        text = self._held + piece
        cut = len(text) - ends_with_high_surrogate(text)
        split = self._redactor.split(clean(text[:cut]), covered=self._covered)
        self._held, self._covered = split.held + text[cut:], split.covered
        return split.ready

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest = self._redactor.redact(clean(self._held), covered=self._covered)
        self._held, self._covered = "", 0
        return rest

    def note(self, text: str) -> str:
        """A whole text that stands apart from the stream."""
        return self._redactor.redact(clean(text))
