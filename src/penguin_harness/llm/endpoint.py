"""Where a model is served: all that an adapter must be told."""

from __future__ import annotations

from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from penguin_harness.contracts import ModelRef
from penguin_harness.errors import ConfigError

MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
"""OpenAI's reasoning models refuse the first, most other servers do not know the second."""


class Endpoint(Struct, frozen=True):
    """A model, its address and its limits."""

    ref: ModelRef
    base_url: str
    context_window: int
    api_key: str | None = None
    idle_timeout: float = 120.0
    content_timeout: float = 600.0
    max_tokens_field: MaxTokensField = "max_tokens"

    def __post_init__(self) -> None:
        parts = _split(self.base_url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{self.base_url!r} is no base URL; it looks like https://api.example.com/v1")
        if parts.username is not None or parts.password is not None:
            raise ConfigError(f"the base URL for {parts.hostname} holds a login; pass the key as the API key instead")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ConfigError(f"the API key for {self.ref.provider!r} has characters that no key has; copy it again")

    def url(self, path: str) -> str:
        """The address of one of the endpoint's calls; a base URL that already names the call is accepted."""
        parts = urlsplit(self.base_url)
        base = parts.path.rstrip("/").removesuffix(f"/{path}")
        return parts._replace(path=f"{base}/{path}", fragment="").geturl()

    def __repr__(self) -> str:
        return f"Endpoint({self.ref.provider!r}, {self.ref.model_id!r}, {self.base_url!r})"  # never the key


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a property that raises
    except ValueError:
        return None
    return parts
