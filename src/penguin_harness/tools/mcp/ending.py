"""How a connection came to its end: the first to know says why."""

from __future__ import annotations

import asyncio


class ConnectFailed(Exception):
    """There is no connection; the text says why."""


class Ending:
    """Known to everybody who works on one connection."""

    def __init__(self) -> None:
        self.happened = asyncio.Event()
        self.reason = ""
        self.refusal = ""
        """The last HTTP status that was a refusal; the SDK keeps it to itself."""

    def tell(self, reason: str) -> None:
        """It is over; whoever asks later is told the first reason."""
        self.reason = self.reason or reason
        self.happened.set()
