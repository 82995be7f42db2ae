"""One request and the calls that it makes, as far as the Trace tells."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.omnimessage import (
    AssistantContent,
    Decision,
    RequestEnd,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
)


class OpenCall(Struct, gc=False):
    """A call and what became of it so far: the ledger of effects."""

    call: ToolCall
    decision: Decision | None = None
    output: ToolCallOutput | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the call itself did not arrive whole."""
        return self.call.stop_reason != "completed"

    @property
    def is_uncertain(self) -> bool:
        """Whether it was allowed, and nobody knows what came of it."""
        return self.decision == "allow" and self.output is None and not self.is_cut


class Attempt(Struct, gc=False):
    """What a request produced; `end` is None while it streams."""

    content: list[AssistantContent] = []
    calls: dict[str, OpenCall] = {}
    usage: TokenCounts | None = None
    end: RequestEnd | None = None
