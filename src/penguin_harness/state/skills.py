"""Skills: folders in `agent_state/skills/` whose `SKILL.md` the model reads when a task calls for it.

    ---
    name: release-notes
    description: Write release notes from a git log. Use when a version is to be published.
    ---
    How it is done …

The front matter stands in the prompt, the rest of the file does not; it may name other files of its folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import clean, is_blank
from penguin_harness.state.text_file import read_text_file
from penguin_harness.state.yaml_fault import did_you_mean
from penguin_harness.state.yaml_text import read_yaml

FILE = "SKILL.md"
LONGEST_FRONT = 16_000
LONGEST_DESCRIPTION = 1_024
LONGEST_SECTION = 24_000
LONGEST_FILE = 1_000_000
_FENCE = "---"
_EXPECTED = f"it must begin with a line {_FENCE}, `name: …`, `description: …`, and another line {_FENCE}"


class FrontMatter(Struct, frozen=True):
    """What a skill says of itself; other keys are for other programs."""

    description: Annotated[str, Meta(min_length=1)]
    name: str | None = None


class Skill(Struct, frozen=True):
    """One skill, whole or not."""

    name: str
    """That of its folder."""
    path: Path
    description: str = ""
    fault: str | None = None
    """Why its front matter cannot be used."""


def find_skills(folder: Path) -> list[Skill]:
    """The skills in a folder, by name, faulty ones too. Raises ConfigError when the folder cannot be read."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"cannot read the skills in {folder}: {error.strerror or error}") from None
    return [skill for name in names if (skill := _skill(_one_line(name), folder / name / FILE)) is not None]


def read_skill(folder: Path, name: str) -> str:
    """The whole text of a skill. Raises ConfigError when there is none of that name."""
    known = {skill.name: skill.path for skill in find_skills(folder)}
    file = read_text_file(known[name], LONGEST_FILE) if name in known else None
    if file is None:
        raise ConfigError(f"there is no skill {name!r} in {folder}{did_you_mean(name, list(known))}")
    return file.text


def skills_section(folder: Path) -> str:
    """The skills as a section of the prompt."""
    skills = find_skills(folder)
    if not skills:
        return ""
    lines = [
        "# Skills",
        "",
        "Each is a file that says how a kind of task is done here. When a task is of that kind, read the file before "
        "you begin; paths in it are relative to its folder.",
        "",
    ]
    room = LONGEST_SECTION
    for number, skill in enumerate(skills):
        line = f"- {skill.name}: {skill.description or f'[{skill.fault}]'} ({skill.path})"
        room -= len(line)
        if room < 0:
            lines.append(f"- and {len(skills) - number} more in {folder}")
            break
        lines.append(line)
    return "\n".join(lines)


def _skill(name: str, path: Path) -> Skill | None:
    try:
        file = read_text_file(path, LONGEST_FRONT)
        if file is None:
            return None
        front = _front_matter(file.text)
    except ConfigError as error:
        return Skill(name, path, fault=_one_line(str(error)))
    description = _one_line(front.description)
    if is_blank(description):
        return Skill(name, path, fault=f"{FILE}: its description is empty")
    if len(description) > LONGEST_DESCRIPTION:
        description = f"{description[:LONGEST_DESCRIPTION]}…"
    return Skill(name, path, description)


def _front_matter(text: str) -> FrontMatter:
    first, *lines = text.split("\n")
    ends = [line.rstrip() for line in lines]
    if first.rstrip() != _FENCE or _FENCE not in ends:
        raise ConfigError(f"{FILE} has no front matter: {_EXPECTED}")
    front = "\n".join(lines[: ends.index(_FENCE)])
    return read_yaml(front, FrontMatter, source=FILE, above=1)


def _one_line(text: str) -> str:
    """For a list, whatever a name on disk or a file holds."""
    return clean(" ".join(text.split()))
