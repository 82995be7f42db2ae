"""The option that says whose state a command works on, and its check."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

from penguin_harness.errors import ConfigError
from penguin_harness.state.paths import agent_names
from penguin_harness.state.yaml_fault import did_you_mean

AgentName: TypeAlias = Annotated[str, Parameter(name="--agent", help="The agent; without it the default one.")]


def require_agent(name: str) -> None:
    """Raises ConfigError when there is no such agent."""
    known = agent_names()
    if name not in known:
        raise ConfigError(f"there is no agent {name!r}, `penguin agent new` makes one{did_you_mean(name, known)}")
