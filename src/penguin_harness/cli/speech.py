"""What the model says and thinks: streamed onto the page once, never repeated when the whole text follows."""

from __future__ import annotations

from typing import Literal, TextIO, TypeAlias

from penguin_harness.cli.notices import cut_line
from penguin_harness.cli.terminal.neutral import neutral
from penguin_harness.cli.terminal.prose import Plain, Prose, prose_for
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Span
from penguin_harness.omnimessage import FragmentKind, StopReason

Kind: TypeAlias = Literal["text", "thinking"]


class Answers:
    """The model's texts for a pipe: as they are, and only those that no further attempt replaces."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        """A whole text of the open request."""
        self._texts.append(text)

    def keep(self) -> None:
        """The request is over: its texts stand."""
        for text in self._texts:
            self._out.write(text if text.endswith("\n") else f"{text}\n")
        self._out.flush()
        self._texts.clear()

    def drop(self) -> None:
        """Another attempt follows."""
        self._texts.clear()


class Speech:
    """The segment that streams, if any."""

    def __init__(self, screen: Screen, answers: Answers | None) -> None:
        self._screen = screen
        self._answers = answers
        self._kind: Kind | None = None
        self._prose: Prose | None = None

    @property
    def is_open(self) -> bool:
        """Whether something streams onto the page, so that nothing else may be written."""
        return self._prose is not None

    @property
    def kind(self) -> Kind | None:
        """What the model is doing, if it speaks."""
        return self._kind

    def fragment(self, kind: Kind, event: FragmentKind, text: str) -> None:
        """More of a segment; one that was joined late begins with what comes."""
        if event == "start" or self._kind != kind:
            self._close()
            self._kind = kind
        if text:
            self._write(kind, text)
        if event == "stop":
            self._close()

    def complete(self, kind: Kind, text: str, stop_reason: StopReason) -> None:
        """The whole of a segment: written now if it did not stream."""
        streamed = self._kind == kind
        self._close()
        self._kind = None
        if kind == "text" and self._answers is not None:
            self._answers.add(text)
        elif not streamed and text.strip():
            self._write(kind, text)
            self._close()
        mark = cut_line(stop_reason)
        if mark is not None and (text.strip() or stop_reason == "fatal"):
            self._screen.lines([mark])

    def end(self) -> None:
        """Nothing follows: what is open stays as it is."""
        self._close()
        self._kind = None

    def _write(self, kind: Kind, text: str) -> None:
        if kind == "text" and self._answers is not None:
            return
        if self._prose is None:
            text = text.lstrip("\n") if kind == "text" else text.lstrip()
            if not text:
                return
            self._screen.gap()
            self._prose = prose_for(self._screen) if kind == "text" else Plain(self._screen, "dim italic", [Span("  ")])
        self._prose.feed(neutral(text))

    def _close(self) -> None:
        if self._prose is not None:
            self._prose.close()
            self._prose = None
