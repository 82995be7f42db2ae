"""What a killed process leaves: a copy of a session's files, and the session that is resumed from it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from penguin_harness import OmniMessage, Session, user_text
from penguin_harness.agent import AnyTool
from penguin_harness.contracts import Model
from tests.support import allow, assert_law_1, new_agent


def copy_files(folder: Path, to: Path) -> Path:
    """The data root as it is at this moment, in another folder; its locks stay behind with their owner."""
    shutil.copytree(folder / "root", to / "root", ignore=shutil.ignore_patterns("*.lock"))
    return to


async def resume(folder: Path, session_id: str, model: Model, tools: Sequence[AnyTool] = ()) -> Session:
    """The session of the data root in that folder."""
    return await (await new_agent(folder)).resume_session(session_id, model=model, tools=tools)


async def say(session: Session, text: str) -> list[OmniMessage]:
    """One run to its end; no wait before a retry is sat out."""
    seen: list[OmniMessage] = []
    run = session.run([user_text(text)], approve=allow)
    async for message in run:
        seen.append(message)
        run.retry_now()
    assert_law_1(session)
    return seen
