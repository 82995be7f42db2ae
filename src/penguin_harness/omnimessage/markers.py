"""Text blocks written for the model: `[name]…[/name]`."""

from __future__ import annotations

from typing import Literal, TypeAlias

Marker: TypeAlias = Literal["turn_aborted", "turn_retried", "user_steering", "summary", "context_summary"]


def block(name: Marker, content: str) -> str:
    """The content as a marked block."""
    return f"[{name}]\n{content.strip()}\n[/{name}]"


def content_of(name: Marker, text: str) -> str | None:
    """The content of the first whole block of that name, or None."""
    _, opened, rest = text.partition(f"[{name}]")
    content, closed, _ = rest.partition(f"[/{name}]")
    return content.strip() if opened and closed else None
