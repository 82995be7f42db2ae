"""Which of the wire protocols an address speaks: each is asked its cheapest question.

That is a request of a few words for a model that does not exist, unless one is named: a server that speaks the protocol
refuses the model, and answers nothing that costs. A server may speak several.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import ModelRef, Request
from penguin_harness.llm.bases import base_urls, root_of
from penguin_harness.llm.catalog import presets
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.evidence import Proof, proof_in
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.gateway import protocol_of
from penguin_harness.llm.http import Answer, Transport
from penguin_harness.llm.limits import LEAST
from penguin_harness.llm.remote import Place, served_models
from penguin_harness.omnimessage import Text

PATIENCE = 8.0
"""Seconds for each answer."""

NO_MODEL = "penguin-no-such-model"
NO_CALL = "penguin-no-such-call"
ORDER = ("openai_chat", "openai_responses", "anthropic", "gemini")
"""Best first where nothing else decides: servers that speak several have had the first one the longest."""

_WINDOW = 128_000
_PING = Request("", (Text("user", "ping"),), max_output_tokens=LEAST)


class Finding(Struct, frozen=True):
    """What one protocol's question came to."""

    client_type: str
    proof: Proof
    base_url: str
    """With which it works, or was tried first."""
    said: str
    """What the endpoint said, or why it said nothing."""
    models: int | None = None
    """How many it lists; None where it lists none in this protocol's way."""

    @property
    def speaks(self) -> bool:
        """Whether the address speaks the protocol."""
        return self.proof in ("answers", "refuses")


async def detect(base_url: str, *, api_key: str | None = None, model_id: str | None = None) -> list[Finding]:
    """A finding for each protocol, best first. Raises ConfigError for what is no base URL."""
    findings = await _ask_all(base_url, api_key, model_id or NO_MODEL)
    if (root := root_of(base_url)) is not None and all(found.proof == "none" for found in findings):
        at_root = await _ask_all(root, api_key, model_id or NO_MODEL)
        findings = at_root if any(found.speaks for found in at_root) else findings
    provider = native_provider(base_url)
    own = presets()[provider].client_type if provider else None
    return sorted(findings, key=lambda found: (not found.speaks, found.client_type != own, found.proof != "answers"))


def native_provider(base_url: str) -> str | None:
    """The provider of the catalogue that is reached at this host."""
    host = urlsplit(base_url.strip()).netloc
    known = (name for name, preset in presets().items() if preset.base_url and urlsplit(preset.base_url).netloc == host)
    return next(known, None)


async def _ask_all(base_url: str, api_key: str | None, model_id: str) -> list[Finding]:
    return await asyncio.gather(*(_ask(base_url, each, api_key, model_id) for each in ORDER))


async def _ask(base_url: str, client_type: str, api_key: str | None, model_id: str) -> Finding:
    """The finding for the first base URL that speaks it, else for the likeliest one."""
    tried: dict[str, Finding] = {}
    for base in base_urls(base_url, client_type):
        endpoint = Endpoint(ModelRef("custom", model_id), base, _WINDOW, api_key)
        place = Place(endpoint, protocol_of(client_type))
        if (url := place.protocol.url(endpoint)) in tried:
            continue
        try:
            tried[url] = found = await _finding(place, url)
        except TransportError as failure:  # no other path of a host that is silent will say more
            return Finding(client_type, "silent", base, failure.message)
        if found.speaks:
            return replace(found, models=await _count(place))
    return next((found for found in tried.values() if found.proof == "unclear"), next(iter(tried.values())))


async def _finding(place: Place, url: str) -> Finding:
    endpoint, protocol = place.endpoint, place.protocol
    body = protocol.body(_PING, Conversation(protocol, endpoint).encode(_PING), endpoint)
    answer, said = await _answer(place, url, body)
    proof = proof_in(answer, protocol, endpoint.ref.model_id)
    if proof == "unclear":
        control, _ = await _answer(place, _no_call(url), body)
        proof = "unclear" if control.status == answer.status else "refuses"
    return Finding(protocol.client_type, proof, endpoint.base_url, said)


async def _answer(place: Place, url: str, body: bytes) -> tuple[Answer, str]:
    """The answer, and in words what is wrong with it."""
    endpoint = place.endpoint
    transport = Transport(url, headers=place.protocol.headers(endpoint), secret=endpoint.api_key, idle_timeout=PATIENCE)
    try:
        answer = await transport.ask(body, within=PATIENCE)
    finally:
        await transport.aclose()
    return answer, "" if answer.status == 200 else transport.refused(answer).message


def _no_call(url: str) -> str:
    """An address beside the call at which nothing can be."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rpartition('/')[0]}/{NO_CALL}").geturl()


async def _count(place: Place) -> int | None:
    try:
        return len(await served_models(place, within=PATIENCE))
    except TransportError:
        return None
