"""New agents: the files that a person then edits."""

from __future__ import annotations

import json
from pathlib import Path

from penguin_harness.errors import ConfigError
from penguin_harness.state.agent_config import PlainConfig
from penguin_harness.state.instructions import FILE as INSTRUCTIONS
from penguin_harness.state.paths import SYSTEM_CONFIG, AgentPaths
from penguin_harness.state.yaml_text import read_yaml

_DEFAULTS = Path(__file__).with_name("defaults")
_DESCRIPTION = 'description: ""'


def make_agent(paths: AgentPaths, description: str = "") -> None:
    """Write the files of a new agent. Raises ConfigError when it is there already."""
    config = _config(description)
    try:
        paths.state.mkdir(parents=True)
        (paths.state / SYSTEM_CONFIG).write_text(config, encoding="utf-8")
        (paths.state / INSTRUCTIONS).write_text("", encoding="utf-8")
    except FileExistsError:
        raise ConfigError(f"the agent {paths.agent.name!r} is there already, in {paths.state}") from None
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror or error}") from None


def ensure_file(path: Path) -> None:
    """Write the file of the agent's state that a person wants to edit, unless it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(_config("") if path.name == SYSTEM_CONFIG else "", encoding="utf-8")


def _config(description: str) -> str:
    template = (_DEFAULTS / SYSTEM_CONFIG).read_text(encoding="utf-8")
    said = json.dumps(" ".join(description.split()), ensure_ascii=False)
    config = template.replace(_DESCRIPTION, f"description: {said}", 1)
    read_yaml(config, PlainConfig, source="the description")
    return config
