"""Call ids as the provider knows them."""

from __future__ import annotations

import hashlib
import re

_SUFFIX = re.compile(r"#\d+\Z")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def provider_id(tool_call_id: str) -> str:
    """The id that the provider gave: without the `#n` that made it unique inside the Trace."""
    return _SUFFIX.sub("", tool_call_id) if "#" in tool_call_id else tool_call_id


def fitting_id(tool_call_id: str, unfit: re.Pattern[str], longest: int) -> str:
    """The Trace's own id, which is unique, for protocols that want ids to be so; mended where they refuse it."""
    if len(tool_call_id) <= longest and not unfit.search(tool_call_id):
        return tool_call_id
    digest = hashlib.sha256(tool_call_id.encode()).hexdigest()[:12]
    return f"{unfit.sub('_', tool_call_id)[: longest - 13]}_{digest}"


def fitting_name(name: str) -> str:
    """A tool's name that every protocol takes: one that the model made up must not block the session."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "unknown"
