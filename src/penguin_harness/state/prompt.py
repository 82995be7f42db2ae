"""The system prompt of an agent: the default text and the agent's own instructions."""

from __future__ import annotations

from pathlib import Path
from string import Template

from penguin_harness.errors import ConfigError

DEFAULT = Path(__file__).with_name("defaults") / "system_prompt.md"
INSTRUCTIONS = "AGENTS.md"


def assemble_prompt(*, agent_state: Path, workspace: Path) -> str:
    """The prompt for a new context. It holds no clock, so that a provider's cache can hold it."""
    template = DEFAULT.read_text(encoding="utf-8")
    own = _instructions(agent_state / INSTRUCTIONS)
    instructions = f"\n# Instructions of this agent\n\n{own}\n" if own else ""
    return Template(template).substitute(workspace=workspace, instructions=instructions).strip()


def _instructions(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"cannot read the agent's instructions {path}: {error.strerror or error}") from None
