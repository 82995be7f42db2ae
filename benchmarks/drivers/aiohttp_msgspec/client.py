"""The session of the process, and its connection."""

from __future__ import annotations

from functools import cache

import aiohttp


@cache
def session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(headers={"content-type": "application/json"})
