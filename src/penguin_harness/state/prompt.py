"""The system prompt of an agent, put together from its state and the workspace.

The template is `system_prompt` of the agent's configuration, or `defaults/system_prompt.md`. In it stand for text:

    {{workspace}}               the folder that the session works in
    {{agent_instructions}}      AGENTS.md of the agent
    {{workspace_instructions}}  AGENTS.md of the workspace and of the folders above it
    {{skills}}                  what each skill is for, and where it is
    {{memory}}                  the index of what the agent remembers of this workspace
    {{variables}}               the names of the environment variables that hold credentials

A section that is empty leaves no blank lines behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import clean
from penguin_harness.state.agent_config import PlainConfig, load_agent_config
from penguin_harness.state.instructions import agent_instructions, workspace_instructions
from penguin_harness.state.memory import memory_folder, memory_section
from penguin_harness.state.paths import SYSTEM_CONFIG
from penguin_harness.state.skills import skills_section
from penguin_harness.state.yaml_fault import did_you_mean

DEFAULT = Path(__file__).with_name("defaults") / "system_prompt.md"
Sections: TypeAlias = Mapping[str, Callable[[], str]]
_PLACEHOLDER = re.compile(r"\{\{[ \t]*(\w+)[ \t]*\}\}")
_ALONE = re.compile(r"^[ \t]*\{\{[ \t]*(\w+)[ \t]*\}\}[ \t]*\n\n?", re.MULTILINE)


def assemble_prompt(*, agent_state: Path, workspace: Path, variables: Collection[str] = ()) -> str:
    """The prompt for a new context: a function of the files alone, so that a provider's cache can hold it.

    `variables` are the names of the vault's entries. Raises ConfigError for what is there and cannot be used.
    """
    config = agent_state / SYSTEM_CONFIG
    template = load_agent_config(config, PlainConfig).system_prompt
    sections = {
        "workspace": lambda: str(workspace),
        "agent_instructions": lambda: agent_instructions(agent_state),
        "workspace_instructions": lambda: workspace_instructions(workspace),
        "skills": lambda: skills_section(agent_state / "skills"),
        "memory": lambda: memory_section(memory_folder(agent_state, workspace)),
        "variables": lambda: _variables_section(variables),
    }
    if template is None:
        template = DEFAULT.read_text(encoding="utf-8")
    return clean(_filled(template, sections, config))


def _filled(template: str, sections: Sections, source: Path) -> str:
    """The template with its placeholders replaced; what comes in for them is left as it is."""
    texts: dict[str, str] = {}
    for name in _PLACEHOLDER.findall(template):
        if name not in sections:
            hint = did_you_mean(name, list(sections))
            raise ConfigError(f"{source}: system_prompt has an unknown placeholder {{{{{name}}}}}{hint}")
        if name not in texts:
            texts[name] = sections[name]()
    compact = _ALONE.sub(lambda match: match[0] if texts[match[1]] else "", f"{template}\n")
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], compact).strip()


def _variables_section(names: Collection[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(f"${name}" for name in sorted(names))
    return (
        f"# Credentials\n\nCommands find these in their environment: {listed}. Use them by name; their values are "
        "masked wherever they would be shown."
    )
