"""What an agent's files, and the wishes of the caller, make of a session: its tools, its gates, its prompt."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from penguin_harness.contracts import Hooks, Policy, Tools
from penguin_harness.engine.compaction import CompactionPolicy
from penguin_harness.errors import ConfigError
from penguin_harness.hooks import HookSet, Host, UserHook, load_hooks
from penguin_harness.invoke import invoke
from penguin_harness.llm import key_variables
from penguin_harness.models import secret_values
from penguin_harness.omnimessage import SessionMeta, Text, ToolCall
from penguin_harness.policy import RuleBook, command_allowance, command_policy
from penguin_harness.state.agent_config import AgentConfig, Sandbox, load_agent_config
from penguin_harness.state.config import ProjectConfig, load_config
from penguin_harness.state.memory import memory_folder
from penguin_harness.state.paths import VAULT, AgentPaths
from penguin_harness.state.prompt import assemble_prompt
from penguin_harness.state.vault import Vault, load_vault
from penguin_harness.subagents import SUBAGENT_TOOLS, Children, SubagentLimits
from penguin_harness.tools import Limits, Tool, Toolbox, ToolContext, builtin_tools, child_environment
from penguin_harness.tools.mcp import McpServer, McpTools
from penguin_harness.tools.processes import Processes
from penguin_harness.tools.redact import Redactor
from penguin_harness.tools.sandbox import SandboxPolicy, programs_in_hidden_places, require_sandbox
from penguin_harness.trace import Durability

AnyTool: TypeAlias = Tool | Callable[..., Any]
"""What may be passed as a tool: a Tool, or a plain or async function with type hints and a docstring."""
AnyHooks: TypeAlias = Sequence[UserHook] | Hooks
"""Hooks beside those in the agent's folder, or something that stands in the place of all."""
STALE = "The system prompt could not be put together anew, so the one before stays: {error}"


class Wishes(Struct, frozen=True, kw_only=True):
    """What a caller wants of a session; a None leaves it to the agent's files."""

    tools: Sequence[AnyTool] = ()
    mcp_servers: Sequence[McpServer] = ()
    compaction: CompactionPolicy | None = None
    hooks: AnyHooks = ()
    policy: Policy | None = None
    subagents: SubagentLimits | None = None
    durability: Durability = "process"
    api_key: str | None = None
    """Hidden like those that are configured."""


class AgentFiles(Struct, frozen=True):
    """What the files of an agent and its project say."""

    agent: AgentConfig[McpServer]
    project: ProjectConfig
    vault: Vault

    def compaction(self, wishes: Wishes) -> CompactionPolicy:
        """When the context is replaced."""
        return wishes.compaction or CompactionPolicy(**self.agent.compaction.given())

    def subagents(self, wishes: Wishes) -> SubagentLimits:
        """How many subagents, and how deep."""
        return wishes.subagents or SubagentLimits(**self.agent.subagents.given())


class Environment(Struct, frozen=True):
    """What surrounds the model of one session."""

    tools: Tools
    processes: Processes
    hooks: Hooks
    policy: Policy
    allows: Callable[[ToolCall], bool]
    """Whether the project's own rules allow a call, so that nobody need be asked."""


def read_files(paths: AgentPaths) -> AgentFiles:
    """Read what the agent's sessions depend on. Raises ConfigError that names the file and the place in it."""
    return AgentFiles(
        load_agent_config(paths.system_config, AgentConfig[McpServer]),
        load_config(paths.config),
        load_vault(paths.state / VAULT),
    )


class PromptSource:
    """The system prompt of a session, put together from the files for each new context."""

    def __init__(self, paths: AgentPaths, workspace: Path, vault: Vault, last: str = "") -> None:
        self._paths = paths
        self._workspace = workspace
        self._vault = vault
        self._last = last
        self._fault = ""
        self._untold: list[str] = []

    def first(self) -> str:
        """The prompt of a new session. Raises ConfigError for what is there and cannot be used."""
        self._last = assemble_prompt(
            agent_state=self._paths.state, workspace=self._workspace, variables=self._vault.names
        )
        return self._last

    def again(self) -> str:
        """The prompt of a later context. A fault in the files leaves the one before, and is news."""
        try:
            return self.first()
        except ConfigError as error:
            if self._fault != str(error):  # told once: news is answered, and each answer may be the end of a context
                self._fault = str(error)
                self._untold.append(STALE.format(error=error))
            return self._last

    def news(self) -> Sequence[Text]:
        """What went wrong, once."""
        told, self._untold = self._untold, []
        return [Text("user", fault, sender="harness") for fault in told]


async def surround(
    paths: AgentPaths,
    meta: SessionMeta,
    *,
    files: AgentFiles,
    wishes: Wishes,
    prompt: PromptSource,
    children: Children,
) -> Environment:
    """The environment of a session; nothing runs yet. Raises ConfigError, ToolDefinitionError for an unfit function."""
    workspace = Path(meta.workspace)
    secrets = secret_values(files.project, wishes.api_key) | files.vault.secrets
    plain = child_environment(os.environ, drop=key_variables())
    sandbox = _sandbox(paths, meta, files.agent.sandbox)
    await invoke(require_sandbox, sandbox)
    context = ToolContext(
        workspace=workspace,
        session_id=meta.session_id,
        scratchpad=paths.scratchpad(meta.session_id),
        environment={**plain, **files.vault.variables},
        guarded=[paths.config, paths.state / VAULT],
        secrets=secrets,
        sandbox=sandbox,
    )
    offered = {each.name: each for each in (*builtin_tools(), *children.tools)}
    chosen = files.agent.tools.of([*dict.fromkeys((*offered, *SUBAGENT_TOOLS))])
    tools = Toolbox(
        [*(offered[name] for name in chosen if name in offered), *wishes.tools],
        context=context,
        secrets=secrets,
        limits=Limits(**files.agent.limits.given()),
        sources=[children.news, prompt.news],
        connectors=[McpTools([*files.agent.mcp_servers, *wishes.mcp_servers], context)],
    )
    hooks = await invoke(_hooks, paths, Host(meta.session_id, workspace, plain), files, wishes, context.redactor)
    variables: Mapping[str, str] = context.environment
    book = RuleBook(files.project.policy)
    return Environment(
        tools,
        context.processes,
        hooks,
        wishes.policy or command_policy(book, environment=variables, workspace=meta.workspace),
        command_allowance(book, environment=variables, workspace=meta.workspace),
    )


def _hooks(paths: AgentPaths, host: Host, files: AgentFiles, wishes: Wishes, redactor: Redactor) -> Hooks:
    if not isinstance(wishes.hooks, Sequence):
        return wishes.hooks
    own = load_hooks(paths.state / "hooks", host, off=files.agent.hooks.off)
    return HookSet([*own, *wishes.hooks], redact=redactor.redact)


def _sandbox(paths: AgentPaths, meta: SessionMeta, wanted: Sandbox) -> SandboxPolicy | None:
    if wanted.mode == "off":
        return None
    workspace, scratchpad = Path(meta.workspace), paths.scratchpad(meta.session_id)
    return SandboxPolicy(
        mode=wanted.mode,
        network=wanted.network,
        workspace=workspace,
        temporary=scratchpad / "tmp",
        writable=(memory_folder(paths.state, workspace),),
        read_only=(paths.state, scratchpad, *programs_in_hidden_places()),
        hidden=(paths.project.parent, paths.state / VAULT),
    )
