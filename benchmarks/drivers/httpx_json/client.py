"""The client of the process, and its connection."""

from __future__ import annotations

from functools import cache

import httpx


@cache
def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=60)
