"""What a wire protocol is: pure conversions, and where requests go. Each vendor's package beside this file has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from penguin_harness.contracts import ModelDelta, Outcome, Request
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.listing import ModelList
from penguin_harness.llm.sse import Event
from penguin_harness.omnimessage import CompletePayload, TokenCounts, ToolSchema


class AnswerReader(Protocol):
    """The events of one answer to deltas, and what they say about its end."""

    @property
    def terminal(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        ...

    @property
    def complete(self) -> bool:
        """Whether nothing of interest can follow."""
        ...

    def read(self, events: Iterable[Event]) -> Iterator[ModelDelta]:
        """The deltas of these events. Raises TransportError for an error in the stream and for what is unreadable."""
        ...

    def finish(self) -> Iterable[ModelDelta]:
        """What was held back until the end."""
        ...

    def usage(self) -> TokenCounts | None:
        """What the request has cost, as far as the provider has said it."""
        ...

    def outcome(self) -> Outcome:
        """How an answer that has ended without a failure counts."""
        ...


class Encoded(Struct, frozen=True):
    """What of a request grows, or stays as it was, from request to request."""

    messages: bytes
    """Joined by commas."""
    tools: bytes | None
    """None when none are offered."""


class WireProtocol(Struct, frozen=True):
    """A vendor's protocol: payloads to the body of a request, and the events of its answer to deltas."""

    client_type: str
    """Its name in a configuration."""
    url: Callable[[Endpoint], str]
    """Where requests go."""
    headers: Callable[[Endpoint], dict[str, str]]
    """How the key is presented, and what else the vendor wants to see."""
    messages: Callable[[Sequence[CompletePayload], Sequence[CompletePayload], Endpoint], Iterator[bytes]]
    """The encoded messages of what one side says until the other one speaks; they grow at their end only.

    The second sequence is what the other side said right before.
    """
    tools: Callable[[Sequence[ToolSchema], Endpoint], bytes]
    """The encoded tools, at least one."""
    body: Callable[[Request, Encoded, Endpoint], bytes]
    """The whole body: request n+1 begins with the bytes of request n up to its new messages."""
    reader: Callable[[], AnswerReader]
    """A reader for one answer."""
    keeps: Callable[[CompletePayload], bool]
    """Whether everything of the payload goes out again: not what another protocol's model signed."""
    models: ModelList
    """How the vendor lists its models."""
