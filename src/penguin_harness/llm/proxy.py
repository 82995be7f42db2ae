"""Which proxy the environment names for an address."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import urlsplit


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this URL; never one for this machine itself.

    aiohttp's own `trust_env` would also read ~/.netrc, and refuse a request for which that holds a login.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
