"""The protocols that the double speaks, by the client type of their endpoints."""

from __future__ import annotations

from tests.double.anthropic.protocol import PROTOCOL as ANTHROPIC
from tests.double.chat.protocol import PROTOCOL as CHAT
from tests.double.gemini.protocol import PROTOCOL as GEMINI
from tests.double.protocol import WireProtocol
from tests.double.responses.protocol import PROTOCOL as RESPONSES
from tests.double.script import Endpoint

PROTOCOLS: dict[str, WireProtocol] = {
    "openai_chat": CHAT,
    "anthropic": ANTHROPIC,
    "openai_responses": RESPONSES,
    "gemini": GEMINI,
}


def protocol_of(endpoint: Endpoint) -> WireProtocol:
    """The protocol in which an endpoint's model is spoken to."""
    return PROTOCOLS[str(endpoint.__struct_config__.tag)]


def protocol_at(path: str) -> WireProtocol:
    """The protocol that a request's path belongs to: Chat Completions unless another's prefix begins it."""
    return next((one for one in PROTOCOLS.values() if one.prefix and path.startswith(f"{one.prefix}/")), CHAT)
