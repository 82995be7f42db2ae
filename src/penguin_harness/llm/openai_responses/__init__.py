"""OpenAI's Responses protocol, used without a server that stores anything.

`request` and `items` turn payloads into the body; `events`, `item` and `reader` turn what arrives into deltas. All of
it is pure.
"""

from __future__ import annotations

from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.listing import OPENAI
from penguin_harness.llm.openai_responses.fidelity import keeps
from penguin_harness.llm.openai_responses.reader import EventReader
from penguin_harness.llm.openai_responses.request import body, messages, tools
from penguin_harness.llm.wire import WireProtocol

__all__ = ["PROTOCOL"]


def url(endpoint: Endpoint) -> str:
    """Where requests go."""
    return endpoint.url("responses")


def headers(endpoint: Endpoint) -> dict[str, str]:
    """How the key is presented."""
    return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}


PROTOCOL = WireProtocol(
    client_type="openai_responses",
    url=url,
    headers=headers,
    messages=messages,
    tools=tools,
    body=body,
    reader=EventReader,
    keeps=keeps,
    models=OPENAI,
)
