"""What an endpoint serves, by its own list of models."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from penguin_harness.contracts import ModelRef
from penguin_harness.errors import ConfigError
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.gateway import key_for, preset_of, protocol_of
from penguin_harness.llm.http import Transport
from penguin_harness.llm.listing import Served
from penguin_harness.llm.wire import WireProtocol

PATIENCE = 30.0
"""Seconds that a page may take."""


class Place(Struct, frozen=True):
    """An endpoint, and the protocol in which it is asked."""

    endpoint: Endpoint
    protocol: WireProtocol

    @property
    def list_url(self) -> str:
        """Where it lists its models."""
        return self.protocol.models.url(self.protocol.url(self.endpoint))


def place_of(
    provider: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    client_type: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Place:
    """Where a provider is asked for its models. Raises ConfigError, as for a model of that provider."""
    ref = ModelRef(provider, "")
    preset = preset_of(ref)
    address = base_url or preset.base_url
    if address is None:
        raise ConfigError(f"provider {provider!r} has no address of its own; pass --base-url")
    key = key_for(ref, preset, api_key, environ)
    endpoint = Endpoint(ref, address.strip(), preset.context_window, key, PATIENCE)
    return Place(endpoint, protocol_of(client_type or preset.client_type))


async def served_models(place: Place, *, within: float = PATIENCE) -> tuple[Served, ...]:
    """All models of the list, in its order, page after page. Raises TransportError."""
    endpoint, models = place.endpoint, place.protocol.models
    headers = place.protocol.headers(endpoint)
    transport = Transport(place.list_url, headers=headers, secret=endpoint.api_key, idle_timeout=within)
    found: dict[str, Served] = {}
    query: Mapping[str, str] | None = models.query
    try:
        while query is not None:
            page = models.page(await transport.get(query))
            fresh = {served.model_id: served for served in page.models if served.model_id not in found}
            found |= fresh
            # A list that begins anew would have no end.
            query = {**models.query, **page.following} if page.following and fresh else None
    finally:
        await transport.aclose()
    return tuple(found.values())
