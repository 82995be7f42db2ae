"""How an agent is set up: `system_config.yaml` in its state folder. Everything in it may be left out.

description: Reviews pull requests.
system_prompt: |                # see prompt.py for the placeholders
  You review code in {{workspace}}.
tools:
  only: [exec_command, read_file]
mcp_servers:
  - name: issues
    command: issues-mcp
hooks:
  off: [goal]
compaction: {mode: summarize, max_context_length: 200000}
limits: {timeout: 600, output: 16000}
subagents: {cap: 4, depth: 1}
sandbox: {mode: workspace-write, network: false}
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct

from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import CompactionMode
from penguin_harness.state.text_file import read_text_file
from penguin_harness.state.yaml_fault import did_you_mean
from penguin_harness.state.yaml_text import read_yaml

LONGEST = 400_000
"""Characters of the file."""
Server = TypeVar("Server")
Positive: TypeAlias = Annotated[int, Meta(gt=0)]


class Section(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the file. A None stands for what the program does by default."""

    def given(self) -> dict[str, Any]:
        """What the file says, without what it leaves out."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not None}


class ToolSelection(Section, frozen=True):
    """Which built-in tools the model is offered."""

    only: tuple[str, ...] | None = None
    off: tuple[str, ...] = ()

    def of(self, names: Sequence[str]) -> list[str]:
        """The chosen ones among these, in their order. Raises ConfigError for a name that is none of them."""
        for key, chosen in (("only", self.only or ()), ("off", self.off)):
            for name in chosen:
                if name not in names:
                    raise ConfigError(
                        f"tools.{key} names {name!r}, which is no built-in tool{did_you_mean(name, names)}"
                    )
        return [name for name in names if name not in self.off and (self.only is None or name in self.only)]


class HookSelection(Section, frozen=True):
    """Which of the agent's hooks rest."""

    off: tuple[str, ...] = ()


class Compaction(Section, frozen=True):
    """When a context is replaced, and how."""

    mode: CompactionMode | None = None
    max_context_length: Positive | None = None
    """Tokens."""
    turns: Positive | None = None


class Limits(Section, frozen=True):
    """What one tool call may use."""

    timeout: Annotated[float, Meta(gt=0)] | None = None
    """Seconds."""
    output: Positive | None = None
    """Characters that the model is shown."""
    file: Positive | None = None
    """Bytes of a longer output that are kept."""


class Subagents(Section, frozen=True):
    """How many subagents, and how deep."""

    cap: Annotated[int, Meta(ge=0)] | None = None
    depth: Annotated[int, Meta(ge=0)] | None = None


class Sandbox(Section, frozen=True):
    """What commands may reach."""

    mode: Literal["workspace-write", "read-only", "off"] = "off"
    network: bool = True


class AgentConfig(Struct, Generic[Server], frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file says; `Server` is the type of an MCP server's entry, which this package does not know."""

    description: str = ""
    system_prompt: str | None = None
    """The template of the prompt."""
    tools: ToolSelection = ToolSelection()
    mcp_servers: tuple[Server, ...] = ()
    hooks: HookSelection = HookSelection()
    compaction: Compaction = Compaction()
    limits: Limits = Limits()
    subagents: Subagents = Subagents()
    sandbox: Sandbox = Sandbox()


PlainConfig: TypeAlias = AgentConfig[dict[str, Any]]
Config = TypeVar("Config", bound=AgentConfig[Any])


def load_agent_config(path: Path, kind: type[Config]) -> Config:
    """Read the file, as `PlainConfig` or with typed servers; an absent one is empty.

    Raises ConfigError that names the line of a fault.
    """
    file = read_text_file(path, LONGEST)
    if file is None:
        return kind()
    if file.is_cut:
        raise ConfigError(f"cannot read {path}: it is longer than {LONGEST:,} characters")
    return read_yaml(file.text, kind, source=str(path))
