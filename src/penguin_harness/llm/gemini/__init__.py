"""Gemini's generateContent protocol, streamed.

`request`, `parts` and `outputs` turn payloads into the body; `events`, `showing` and `reader` turn what arrives into
deltas. All of it is pure.
"""

from __future__ import annotations

from urllib.parse import quote

from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gemini.fidelity import keeps
from penguin_harness.llm.gemini.listing import MODELS
from penguin_harness.llm.gemini.reader import ChunkReader
from penguin_harness.llm.gemini.request import body, messages, tools
from penguin_harness.llm.wire import WireProtocol

__all__ = ["PROTOCOL"]


def url(endpoint: Endpoint) -> str:
    """Where requests go: a bare model id stands under `models`, a tuned model's name says its own place."""
    kind, slash, name = endpoint.ref.model_id.partition("/")
    if not slash or kind not in ("models", "tunedModels"):
        kind, name = "models", endpoint.ref.model_id
    return endpoint.url(f"{kind}/{quote(name, safe='')}:streamGenerateContent", version="v1beta", query="alt=sse")


def headers(endpoint: Endpoint) -> dict[str, str]:
    """How the key is presented: never in the URL, which is logged and shown."""
    return {"x-goog-api-key": endpoint.api_key} if endpoint.api_key else {}


PROTOCOL = WireProtocol(
    client_type="gemini",
    url=url,
    headers=headers,
    messages=messages,
    tools=tools,
    body=body,
    reader=ChunkReader,
    keeps=keeps,
    models=MODELS,
)
