"""The data root and what lies where in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from penguin_harness.errors import ConfigError

DEFAULT_PROJECT = "default_project"
DEFAULT_AGENT = "default_agent"
VAULT = ".vault.toml"
SYSTEM_CONFIG = "system_config.yaml"
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
    def system_config(self) -> Path:
        """How the agent is set up: prompt, tools, servers, limits."""
        return self.state / SYSTEM_CONFIG

    @property
    def skills(self) -> Path:
        """A folder for each skill."""
        return self.state / "skills"

    @property
    def snapshots(self) -> Path:
        """The kept states of the agent."""
        return self.agent / "snapshots"

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
    require_name("an agent", agent_id)
    require_name("a project", project)
    folder = (root or data_root()) / project
    return AgentPaths(folder, folder / "agents" / agent_id)


def agent_names(project: str = DEFAULT_PROJECT, root: Path | None = None) -> list[str]:
    """The agents of a project, by name; the default one is always there."""
    require_name("a project", project)
    names = {DEFAULT_AGENT}
    folder = (root or data_root()) / project / "agents"
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        names.update(entry.name for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir())
    return sorted(names)


def require_name(what: str, name: str) -> None:
    """Raises ConfigError for a name that could become another path, or be read in two ways."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is not a name for {what}: letters, digits, '_' and '-', at most 64")
