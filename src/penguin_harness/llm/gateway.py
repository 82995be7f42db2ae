"""From a model's name to a model: what the provider's preset says, what the caller overrides, the right protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from penguin_harness.contracts import Model, ModelRef
from penguin_harness.errors import ConfigError
from penguin_harness.llm.catalog import Preset, facts, presets
from penguin_harness.llm.endpoint import Endpoint, Quirks, Thinking

if TYPE_CHECKING:
    from penguin_harness.llm.wire import WireProtocol

CLIENT_TYPES = ("openai_chat", "openai_responses", "anthropic", "gemini")
"""The wire protocols by name: each is the package beside this file that is called so."""


def create_model(
    ref: ModelRef,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    client_type: str | None = None,
    context_window: int | None = None,
    output_limit: int | None = None,
    vision: bool | None = None,
    strict_roles: bool | None = None,
    idle_timeout: float = 120.0,
    content_timeout: float = 600.0,
    environ: Mapping[str, str] = os.environ,
) -> Model:
    """The model behind its vendor's protocol. Raises ConfigError, and does no I/O.

    What is not given here is what the catalogue knows of the model, else the provider's default.
    """
    preset = preset_of(ref)
    known = facts(ref)
    address = base_url or preset.base_url
    if address is None:
        raise ConfigError(f"provider {ref.provider!r} has no address of its own; give a base URL for {ref.model_id!r}")
    endpoint = Endpoint(
        ref,
        address.strip(),
        context_window or preset.window(ref.model_id),
        key_for(ref, preset, api_key, environ),
        idle_timeout,
        content_timeout,
        output_limit or (known.output_limit if known else None),
        Thinking(known.thinking_kind, known.thinking) if known else Thinking(),
        Quirks(
            images=(known is None or known.vision is not False) if vision is None else vision,
            reasoning=preset.reasoning,
            strict_roles=preset.strict_roles if strict_roles is None else strict_roles,
            max_tokens_field=preset.max_tokens_field,
        ),
    )
    return _connect(client_type or preset.client_type, endpoint)


def preset_of(ref: ModelRef) -> Preset:
    """What is known of the model's provider. Raises ConfigError."""
    if (preset := presets().get(ref.provider)) is None:
        known = ", ".join(presets())
        raise ConfigError(
            f"unknown provider {ref.provider!r}; known are {known}. "
            "For any other endpoint use provider 'custom' with its base URL and its client type"
        )
    return preset


def key_for(ref: ModelRef, preset: Preset, api_key: str | None, environ: Mapping[str, str]) -> str | None:
    """The key that is given, else the provider's of the environment. Raises ConfigError without one that is needed."""
    candidates = (api_key, *(environ.get(name) for name in preset.key_variables))
    key = next((found.strip() for found in candidates if found and found.strip()), None)
    if key is None and preset.key_required:
        raise ConfigError(
            f"no API key for provider {ref.provider!r}: set {' or '.join(preset.key_variables)}, "
            "or store one with `penguin model add`"
        )
    return key


def protocol_of(client_type: str) -> WireProtocol:
    """The wire protocol of that name. Raises ConfigError that names all of them."""
    if client_type not in CLIENT_TYPES:
        raise ConfigError(f"unknown client type {client_type!r}; known are {', '.join(CLIENT_TYPES)}")
    protocol: WireProtocol = import_module(f"penguin_harness.llm.{client_type}").PROTOCOL
    return protocol


def _connect(client_type: str, endpoint: Endpoint) -> Model:
    protocol = protocol_of(client_type)
    from penguin_harness.llm.adapter import Adapter  # HTTP takes 0.1 s to import

    return Adapter(endpoint, protocol)
