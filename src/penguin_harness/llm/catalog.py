"""Providers and models known by name, as data: `catalog.toml`, and `models/<provider>.toml` for what each serves.

Every session reads the presets and one provider's models, so that is all that is ever parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from penguin_harness.contracts import ModelRef, ThinkingLevel
from penguin_harness.llm.endpoint import MaxTokensField, Reasoning, ThinkingKind
from penguin_harness.llm.prices import Price

T = TypeVar("T")

_HERE = Path(__file__).parent
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)\Z", re.ASCII)


class ModelFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """What is publicly known of a model at one provider; None where it is not known."""

    checked: date
    """The day at which the source said so."""
    source: str
    context_window: int | None = None
    """Tokens of a request and its answer."""
    output_limit: int | None = None
    vision: bool | None = None
    thinking_kind: ThinkingKind | None = None
    thinking: Mapping[ThinkingLevel, str | int] = {}
    """The vendor's word, or tokens, for a level; nothing is sent for one that is missing."""
    price: Price | None = None


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known about a provider before anything is configured."""

    client_type: str
    context_window: int
    """Of its models that are not described."""
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    key_required: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    reasoning: Reasoning = "sent"
    strict_roles: bool = False
    name: str = ""

    def window(self, model_id: str) -> int:
        """The context window of one of its models."""
        known = facts(ModelRef(self.name, model_id))
        return known.context_window if known is not None and known.context_window else self.context_window


@cache
def presets() -> Mapping[str, Preset]:
    """All known providers, by name."""
    known = _load(_HERE / "catalog.toml", dict[str, Preset])
    return {name: msgspec.structs.replace(preset, name=name) for name, preset in known.items()}


@cache
def models(provider: str) -> Mapping[str, ModelFacts]:
    """The described models of a provider, by model id."""
    path = _HERE / "models" / f"{provider}.toml"
    return _load(path, dict[str, ModelFacts]) if provider in presets() and path.exists() else {}


def facts(ref: ModelRef) -> ModelFacts | None:
    """What is known of a model; a dated snapshot without its own entry is what it is a snapshot of.

    A name that an aggregator puts together from vendor and model is known by its own entry only.
    """
    known, model_id = models(ref.provider), ref.model_id
    if model_id in known or "/" in model_id:
        return known.get(model_id)
    return known.get(_SNAPSHOT.sub("", model_id))


def key_variables() -> frozenset[str]:
    """The environment variables that may hold a key: not for the eyes of child processes."""
    return frozenset(name for preset in presets().values() for name in preset.key_variables)


def _load(path: Path, kind: type[T]) -> T:
    import tomllib  # only who asks for a provider pays for it

    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    return msgspec.convert(tables, kind, builtin_types=(date, Decimal))
