"""How the vendor words what its validation refuses."""

from __future__ import annotations

from tests.double.refusal import Refusal

BARE = "Request contains an invalid argument."


def field(at: str, why: str, code: str) -> Refusal:
    """A field of the request that validation refuses, named by its path."""
    return Refusal(f"* GenerateContentRequest.{at}: {why}\n", at, code)


def argument(at: str, code: str) -> Refusal:
    """What is refused without a reason; the code says it."""
    return Refusal(BARE, at, code)
