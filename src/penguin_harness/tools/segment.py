"""The framing of one output: start, deltas, stop, complete. Their texts always add up."""

from __future__ import annotations

from collections import deque

from penguin_harness.contracts import OutputPayload
from penguin_harness.omnimessage import PartialToolCallOutput, StopReason, ToolCallOutput
from penguin_harness.tools.recovery import Excerpt
from penguin_harness.tools.redact import CleanStream

NOTE_LIMIT = 2_000
NO_OUTPUT = "[no output]"


class Segment:
    """What a call has said so far, and the payloads that are owed for it."""

    def __init__(self, call_id: str, stream: CleanStream, excerpt: Excerpt) -> None:
        self._call_id = call_id
        self._stream = stream
        self._excerpt = excerpt
        self._said: list[str] = []
        self.closed = False
        self.owed: deque[OutputPayload] = deque([PartialToolCallOutput("user", "start", "", call_id)])

    def write(self, text: str) -> None:
        """Take more output; after the end it is dropped."""
        if not self.closed:
            self._show(self._excerpt.feed(self._stream.feed(text)))

    def close(
        self, stop_reason: StopReason, *, text: str = "", note: str | None = None, images: tuple[str, ...] = ()
    ) -> None:
        """The end, with the last text; a note stands behind it, or in its place when there is none."""
        if self.closed:
            return
        last = self._excerpt.feed(self._stream.feed(text)) + self._excerpt.feed(self._stream.flush())
        if note and self._excerpt.is_empty:
            last, note = self._excerpt.feed(self._stream.note(note)), None
        last += self._excerpt.finish()
        if note:
            last = self._on_new_line(last, _clip(self._stream.note(note)))
        if not last.strip() and not "".join(self._said).strip():
            last = self._on_new_line(last, f"[{len(images)} image(s)]" if images else NO_OUTPUT)
        self.closed = True
        self._show(last, images or None)
        self.owed.append(PartialToolCallOutput("user", "stop", "", self._call_id, stop_reason=stop_reason))
        self.owed.append(ToolCallOutput("user", "".join(self._said), self._call_id, images or None, stop_reason))

    def _show(self, text: str, images: tuple[str, ...] | None = None) -> None:
        if text or images:
            self._said.append(text)
            self.owed.append(PartialToolCallOutput("user", "delta", text, self._call_id, images))

    def _on_new_line(self, text: str, line: str) -> str:
        before = text or (self._said[-1] if self._said else "")
        return text + ("\n" if line and before and not before.endswith("\n") else "") + line


def _clip(note: str) -> str:
    return note if len(note) <= NOTE_LIMIT else f"{note[:NOTE_LIMIT]}… [{len(note)} characters]"
