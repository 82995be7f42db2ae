"""The script language: what the double accepts, what it answers and how the answer travels. Plain JSON."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import field

from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.chat.endpoint import Endpoint as ChatEndpoint
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.value import Value


class Event(Value, frozen=True, tag="event"):
    """One event. Unless `bare`, its protocol adds what the vendor has in it: envelope, ids, signatures."""

    data: dict[str, Any]
    bare: bool = False
    name: str = ""
    """The SSE name of a bare event."""


class Line(Value, frozen=True, tag="line"):
    """One `data:` line of any text."""

    text: str
    regular: bool = False
    """The vendor's own. Behind any other line, nobody can say what the client makes of the answer."""


class Bytes(Value, frozen=True, tag="bytes"):
    """Bytes of the body as they are, line ends included."""

    data: bytes


class Comment(Value, frozen=True, tag="comment"):
    """A comment line and a blank line."""

    text: str


class Gate(Value, frozen=True, tag="gate"):
    """Wait until the test releases this name; a released gate stays open."""

    name: str


class Stall(Value, frozen=True, tag="stall"):
    """Keep the connection open and say nothing more."""


class Beat(Value, frozen=True, tag="beat"):
    """The same bytes again and again; without `times`, until the client goes."""

    data: bytes
    every_ms: int
    times: int | None = None


CutHow: TypeAlias = Literal["end", "close", "reset"]


class Cut(Value, frozen=True, tag="cut"):
    """End here: a polite end of the body (`end`), or the connection closed or reset in the middle of it."""

    how: CutHow = "close"


Step: TypeAlias = Event | Line | Bytes | Comment | Gate | Stall | Beat | Cut


class Reply(Value, frozen=True):
    """A plain HTTP answer instead of a stream."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Delivery(Value, frozen=True):
    """How a body travels."""

    sizes: tuple[int, ...] = ()
    """Sizes of the network pieces in bytes, the last one repeating; () writes each event by itself."""
    newline: Literal["\n", "\r\n", "\r"] = "\n"
    framing: Literal["chunked", "close"] = "chunked"
    """`close`: no length; the end of the connection is the end of the body."""
    cut_at: int | None = None
    """Cut after this many bytes of the body, wherever that is."""
    cut_how: CutHow = "close"
    before: tuple[Gate | Stall | Cut, ...] = ()
    """Played before the status line."""
    headers: dict[str, str] = field(default_factory=dict[str, str])


EACH_BYTE = (1,)
AT_ONCE = (1 << 30,)


class Expect(Value, frozen=True):
    """What the request that meets this turn must be like, beside the endpoint's rules."""

    last_user: str | None = None
    """Occurs in the text of the last user message."""
    last_role: str | None = None
    contains: tuple[str, ...] = ()
    """Each occurs in the text of the conversation: contents, reasoning, names and arguments of calls."""
    absent: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    """Names of the offered tools in their order; () means none."""


class Turn(Value, frozen=True):
    """The answer to one request."""

    steps: tuple[Step, ...] = ()
    reply: Reply | None = None
    delivery: Delivery = Delivery()
    expect: Expect = Expect()
    context: Literal["extends", "new", "aside"] = "extends"
    """Whether the request goes on with the one before it, begins a new context, or is a side request."""


Endpoint: TypeAlias = ChatEndpoint | GeminiEndpoint | ResponsesEndpoint | AnthropicEndpoint


class Script(Value, frozen=True):
    """What one model says, request by request."""

    model: str
    turns: tuple[Turn, ...] = ()
    where: str = ""
    """Only for conversations whose first user message contains this: lets a child session have its own script."""
    endpoint: Endpoint = ChatEndpoint()
    """Says by its type which protocol the model is spoken to in."""
