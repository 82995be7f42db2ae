"""The data root and what lies where in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from penguin_harness.errors import ConfigError

DEFAULT_PROJECT = "default_project"
DEFAULT_AGENT = "default_agent"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class AgentPaths(Struct, frozen=True):
    """The folders of one agent; none is made before it is needed."""

    project: Path
    agent: Path

    @property
    def config(self) -> Path:
        """The project's models, credentials and command policy."""
        return self.project / ".project_config.toml"

    @property
    def state(self) -> Path:
        """What a person edits of the agent: instructions, skills, hooks."""
        return self.agent / "agent_state"

    @property
    def traces(self) -> Path:
        """The Traces, by day."""
        return self.agent / "traces"

    def scratchpad(self, session_id: str) -> Path:
        """Recovery files and attached images of a session."""
        return self.agent / "scratchpad" / session_id

    def temporary_workspace(self) -> Path:
        """A workspace for a session that names none."""
        return self.agent / "workspaces" / f"tmp-{os.urandom(4).hex()}"


def data_root(environ: Mapping[str, str] = os.environ) -> Path:
    """`PENGUIN_HOME`, or `~/.penguin/data`."""
    named = environ.get("PENGUIN_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".penguin" / "data"


def agent_paths(agent_id: str = DEFAULT_AGENT, project: str = DEFAULT_PROJECT, root: Path | None = None) -> AgentPaths:
    """The folders of an agent. Raises ConfigError for a name that is not a plain one."""
    for what, name in (("agent", agent_id), ("project", project)):
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is not a name for an {what}: letters, digits, '_' and '-', at most 64")
    folder = (root or data_root()) / project
    return AgentPaths(folder, folder / "agents" / agent_id)
