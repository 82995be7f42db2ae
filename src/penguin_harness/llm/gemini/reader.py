"""Chunks to deltas, and what they say about the end of the answer.

An answer that a filter stopped is shown as far as it came, with the filter's reason; without any it is a rejection. The
vendor marks no end: what follows a finish reason is read until the connection ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET, Raw

from penguin_harness.contracts import (
    BlockDelta,
    BlockEnd,
    CallDelta,
    ModelDelta,
    Outcome,
    TextDelta,
    ThinkingDelta,
)
from penguin_harness.llm.failure import TransportError, malformed, of_event, read_loosely
from penguin_harness.llm.gemini.events import Chunk, Members, Part, Plain, Usage, decode, items_of, members_of, text_of
from penguin_harness.llm.gemini.fidelity import OWN, SIGNATURE, of_part, of_whole
from penguin_harness.llm.gemini.names import received
from penguin_harness.llm.gemini.showing import shown, whole
from penguin_harness.llm.sse import Event
from penguin_harness.omnimessage import InlineData, InlineThinking, TokenCounts

_CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
_REFUSED = frozenset({
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "MISSING_THOUGHT_SIGNATURE",
})  # fmt: skip
_SAYS_NOTHING = ("FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED")


class ChunkReader:
    """Reads the events of one answer: each becomes deltas, the rest is remembered for the outcome."""

    def __init__(self) -> None:
        self.complete = False
        self._reason: str | None = None
        self._message: str | None = None
        self._blocked: str | None = None
        self._has_content = False
        self._counts = Usage()
        self._block = -1
        self._thinks: bool | None = None
        """Whether the open block is thinking; None where the next text begins another one."""
        self._calls = 0
        self._held = False
        """A call's end waits until it is certain that the output limit did not cut it."""

    @property
    def terminal(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return self._reason is not None or self._blocked is not None

    def read(self, events: Iterable[Event]) -> Iterator[ModelDelta]:
        """The deltas of these events. Raises TransportError for an error inside the stream, or one that is no JSON."""
        for name, data in events:
            if name == "error":
                raise of_event(read_loosely(data))
            if data[:1] != b"{" and (chunks := _chunks(data)) is not None:
                yield from self.read(chunks)
                continue
            for part in self._parts(decode(data)):
                delta = self._plain(part.text, part.thought) if isinstance(part, Plain) else self._special(part)
                if delta is None:
                    continue
                if self._held:
                    yield BlockEnd()
                yield delta
                self._held = isinstance(delta, CallDelta)
            if self._held and self._reason == "STOP":
                self._held = False
                yield BlockEnd()

    def finish(self) -> Iterable[ModelDelta]:
        """Nothing is held back but the end of a call, which the end of the request says too."""
        return ()

    def usage(self) -> TokenCounts | None:
        """What the request cost, as far as the provider said it; only zeros count as silence."""
        counts = self._counts
        prompt = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
        output = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
        cached = min(counts.cached_content_token_count or 0, prompt)
        if not prompt and not output:
            return None
        return TokenCounts.of(cache_read=cached, cache_write=prompt - cached, output=output)

    def outcome(self) -> Outcome:
        """How an answer that has ended without a failure counts."""
        usage, reason = self.usage(), self._blocked or self._reason
        if reason is None:
            return malformed("the answer ended without a terminal signal").outcome(usage)
        told = f"{reason}: {self._message}" if self._message else reason
        if reason in _CUT:
            return Outcome("completed", "output_limit", f"the answer was cut by the output limit ({told})", usage)
        if reason in _UNREADABLE:
            return malformed(f"the model wrote what cannot be read ({told})").outcome(usage)
        refused = self._blocked is not None or reason in _REFUSED
        if self._has_content:
            return Outcome("completed", None, f"the vendor stopped the answer ({told})" if refused else None, usage)
        if not refused:
            return malformed(f"empty response (finishReason {told})").outcome(usage)
        what = "the prompt" if self._blocked else "the answer"
        return TransportError("fatal", "rejected", f"the vendor blocked {what} ({told})").outcome(usage)

    def _parts(self, chunk: Chunk[Plain] | Chunk[Part]) -> Iterable[Plain | Part]:
        """What an event adds to the answer; all else that it says is remembered."""
        if chunk.error:
            raise of_event(chunk.error)
        if chunk.usage_metadata is not None:
            self._count(chunk.usage_metadata)
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason not in (None, *_SAYS_NOTHING):
            self._blocked, self._message = feedback.block_reason, feedback.block_reason_message
        if not chunk.candidates:
            return ()
        candidate = chunk.candidates[0]
        if candidate.finish_reason and candidate.finish_reason not in _SAYS_NOTHING:
            self._reason, self._message = candidate.finish_reason, candidate.finish_message
        return (candidate.content.parts if candidate.content is not None else None) or ()

    def _count(self, usage: Usage) -> None:
        counts = self._counts
        if usage.prompt_token_count is not None:
            counts.prompt_token_count = usage.prompt_token_count
        if usage.cached_content_token_count is not None:
            counts.cached_content_token_count = usage.cached_content_token_count
        if usage.tool_use_prompt_token_count is not None:
            counts.tool_use_prompt_token_count = usage.tool_use_prompt_token_count
        if usage.candidates_token_count is not None:
            counts.candidates_token_count = usage.candidates_token_count
        if usage.thoughts_token_count is not None:
            counts.thoughts_token_count = usage.thoughts_token_count

    def _plain(self, text: str, thinks: bool) -> ModelDelta | None:
        if not text:
            return None
        if thinks is not self._thinks:
            self._thinks = thinks
            self._block += 1
        if thinks:
            return ThinkingDelta(text, self._block, OWN)
        self._has_content = True
        return TextDelta(text, self._block)

    def _special(self, part: Part) -> ModelDelta | None:
        members = part.members
        if "functionCall" in members:
            return self._call(members)
        if "inlineData" in members and (data := self._data(members)) is not None:
            return data
        thinks = members.get("thought") == _TRUE
        extra = {name: member for name, member in members.items() if name != "thought"}
        if part.text is None and extra.keys() - {SIGNATURE}:
            return self._other(members)
        if part.text and not extra:
            return self._plain(part.text, thinks)
        return self._signed(part.text or "", thinks, extra) if part.text or SIGNATURE in extra else None

    def _signed(self, text: str, thinks: bool, extra: Members) -> ModelDelta:
        """A part with more than text is a block of its own; one that only signs the text before it belongs to that."""
        if not text and not thinks and self._thinks is False:
            self._thinks = None
            return TextDelta("", self._block, of_part({}, after=extra))
        self._begin()
        if thinks:
            return ThinkingDelta(text, self._block, of_part(extra))
        self._has_content = self._has_content or bool(text)
        return TextDelta(text, self._block, of_part(extra))

    def _call(self, members: Members) -> CallDelta:
        call = members_of(members["functionCall"]) or {}
        name = text_of(call.get("name"))
        if not name:
            raise malformed("a function call came without a name")
        self._begin()
        self._has_content = True
        self._calls += 1
        extra = {key: member for key, member in members.items() if key != "functionCall"}
        content = {key: member for key, member in call.items() if key not in ("name", "args")}
        fidelity = of_part(extra, content=content) if extra or content else UNSET
        arguments = bytes(call["args"]).decode() if "args" in call else "{}"
        return CallDelta(self._calls - 1, arguments, text_of(call.get("id")) or None, received(name), fidelity)

    def _data(self, members: Members) -> BlockDelta | None:
        blob = members_of(members["inlineData"]) or {}
        data, mime_type = text_of(blob.get("data")), text_of(blob.get("mimeType"))
        if data is None or mime_type is None:
            return None
        self._begin()
        extra = {key: member for key, member in members.items() if key not in ("inlineData", "thought")}
        content = {key: member for key, member in blob.items() if key not in ("data", "mimeType")}
        fidelity = of_part(extra, content=content)
        if members.get("thought") == _TRUE:
            return BlockDelta(InlineThinking("assistant", data, mime_type, fidelity=fidelity))
        self._has_content = True
        return BlockDelta(InlineData("assistant", data, mime_type, fidelity=fidelity))

    def _other(self, members: Members) -> TextDelta:
        """A part of the vendor's own tools, which goes back as it is."""
        self._begin()
        self._has_content = True
        return TextDelta(shown(members), self._block, of_whole(whole(members)))

    def _begin(self) -> None:
        self._thinks = None
        self._block += 1


_TRUE = Raw(b"true")


def _chunks(data: bytes) -> list[Event] | None:
    """What is no object by itself: a heartbeat, or an answer whose chunks stand in one list; None for anything else."""
    data = data.strip()
    if not data or data == b"[DONE]":
        return []
    return [("", item) for item in items_of(data) if item[:1] == b"{"] if data.startswith(b"[") else None
