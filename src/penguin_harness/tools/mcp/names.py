"""What the model calls a server's tool: a function of the two names alone, so that no connection order changes it."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
"""Characters that every provider takes."""
_DIGITS = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def qualified(server: str, tool: str) -> str:
    """`mcp__<server>__<tool>`; with a hash of both names behind it where these do not fit in there as they are.

    A server whose own name could hide where it ends (`a__b`, `a_`) gets the hash too: no two pairs share a name.
    """
    plain = f"mcp__{server}__{tool}"
    is_plain = not _OTHER.search(plain) and len(plain) <= LONGEST
    if is_plain and "__" not in server and not server.endswith("_"):
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
    room = LONGEST - len("mcp____") - 1 - _DIGITS
    front = _OTHER.sub("_", server)[: room // 2]
    back = _OTHER.sub("_", tool)[: room - len(front)]
    return f"mcp__{front}__{back}_{digest}"
