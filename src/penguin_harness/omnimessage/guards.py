"""Runtime guards with precise types, for users who prefer questions to `match`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penguin_harness.omnimessage.messages import PARTIALS, EventMessage, ModelMessage, OmniMessage, SessionMetaMessage
from penguin_harness.omnimessage.payloads import CompletePayload, ModelPayload, PartialPayload

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_session_meta(message: OmniMessage) -> TypeIs[SessionMetaMessage]:
    """Whether it opens a model context."""
    return isinstance(message, SessionMetaMessage)


def is_model_message(message: OmniMessage) -> TypeIs[ModelMessage[ModelPayload]]:
    """Whether someone says something: complete or in fragments."""
    return isinstance(message, ModelMessage)


def is_event_message(message: OmniMessage) -> TypeIs[EventMessage]:
    """Whether something happened."""
    return isinstance(message, EventMessage)


def is_partial(message: OmniMessage) -> TypeIs[ModelMessage[PartialPayload]]:
    """Whether it is a streaming fragment."""
    return isinstance(message, ModelMessage) and isinstance(message.payload, PARTIALS)


def is_complete_model_message(message: OmniMessage) -> TypeIs[ModelMessage[CompletePayload]]:
    """Whether someone says something, whole."""
    return isinstance(message, ModelMessage) and not isinstance(message.payload, PARTIALS)
