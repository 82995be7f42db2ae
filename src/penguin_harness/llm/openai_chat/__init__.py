"""OpenAI's Chat Completions protocol, which most servers of models speak.

`request` turns payloads into the body; `chunk` and `reader` turn what arrives into deltas. Both are pure.
"""

from __future__ import annotations

from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.listing import OPENAI
from penguin_harness.llm.openai_chat.fidelity import keeps
from penguin_harness.llm.openai_chat.reader import ChunkReader
from penguin_harness.llm.openai_chat.request import body, messages, tools
from penguin_harness.llm.wire import WireProtocol

__all__ = ["PROTOCOL"]


def url(endpoint: Endpoint) -> str:
    """Where requests go."""
    return endpoint.url("chat/completions")


def headers(endpoint: Endpoint) -> dict[str, str]:
    """How the key is presented."""
    return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}


PROTOCOL = WireProtocol(
    client_type="openai_chat",
    url=url,
    headers=headers,
    messages=messages,
    tools=tools,
    body=body,
    reader=ChunkReader,
    keeps=keeps,
    models=OPENAI,
)
