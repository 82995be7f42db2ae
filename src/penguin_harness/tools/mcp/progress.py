"""The progress of a call as text: a little of it, so that the result behind it is not pushed out of sight."""

from __future__ import annotations

import asyncio

LIMIT = 2_000
"""Characters of one call's progress that are shown."""
CUT = "[no more progress is shown]\n"


class Progress:
    """Taken as the server reports it, read by who waits for the call."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = LIMIT

    async def take(self, progress: float, total: float | None, message: str | None) -> None:
        """The server has come so far."""
        if self._room <= 0:
            return
        count = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        text = f"[{count}] {' '.join(message.split())}\n" if message else f"[{count}]\n"
        self._room -= len(text)
        self._pieces.put_nowait(text if self._room > 0 else CUT)

    def end(self) -> None:
        """The call has ended."""
        self._pieces.put_nowait(None)

    async def next(self) -> str | None:
        """What there is to show next; None when the call has ended."""
        return await self._pieces.get()
