"""Where a model is served, and what is known of it there: all that an adapter must be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from penguin_harness.contracts import ModelRef, ThinkingLevel
from penguin_harness.errors import ConfigError

MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
"""OpenAI's reasoning models refuse the first, most other servers do not know the second."""

Reasoning: TypeAlias = Literal["sent", "required", "never"]
"""What becomes of reasoning text: back under the name it came in; demanded with every call; refused."""

ThinkingKind: TypeAlias = Literal["effort", "adaptive", "budget", "level", "switch", "none"]
"""How a model is told to think: a word of effort, that word for a model that finds its own measure, a number of
tokens, Gemini's word, on or off, or not at all."""

_VERSION = re.compile(r"v\d+\w*")


class Thinking(Struct, frozen=True):
    """How a model is told how much to think."""

    kind: ThinkingKind | None = None
    """None when it is not known: the adapter then says it the way most of its models understand."""
    levels: Mapping[ThinkingLevel, str | int] = {}
    """The vendor's word, or tokens, for a level; one that is missing is not sent."""


class Quirks(Struct, frozen=True):
    """Where endpoints of one protocol differ. What an endpoint refuses is also learnt from its refusal."""

    images: bool = True
    reasoning: Reasoning = "sent"
    strict_roles: bool = False
    """The two sides must take turns, as some chat templates want it."""
    max_tokens_field: MaxTokensField = "max_tokens"
    thinking: bool = True
    """Takes a parameter that says how much to think."""
    summaries: bool = True
    """Shows summaries of its reasoning to whoever asks."""
    usage_option: bool = True
    """Takes the option that asks for token counts in a stream."""
    cache: bool = True
    """Takes the mark that asks for a prompt cache."""


class Endpoint(Struct, frozen=True):
    """A model, its address and its limits."""

    ref: ModelRef
    base_url: str
    context_window: int
    api_key: str | None = None
    idle_timeout: float = 120.0
    content_timeout: float = 600.0
    output_limit: int | None = None
    """Tokens that one answer may have; None when it is not known."""
    thinking: Thinking = Thinking()
    quirks: Quirks = Quirks()

    def __post_init__(self) -> None:
        parts = _split(self.base_url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{self.base_url!r} is no base URL; it looks like https://api.example.com/v1")
        if parts.username is not None or parts.password is not None:
            raise ConfigError(f"the base URL for {parts.hostname} holds a login; pass the key as the API key instead")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ConfigError(f"the API key for {self.ref.provider!r} has characters that no key has; copy it again")

    def url(self, path: str, *, version: str = "", query: str | None = None) -> str:
        """The address of one of the endpoint's calls; `query` replaces that of the base URL.

        A base URL that already names the call is accepted. One that ends in no version gets the call's own.
        """
        parts = urlsplit(self.base_url)
        base = parts.path.rstrip("/").removesuffix(f"/{path}")
        if version and not _VERSION.fullmatch(base.rpartition("/")[2]):
            base = f"{base}/{version}"
        query = parts.query if query is None else query
        return parts._replace(path=f"{base}/{path}", query=query, fragment="").geturl()

    def __repr__(self) -> str:
        return f"Endpoint({self.ref.provider!r}, {self.ref.model_id!r}, {self.base_url!r})"  # never the key


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a property that raises
    except ValueError:
        return None
    return parts
