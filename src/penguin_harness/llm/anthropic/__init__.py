"""Anthropic's Messages protocol.

`request` and `blocks` turn payloads into the body; `events`, `block` and `reader` turn what arrives into deltas. All of
it is pure.
"""

from __future__ import annotations

from penguin_harness.llm.anthropic.fidelity import keeps
from penguin_harness.llm.anthropic.listing import MODELS
from penguin_harness.llm.anthropic.reader import EventReader
from penguin_harness.llm.anthropic.request import body, messages, tools
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.wire import WireProtocol

__all__ = ["PROTOCOL"]

VERSION = "2023-06-01"
INTERLEAVED = "interleaved-thinking-2025-05-14"
"""Lets models with a budget think between calls, as those that find their own measure do anyway."""


def url(endpoint: Endpoint) -> str:
    """Where requests go."""
    return endpoint.url("messages", version="v1")


def headers(endpoint: Endpoint) -> dict[str, str]:
    """How the key is presented, and the version of the protocol."""
    named = {"anthropic-version": VERSION}
    if endpoint.api_key:
        named["x-api-key"] = endpoint.api_key
    if endpoint.thinking.kind == "budget":
        named["anthropic-beta"] = INTERLEAVED
    return named


PROTOCOL = WireProtocol(
    client_type="anthropic",
    url=url,
    headers=headers,
    messages=messages,
    tools=tools,
    body=body,
    reader=EventReader,
    keeps=keeps,
    models=MODELS,
)
