"""What the double must know of a wire protocol; each protocol is a folder beside this file that says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from tests.double.refusal import Refusal
from tests.double.script import Event, Reply


class Asked(Struct, frozen=True):
    """A request as it arrived."""

    method: str
    path: str
    """Behind the protocol's prefix, with the query: `/v1/messages`."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


class Answer(Struct):
    """The answer to one accepted request, as far as it has been sent."""

    asked: Asked
    model: str
    number: int
    """Of the request in the double's log: makes ids that never repeat."""
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The data of the events that were sent, in their order, as the client sees it."""
    whole: bool = False
    """Whether it was sent to its regular end."""


class Words(Struct, frozen=True):
    """The text of a request: what scripts are chosen by and what they expect."""

    everything: str
    """Every string of the conversation: contents, reasoning, names and arguments of calls."""
    users: tuple[str, ...]
    """The text of each message of the user, the outputs of tools aside."""
    last_role: str
    """`user`, `assistant` or `tool`."""
    tools: tuple[str, ...]
    """The names of the tools on offer, in their order."""


class WireProtocol(Protocol):
    """One vendor's protocol: what it refuses, how it words that, and how its events look."""

    @property
    def prefix(self) -> str:
        """What the paths of this protocol begin with at the double: "", or `/anthropic`."""
        ...

    def model_of(self, asked: Asked) -> str:
        """The model that is asked for; "" when the request does not say it readably."""
        ...

    def streams(self, asked: Asked) -> bool:
        """Whether method and path are those of the call that streams an answer."""
        ...

    def check(self, asked: Asked, endpoint: Any, past: Sequence[Answer]) -> list[Refusal]:
        """Every reason to refuse the request.

        `endpoint` is this protocol's own struct of demands. `past` are the answers of this context, oldest first: the
        request goes on with the last one's request, and brings back what the whole ones said.
        """
        ...

    def words(self, asked: Asked) -> Words:
        """The text of an accepted request."""
        ...

    def refused(self, refusal: Refusal) -> Reply:
        """The vendor's answer to a request that is refused: status, headers and error body."""
        ...

    def models(self, asked: Asked, names: Sequence[str]) -> Reply | None:
        """The vendor's list of models, when that is what is asked for."""
        ...

    def render(self, event: Event, answer: Answer) -> tuple[dict[str, Any], str]:
        """An event's data as it is sent, ids and signatures filled in, and its SSE name ("" for none).

        A bare event stays as it is. `answer.sent` holds what was sent before it.
        """
        ...
