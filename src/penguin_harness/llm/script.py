"""A model that says what a test has written down for it.

model = Script([[say("Let me look."), call("read_file", path="a.txt")], [say("It is empty.")]])
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Iterable
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType, structs

from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.llm.restream import restream
from penguin_harness.omnimessage import AssistantContent, ErrorCode, StopReason, Text, Thinking, ToolCall


class Pause(Protocol):
    """Whatever can be waited for, as an asyncio.Event."""

    def wait(self) -> Awaitable[Any]:
        """Wait until the script may go on."""
        ...


ScriptItem: TypeAlias = AssistantContent | ModelItem | Exception | Pause
"""Something to say whole, a raw delta, an outcome, an exception to raise, or something to wait for."""


class Script:
    """Plays one turn per request and completes it, unless the turn has an outcome of its own."""

    def __init__(
        self,
        turns: Iterable[Iterable[ScriptItem]],
        *,
        ref: ModelRef = ModelRef("script", "script"),  # noqa: B008 - a frozen value
        context_window: int = 128_000,
        fragment: int = 16,
    ) -> None:
        self._turns = [list(turn) for turn in turns]
        self._ref = ref
        self._window = context_window
        self._fragment = fragment
        self.requests: list[Request] = []
        """Every request so far, as it was at that moment."""
        self.closed = False

    @property
    def ref(self) -> ModelRef:
        """Its identity."""
        return self._ref

    @property
    def context_window(self) -> int:
        """As the test wants it."""
        return self._window

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        """The next turn; a fatal outcome when the script has no more."""
        self.requests.append(structs.replace(request, messages=tuple(request.messages)))
        number, written = len(self.requests), len(self._turns)
        if number > written:
            yield Outcome("fatal", "rejected", f"request {number} came, the script ends with turn {written}")
            return
        for position, item in enumerate(self._turns[number - 1]):
            if isinstance(item, Exception):
                raise item
            if isinstance(item, AssistantContent):
                for delta in restream([_named(item, f"call_{number}_{position + 1}")], self._fragment, first=position):
                    yield delta
            elif isinstance(item, msgspec.Struct):
                yield item
                if isinstance(item, Outcome):
                    return
            else:
                await item.wait()
        yield Outcome("completed")

    async def aclose(self) -> None:
        """Note that the model was closed."""
        self.closed = True


def say(text: str, *, fidelity: bytes | None = None) -> Text:
    """A text segment."""
    return Text("assistant", text, fidelity=_raw(fidelity))


def think(thinking: str, *, fidelity: bytes | None = None) -> Thinking:
    """A thinking segment."""
    return Thinking("assistant", thinking, fidelity=_raw(fidelity))


def call(name: str, /, *, id: str | None = None, **arguments: object) -> ToolCall:  # noqa: A002 - the wire's word
    """A tool call; without an id it gets one that is unique in its script."""
    return ToolCall("assistant", name, msgspec.json.encode(arguments).decode(), id or "")


def fail(
    status: StopReason, error_code: ErrorCode, message: str | None = None, *, retry_after_ms: int | None = None
) -> Outcome:
    """The request ends here, and not well."""
    return Outcome(status, error_code, message, retry_after_ms=retry_after_ms)


def _named(payload: AssistantContent, fresh_id: str) -> AssistantContent:
    if isinstance(payload, ToolCall) and not payload.tool_call_id:
        return structs.replace(payload, tool_call_id=fresh_id)
    return payload


def _raw(fidelity: bytes | None) -> Raw | UnsetType:
    return UNSET if fidelity is None else Raw(fidelity)
