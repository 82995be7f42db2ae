"""The files `AGENTS.md`: what the agent's owner and the people of a workspace want of it."""

from __future__ import annotations

from pathlib import Path

from penguin_harness.errors import ConfigError
from penguin_harness.state.text_file import TextFile, read_text_file

FILE = "AGENTS.md"
LONGEST = 32_000
"""Characters of the agent's own file, and of a workspace's files together."""


def agent_instructions(agent_state: Path) -> str:
    """The agent's own instructions, as a section of the prompt. Raises ConfigError when they cannot be read."""
    path = agent_state / FILE
    file = read_text_file(path, LONGEST)
    if file is None or not file.text.strip():
        return ""
    return f"# Instructions of this agent\n\n{_shown(path, file)}"


def workspace_instructions(workspace: Path) -> str:
    """The instructions that apply in a folder, as a section of the prompt: the nearest last.

    They come from the folder, and from those above it up to the root of its repository, or to the home folder; outside
    of both from the folder alone, for anybody may write above it. What cannot be read is named with the reason.
    """
    folders, root = _folders(workspace)
    room = LONGEST
    found: list[str] = []
    for folder in folders:  # the nearest first: it is the last one to be cut
        text = _instructions_in(folder, root, room)
        if text:
            room = max(room - len(text), 0)
            found.insert(0, f'<instructions path="{folder / FILE}">\n{text}\n</instructions>')
    if not found:
        return ""
    parts = "\n\n".join(found)
    return f"# Instructions of this workspace\n\nWhere they disagree, the last ones count.\n\n{parts}"


def _folders(workspace: Path) -> tuple[list[Path], Path | None]:
    """The folders whose instructions apply, the nearest first, and the root of their repository."""
    here = workspace.resolve()
    home = _home()
    folders: list[Path] = []
    for folder in (here, *here.parents):
        folders.append(folder)
        if _is_there(folder / ".git"):
            return folders, folder
        if folder == home:
            return folders, None
    return [here], None


def _instructions_in(folder: Path, root: Path | None, room: int) -> str:
    path = folder / FILE
    try:
        target = path.resolve()
        if not target.is_relative_to(root or folder):  # a repository of strangers must not show the owner's files
            return f"[left out: it is a link to {target}, outside of {root or folder}]" if _is_there(path) else ""
        file = read_text_file(path, room)
    except (ConfigError, OSError, RuntimeError) as error:  # RuntimeError: a link to itself, until Python 3.13
        return f"[left out: {error}]"
    return _shown(path, file) if file is not None and (file.text.strip() or file.is_cut) else ""


def _shown(path: Path, file: TextFile) -> str:
    text = file.text.strip()
    return f"{text}\n[cut here; the whole is in {path}]".lstrip() if file.is_cut else text


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:  # there is none
        return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
