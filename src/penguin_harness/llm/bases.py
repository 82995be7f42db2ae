"""What a base URL may stand for: people copy addresses without their version, and with the call behind it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

VERSIONS = {"gemini": "v1beta"}
"""Of the protocols whose version is not `v1`."""

_CALL = re.compile(r"/(?:(?:chat/)?completions|responses|messages|embeddings|models(?:/.*)?)/?\Z")
_VERSIONED = re.compile(r"(?P<stem>.*?)/(?P<version>v\d+\w*)(?:/.*)?\Z")


def base_urls(url: str, client_type: str) -> list[str]:
    """The base URLs to try, likeliest first: the address without its call, then with a version, and without."""
    parts = urlsplit(url.strip())
    version = VERSIONS.get(client_type, "v1")
    given = _CALL.sub("", parts.path).rstrip("/")
    found = _VERSIONED.match(given)
    stem = found["stem"] if found else given
    paths = [given, f"{stem}/{found['version']}"] if found else [given]
    paths += [f"{stem}/{version}", stem]
    return [parts._replace(path=path, fragment="").geturl() for path in dict.fromkeys(paths)]


def root_of(url: str) -> str | None:
    """The address without its path; None when it has none."""
    parts = urlsplit(url.strip())
    return parts._replace(path="", fragment="").geturl() if parts.path.strip("/") else None
