"""The envelopes: one structure for the stream, the Trace, the server and the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec import Raw, Struct

from penguin_harness.omnimessage.events import EventPayload, TokenCounts
from penguin_harness.omnimessage.payloads import (
    ModelPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    doc,
)

PROTOCOL = 1
"""The version of the protocol that this package writes."""

Source: TypeAlias = Literal["user", "api", "schedule", "subagent", "cli"]
Timestamp: TypeAlias = Annotated[str, doc("ISO 8601, UTC, milliseconds, `Z`.")]
Origin: TypeAlias = Annotated[
    tuple[str, ...] | None, doc("Session ids of the forwarding chain, outer to inner; absent on the main session.")
]


class SessionMeta(Struct, frozen=True, omit_defaults=True):
    """The configuration of one model context: the first line of every Trace file."""

    session_id: Annotated[str, doc("`session-YYYY-MM-DD-HH-mm-ss-<8 hex>`, local time of creation.")]
    provider: Annotated[str, doc("Who serves the model; with `model_id` its identity.")]
    model_id: Annotated[str, doc("The model's name at that provider.")]
    model_context_window: Annotated[int, doc("The window, in tokens.")]
    system_prompt: Annotated[str, doc("Fully assembled, nothing left to substitute.")]
    agent_state: Annotated[str, doc("Absolute path of the agent's state folder.")]
    workspace: Annotated[str, doc("Absolute path; fixed for the session's life.")]
    source: Annotated[Source, doc("What opened the session; absent reads as `user`.")] = "user"
    session_usage: Annotated[TokenCounts | None, doc("In later files: the session's totals so far.")] = None
    protocol: Annotated[int, doc("Version of the protocol; absent reads as 1.")] = PROTOCOL

    @property
    def type(self) -> str:
        """`session_meta`: this payload bears no tag, its envelope says what it is."""
        return "session_meta"


ModelP = TypeVar("ModelP", bound=ModelPayload, covariant=True)


class Envelope(Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    """What every message has besides its payload."""

    timestamp: Timestamp

    @property
    def type(self) -> str:
        """`session_meta`, `model_msg` or `event_msg`."""
        return str(self.__struct_config__.tag)


class SessionMetaMessage(Envelope, frozen=True, tag="session_meta"):
    """Opens a model context."""

    payload: SessionMeta
    origin: Origin = None


class ModelMessage(Envelope, Generic[ModelP], frozen=True, tag="model_msg"):
    """Something that the person, the model or a tool says."""

    payload: ModelP
    origin: Origin = None


class EventMessage(Envelope, frozen=True, tag="event_msg"):
    """Something that happened."""

    payload: EventPayload
    origin: Origin = None


class UnknownPayload(Struct, frozen=True):
    """A payload of a type that this version does not know."""

    type: str
    data: Raw


class UnknownMessage(Struct, frozen=True):
    """A well-formed message whose kind this version does not know: kept, shown as unknown, passed on unchanged."""

    type: str
    timestamp: str
    payload: UnknownPayload
    origin: tuple[str, ...] | None
    line: bytes


KnownMessage: TypeAlias = SessionMetaMessage | ModelMessage[ModelPayload] | EventMessage

OmniMessage: TypeAlias = SessionMetaMessage | ModelMessage[ModelPayload] | EventMessage | UnknownMessage

PARTIALS = (PartialText, PartialThinking, PartialToolCall, PartialToolCallOutput)

KINDS: Mapping[str, frozenset[str]] = {
    "session_meta": frozenset({"session_meta"}),
    "model_msg": frozenset(str(kind.__struct_config__.tag) for kind in get_args(ModelPayload)),
    "event_msg": frozenset(str(kind.__struct_config__.tag) for kind in get_args(EventPayload)),
}
"""The payload types of each envelope."""


def is_recorded(message: OmniMessage) -> bool:
    """Whether the Trace of the session that streams it holds the message."""
    return message.origin is None and not isinstance(message.payload, PARTIALS)
