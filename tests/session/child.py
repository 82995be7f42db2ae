"""A session in a process of its own, for tests that kill it: `python -m tests.session.child FOLDER URL KEY`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from penguin_harness import user_text
from tests.double.chat.build import MODEL
from tests.support import allow, new_agent


async def main(folder: Path, url: str, key: str) -> None:
    """One run, with everything allowed."""
    agent = await new_agent(folder)
    session = await agent.create_session(
        workspace=folder / "work", provider="custom", model_id=MODEL, base_url=url, api_key=key
    )
    async with session:
        async for _ in session.run([user_text("go")], approve=allow):
            pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
