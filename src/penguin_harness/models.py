"""From a model's name to the model: configuration, presets, credentials, recordings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from penguin_harness.contracts import Model, ModelRef
from penguin_harness.errors import ConfigError
from penguin_harness.llm import create_model, key_variables
from penguin_harness.state.config import Model as ModelConfig
from penguin_harness.state.config import ProjectConfig
from penguin_harness.trace import read_messages

REPLAY = "replay"
"""The provider whose models are Trace files: the model_id is the path."""


def choose_model(
    config: ProjectConfig,
    *,
    provider: str | None = None,
    model_id: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    client_type: str | None = None,
    context_window: int | None = None,
) -> ModelConfig:
    """The named model, or the project's default, with what is given here over what is configured.

    Raises ConfigError when neither is there, or only half of a name is given.
    """
    if provider is None and model_id is None:
        known = config.default_model()
        if known is None:
            raise ConfigError(
                "no model is named and the project has no default: pass provider and model_id, "
                "or set one with `penguin model add PROVIDER MODEL_ID`"
            )
    elif provider is None or model_id is None:
        given = f"provider {provider!r}" if provider is not None else f"model_id {model_id!r}"
        raise ConfigError(f"only {given} is given: a model is named by provider and model_id together")
    else:
        known = config.find(provider, model_id) or ModelConfig(provider, model_id)
    return ModelConfig(
        known.provider,
        known.model_id,
        base_url=base_url or known.base_url,
        client_type=client_type or known.client_type,
        context_window=context_window or known.context_window,
        api_key=api_key or known.api_key,
    )


def open_model(choice: ModelConfig) -> Model:
    """The model, ready for requests. Raises ConfigError for what is unknown, TraceError for an unreadable recording."""
    ref = ModelRef(choice.provider, choice.model_id)
    if choice.provider == REPLAY:
        from penguin_harness.llm.replay import Replay  # most runs play no recording

        return Replay(ref, read_messages(Path(choice.model_id)))
    return create_model(
        ref,
        base_url=choice.base_url,
        api_key=choice.api_key,
        client_type=choice.client_type,
        context_window=choice.context_window,
    )


def secret_values(
    config: ProjectConfig, api_key: str | None, environ: Mapping[str, str] = os.environ
) -> frozenset[str]:
    """The values that no output may show: configured keys and those of the environment."""
    configured = [model.api_key for model in config.models]
    exported = [environ.get(name) for name in key_variables()]
    return frozenset(value for value in (*configured, *exported, api_key) if value)
