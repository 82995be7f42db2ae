"""What all values of the script language share."""

from __future__ import annotations

from msgspec import Struct


class Value(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value of the language: a spelling mistake in a script is an error, never a default."""


class Demands(Value, frozen=True):
    """What every endpoint may demand; each protocol adds its own. The defaults are the vendor's, and the strictest."""

    key: str | None = None
    """The API key that must be presented; None takes any."""
    extra_keys: tuple[str, ...] = ()
    """Further keys of the request."""
    images: bool = True
    expect_prefix: bool = True
    """Each request's conversation begins with that of the request before, as values and as bytes."""
    expect_replay: bool = True
    """Each request brings back what the whole answers of its context said, reasoning and signatures included."""
    same_tools: bool = True
    """Within a context the tool list stays the same, byte for byte."""
    max_body_bytes: int | None = None
    """Stands in for the context window: a longer request is refused as too long."""
