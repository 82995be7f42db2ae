"""From a model's name to the model: configuration, presets, credentials, recordings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from penguin_harness.contracts import Model, ModelRef
from penguin_harness.errors import ConfigError
from penguin_harness.llm import create_model, key_variables, model_facts
from penguin_harness.llm.prices import cost
from penguin_harness.omnimessage import TokenCounts
from penguin_harness.state.config import Model as ModelConfig
from penguin_harness.state.config import ProjectConfig
from penguin_harness.trace import read_messages

REPLAY = "replay"
"""The provider whose models are Trace files: the model_id is the path."""


class Reach(TypedDict, total=False):
    """Where and how a model is reached; what is left out comes from the configuration or the provider's preset."""

    base_url: str | None
    api_key: str | None
    client_type: str | None


class ModelChoice(Reach, total=False):
    """A model by its name, which is the pair of provider and model_id; without one, the project's default."""

    provider: str | None
    model_id: str | None
    context_window: int | None
    """Tokens."""
    output_limit: int | None
    """Tokens that one answer may have."""
    vision: bool | None
    """Whether the model takes images; without, the person's are told to it in words."""


def choose_model(config: ProjectConfig, **choice: Unpack[ModelChoice]) -> ModelConfig:
    """The named model, or the project's default, with what is chosen here over what is configured.

    Raises ConfigError when neither is there, or only half of a name is given.
    """
    if unknown := choice.keys() - ModelChoice.__optional_keys__:
        raise TypeError(
            f"unknown argument {min(unknown)!r}; a model is chosen by {', '.join(ModelChoice.__optional_keys__)}"
        )
    provider, model_id = choice.get("provider"), choice.get("model_id")
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
    base_url = choice.get("base_url") or known.base_url
    stored = known.api_key if base_url == known.base_url else None  # a key goes only where it was stored for
    return ModelConfig(
        known.provider,
        known.model_id,
        base_url=base_url,
        client_type=choice.get("client_type") or known.client_type,
        context_window=choice.get("context_window") or known.context_window,
        output_limit=choice.get("output_limit") or known.output_limit,
        vision=known.vision if choice.get("vision") is None else choice.get("vision"),
        strict_roles=known.strict_roles,
        api_key=choice.get("api_key") or stored,
    )


def price_of(ref: ModelRef) -> Callable[[TokenCounts], Decimal]:
    """What a request to the model costs. Raises ConfigError when no public price is known."""
    known = model_facts(ref)
    if known is None or known.price is None:
        raise ConfigError(f"no public price of {ref.provider} / {ref.model_id} is known: set the budget in tokens")
    return partial(cost, known.price)


def refuse_both(choice: Mapping[str, object]) -> None:
    """Raise ConfigError when a model is named beside a ready one."""
    if named := [name for name, value in choice.items() if value is not None]:
        raise ConfigError(f"a ready model is passed, and {named[0]} too: name a model or pass one, not both")


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
        output_limit=choice.output_limit,
        vision=choice.vision,
        strict_roles=choice.strict_roles,
    )


def secret_values(
    config: ProjectConfig, api_key: str | None, environ: Mapping[str, str] = os.environ
) -> frozenset[str]:
    """The values that no output may show: configured keys and those of the environment."""
    configured = [model.api_key for model in config.models]
    exported = [environ.get(name) for name in key_variables()]
    return frozenset(value for value in (*configured, *exported, api_key) if value)
