"""Call ids as the provider knows them."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"#\d+\Z")


def provider_id(tool_call_id: str) -> str:
    """The id that the provider gave: without the `#n` that made it unique inside the Trace."""
    return _SUFFIX.sub("", tool_call_id) if "#" in tool_call_id else tool_call_id
