"""What the tail journal adds to a streamed delta: noting it, and writing it down ten times a second."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from penguin_harness.contracts import Place
from penguin_harness.omnimessage import PartialText, Text
from penguin_harness.trace import TailJournal

DELTAS = 20_000
A_READ = 250
"""Deltas that arrive together, before the event loop turns."""


async def _noted(folder: Path) -> float:
    journal = TailJournal(folder / "session.tail", lambda: Place("session_001.jsonl", 1, 0))
    journal.note(PartialText("assistant", "start", ""))
    fragments = [PartialText("assistant", "delta", f"ab{number % 26} ") for number in range(DELTAS)]
    started = time.process_time()
    for number, fragment in enumerate(fragments):
        journal.note(fragment)
        if number % A_READ == 0:
            journal.flush()
            await asyncio.sleep(0)
    journal.recorded(Text("assistant", ""))
    return (time.process_time() - started) / DELTAS


def tail_cost() -> float:
    """CPU seconds for each delta of a burst, with a write behind every read."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_noted(Path(folder)))
