"""Memory: a folder for each agent and workspace, where the model keeps what later sessions should know."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from penguin_harness.state.text_file import read_text_file

INDEX = "MEMORY.md"
LONGEST = 16_000
"""Characters of the index that stand in the prompt."""
_LONGEST_NAME = 40
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]+")


def memory_folder(agent_state: Path, workspace: Path) -> Path:
    """Where the agent remembers what concerns a workspace; it is made when something goes in."""
    whole = workspace.resolve()
    name = _NOT_PLAIN.sub("-", whole.name).strip("-")[:_LONGEST_NAME] or "workspace"
    digest = hashlib.sha256(os.fsencode(whole)).hexdigest()[:12]
    return agent_state / "memory" / f"{name}-{digest}"


def memory_section(folder: Path) -> str:
    """The memory as a section of the prompt: where it is, and its index."""
    index = folder / INDEX
    file = read_text_file(index, LONGEST)
    text = file.text.strip() if file is not None else ""
    if file is not None and file.is_cut:
        text += f"\n[cut here; the whole is in {index}: make it shorter]"
    return f"""\
# Memory

The folder {folder} is yours: what you write there is still there in later sessions in this workspace, for you
alone. Keep what took effort to find out and will be needed again: decisions, wishes of the person, how things are
built and run here. Put longer notes into files of their own, with a line about each in {index.name}, which is all
that you see below. Mend what is no longer true. Never write down credentials.

{text or f"[{index.name} is empty so far]"}"""
