"""Providers known by name, as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from penguin_harness.llm.endpoint import MaxTokensField


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known about a provider before anything is configured."""

    client_type: str
    context_window: int
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    key_required: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    models: dict[str, int] = {}
    """Context windows of well known models."""

    def window(self, model_id: str) -> int:
        """The context window of one of its models."""
        return self.models.get(model_id, self.context_window)


@cache
def presets() -> Mapping[str, Preset]:
    """All known providers, by name."""
    text = Path(__file__).with_name("catalog.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, Preset])


def key_variables() -> frozenset[str]:
    """The environment variables that may hold a key: not for the eyes of child processes."""
    return frozenset(name for preset in presets().values() for name in preset.key_variables)
