"""The script language: what the double accepts, what it answers and how the answer travels. Plain JSON."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct


class _Value(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value of the language: a spelling mistake in a script is an error, never a default."""


class Event(_Value, frozen=True, tag="event"):
    """One `data:` event. Unless `bare`, it is put into a chunk's envelope (id, object, created, model, usage)."""

    data: dict[str, Any]
    bare: bool = False


class Bytes(_Value, frozen=True, tag="bytes"):
    """Bytes of the body as they are, line ends included."""

    data: bytes


class Comment(_Value, frozen=True, tag="comment"):
    """A comment line and a blank line."""

    text: str


class Done(_Value, frozen=True, tag="done"):
    """The `[DONE]` sentinel."""


class Gate(_Value, frozen=True, tag="gate"):
    """Wait until the test releases this name; a released gate stays open."""

    name: str


class Stall(_Value, frozen=True, tag="stall"):
    """Keep the connection open and say nothing more."""


class Beat(_Value, frozen=True, tag="beat"):
    """The same bytes again and again; without `times`, until the client goes."""

    data: bytes
    every_ms: int
    times: int | None = None


CutHow: TypeAlias = Literal["end", "close", "reset"]


class Cut(_Value, frozen=True, tag="cut"):
    """End here: a polite end of the body (`end`), or the connection closed or reset in the middle of it."""

    how: CutHow = "close"


Step: TypeAlias = Event | Bytes | Comment | Done | Gate | Stall | Beat | Cut


class Reply(_Value, frozen=True):
    """A plain HTTP answer instead of a stream."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = {}


class Delivery(_Value, frozen=True):
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
    headers: dict[str, str] = {}
    null_usage: bool = True
    """Each chunk carries `"usage": null` when the request asked for usage, as the vendor does."""


EACH_BYTE = (1,)
AT_ONCE = (1 << 30,)


class Expect(_Value, frozen=True):
    """What the request that meets this turn must be like, beside the endpoint's rules."""

    last_user: str | None = None
    """Occurs in the text of the last user message."""
    last_role: str | None = None
    contains: tuple[str, ...] = ()
    """Each occurs in the text of the messages: contents, reasoning, names and arguments of calls."""
    absent: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    """Names of the offered tools in their order; () means none."""


class Turn(_Value, frozen=True):
    """The answer to one request."""

    steps: tuple[Step, ...] = ()
    reply: Reply | None = None
    delivery: Delivery = Delivery()
    expect: Expect = Expect()
    context: Literal["extends", "new", "aside"] = "extends"
    """Whether the request goes on with the one before it, begins a new context, or is a side request."""


class Endpoint(_Value, frozen=True):
    """What this endpoint demands and takes. The defaults are the vendor's, and a stable prefix."""

    key: str | None = None
    """The API key that must be presented; None takes any."""
    require_usage: bool = True
    """Streams must ask for usage (`stream_options.include_usage`)."""
    reasoning_fields: tuple[str, ...] = ()
    """Keys of an assistant message under which reasoning may come back."""
    require_reasoning: str | None = None
    """Assistant messages with calls must bring visible reasoning back under this key."""
    assistant_keys: tuple[str, ...] = ()
    """Further keys of assistant messages, opaque."""
    call_keys: tuple[str, ...] = ()
    """Further keys of tool calls, opaque."""
    extra_keys: tuple[str, ...] = ()
    """Further keys of the request."""
    forbidden_keys: tuple[str, ...] = ()
    """Documented keys of the request that this endpoint does not know."""
    images: bool = True
    strict_roles: bool = False
    """User and assistant must take turns, as local chat templates want it."""
    expect_prefix: bool = True
    """Each request's messages begin with those of the request before, as values and as bytes."""
    same_tools: bool = True
    """Within a context the tool list stays the same, byte for byte."""
    max_body_bytes: int | None = None
    """Stands in for the context window: a longer request is refused as too long."""
    max_call_id: int = 40


class Script(_Value, frozen=True):
    """What one model says, request by request."""

    model: str
    turns: tuple[Turn, ...] = ()
    where: str = ""
    """Only for conversations whose first user message contains this: lets a child session have its own script."""
    endpoint: Endpoint = Endpoint()
