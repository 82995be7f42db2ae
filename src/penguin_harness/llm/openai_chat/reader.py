"""Chunks to deltas, and what they say about the end of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from msgspec import UNSET, Raw

from penguin_harness.contracts import CallDelta, ModelDelta, Outcome, TextDelta, ThinkingDelta
from penguin_harness.llm.failure import malformed, of_event, read_loosely
from penguin_harness.llm.openai_chat.chunk import Call, Delta, Function, Usage, decode
from penguin_harness.llm.openai_chat.details import ReasoningDetails
from penguin_harness.llm.openai_chat.fidelity import REASONING_FIELDS, of_extra, of_field
from penguin_harness.llm.sse import Event
from penguin_harness.omnimessage import TokenCounts

_NULL = Raw(b"null")
_CUT = frozenset({"length", "max_tokens", "model_length"})


class ChunkReader:
    """Reads the events of one answer: each becomes deltas, the rest is remembered for the outcome."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.done = False
        self.complete = False
        """Nothing of interest can follow: the sentinel came, or the token counts behind a finish reason."""
        self._has_content = False
        self._counts: dict[str, int] = {}
        self._details = ReasoningDetails()

    @property
    def terminal(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return self.done or self.finish_reason is not None

    def read(self, events: Iterable[Event]) -> Iterator[ModelDelta]:
        """The deltas of these events. Raises TransportError for an error inside the stream, or one that is no JSON."""
        for name, data in events:
            if self.complete:
                return
            delta = self._delta(name, data)
            if delta is None:
                continue
            if thinking := delta.reasoning_content:
                self._has_content = True
                yield ThinkingDelta(thinking, 0, _FIELD["reasoning_content"])
            elif thinking := delta.reasoning:
                self._has_content = True
                yield ThinkingDelta(thinking, 0, _FIELD["reasoning"])
            if isinstance(delta.reasoning_details, Raw):
                self._details.add(delta.reasoning_details)
            text, calls = delta.content or delta.refusal, delta.tool_calls
            if (text or calls) and self._details.blocks:
                yield self._details.take()
            if text:
                self._has_content = True
                yield TextDelta(text)
            if calls:
                self._has_content = True
                yield from map(call_delta, calls, count())

    def _delta(self, name: str, data: bytes) -> Delta | None:
        """What an event adds to the answer; all else that it says is remembered."""
        if name == "error":
            raise of_event(read_loosely(data))
        if data[:1] != b"{" and self._is_no_chunk(data):
            return None
        chunk = decode(data)
        if chunk.error:
            raise of_event(chunk.error)
        if not chunk.choices:
            if chunk.usage is not None:
                self._count(chunk.usage)
            else:
                _raise_if_error(data)
            return None
        choice = chunk.choices[0]
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        if (usage := chunk.usage or choice.usage) is not None:
            self._count(usage)
        return choice.delta or choice.message

    def finish(self) -> list[ModelDelta]:
        """What was held back until the end."""
        return [self._details.take()] if self._details.blocks else []

    def usage(self) -> TokenCounts | None:
        """What the request cost, if the provider said it; only zeros count as silence."""
        prompt, output = self._counts.get("prompt", 0), self._counts.get("output", 0)
        cached = min(self._counts.get("cached", 0), prompt)
        if not prompt and not output:
            return None
        return TokenCounts.of(cache_read=cached, cache_write=prompt - cached, output=output)

    def outcome(self) -> Outcome:
        """How an answer that has ended without a failure counts."""
        usage = self.usage()
        if not self.terminal:
            return malformed("the answer ended without a terminal signal").outcome(usage)
        if self.finish_reason == "error":
            return Outcome("retryable", "network", "the provider ended the answer with an error", usage)
        if self.finish_reason in _CUT:
            return Outcome("completed", "output_limit", "the answer was cut by the output limit", usage)
        if not self._has_content:
            return malformed(f"empty response (finish_reason {self.finish_reason})").outcome(usage)
        return Outcome("completed", usage=usage)

    def _is_no_chunk(self, data: bytes) -> bool:
        if (data := data.strip()) == b"[DONE]":
            self.done = self.complete = True
            return True
        return not data

    def _count(self, usage: Usage) -> None:
        details = usage.prompt_tokens_details
        cached = details.cached_tokens if details is not None else None
        counts = {
            "prompt": usage.prompt_tokens,
            "output": usage.completion_tokens,
            "cached": usage.prompt_cache_hit_tokens if cached is None else cached,
        }
        said = {name: count for name, count in counts.items() if count is not None}
        self._counts |= said
        if said and self.finish_reason is not None:
            self.complete = True


def call_delta(call: Call, position: int) -> CallDelta:
    """A fragment of a call; servers that leave out the index mean the place in the list."""
    function = call.function or Function()
    return CallDelta(
        position if call.index is None else call.index,
        function.arguments or "",
        call.id or None,
        function.name or None,
        of_extra(call.extra_content) if isinstance(call.extra_content, Raw) and call.extra_content != _NULL else UNSET,
    )


def _raise_if_error(data: bytes) -> None:
    """Some servers send an error without the `error` around it; all else without choices is a heartbeat."""
    match read_loosely(data):
        case {"type": "error"} | {"object": "error"} as error:
            raise of_event(error)
        case _:
            pass


_FIELD = {field: of_field(field) for field in REASONING_FIELDS}
