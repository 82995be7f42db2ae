"""Parts of the vendor's own tools as a person reads them."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from penguin_harness.llm.gemini.events import Members, members_of, text_of


def shown(members: Members) -> str:
    """Code that the vendor ran and what came of it; "" for what has no readable form."""
    if "executableCode" in members:
        return _fenced(members["executableCode"], "code")
    if "codeExecutionResult" in members:
        return _fenced(members["codeExecutionResult"], "output")
    return ""


def whole(members: Members) -> Raw:
    """The part, its members as they came."""
    return Raw(msgspec.json.encode(members))


def _fenced(value: Raw, name: str) -> str:
    fields = members_of(value) or {}
    text = text_of(fields.get(name)) or ""
    language = (text_of(fields.get("language")) or "").lower()
    return f"```{language}\n{text.rstrip()}\n```" if text.strip() else ""
