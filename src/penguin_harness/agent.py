"""An agent: where its files lie, and the sessions that it opens."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Unpack

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import Budget, Hooks, Model, Policy, Tools
from penguin_harness.cost import session_cost
from penguin_harness.engine.compaction import CompactionPolicy
from penguin_harness.engine.context import Context, fold_all
from penguin_harness.engine.head import HeadRecord, missing_head
from penguin_harness.engine.spending import Purse
from penguin_harness.errors import ConfigError, TraceError
from penguin_harness.invoke import invoke
from penguin_harness.llm import key_variables
from penguin_harness.models import ModelChoice, Reach, choose_model, open_model, refuse_both, secret_values
from penguin_harness.omnimessage import SessionMeta, Source
from penguin_harness.session import Session
from penguin_harness.state.config import load_config
from penguin_harness.state.paths import DEFAULT_AGENT, DEFAULT_PROJECT, AgentPaths, agent_paths
from penguin_harness.state.prompt import assemble_prompt
from penguin_harness.subagents import Borrowed, Children, Gates, SubagentLimits
from penguin_harness.tools import Tool, Toolbox, ToolContext, builtin_tools, child_environment
from penguin_harness.trace import (
    Durability,
    SessionFiles,
    SessionLock,
    Skipped,
    TraceWriter,
    context_file,
    find_session,
    fork_files,
    list_sessions,
    new_session_id,
    read_messages,
)

COMPACTION = CompactionPolicy()
SUBAGENTS = SubagentLimits()
AnyTool = Tool | Callable[..., Any]
"""What may be passed as a tool: a Tool, or a plain or async function with type hints and a docstring."""


async def create_agent(
    agent_id: str = DEFAULT_AGENT, *, project: str = DEFAULT_PROJECT, root: Path | None = None
) -> Agent:
    """The agent with that id. It needs no set-up: its folders are made when something goes in.

    `root` is the data root; without it `PENGUIN_HOME`, or `~/.penguin/data`.
    Raises ConfigError for a name that is no plain name.
    """
    return Agent(agent_id, agent_paths(agent_id, project, root))


class Agent:
    """Opens, resumes and lists sessions. Holds nothing open itself."""

    def __init__(self, agent_id: str, paths: AgentPaths) -> None:
        self.agent_id = agent_id
        self.paths = paths

    async def create_session(
        self,
        *,
        workspace: str | Path | None = None,
        model: Model | None = None,
        tools: Sequence[AnyTool] = (),
        source: Source = "user",
        compaction: CompactionPolicy = COMPACTION,
        budget: Budget | None = None,
        hooks: Hooks | None = None,
        policy: Policy | None = None,
        subagents: SubagentLimits = SUBAGENTS,
        durability: Durability = "process",
        **choice: Unpack[ModelChoice],
    ) -> Session:
        """A new session in a workspace, by default a fresh folder of the agent.

        The model is named by `provider` and `model_id` (with `base_url`, `api_key`, `client_type`, `context_window`
        where they are not configured), or is the project's default, or a ready `model`, which the session then closes.
        `tools` are added to the built-in ones. `budget` is for all of the session's runs together.
        Raises ConfigError when the workspace or the model is not there, ToolDefinitionError for an unfit function.
        """
        folder = self._workspace(workspace)
        if model is None:
            model = await self.open_model(**choice)
        else:
            refuse_both(choice)
        meta = SessionMeta(
            session_id=new_session_id(),
            provider=model.ref.provider,
            model_id=model.ref.model_id,
            model_context_window=model.context_window,
            system_prompt=self._prompt(folder),
            agent_state=str(self.paths.state),
            workspace=str(folder),
            source=source,
        )
        family = Family(tools, compaction, hooks, policy, subagents, durability)
        children = self._children(meta.workspace, family)
        toolbox = await self._toolbox(meta, [*tools, *children.tools], choice.get("api_key"), children)
        lock = self._lock(meta.session_id)
        return Session(
            meta=meta,
            context=Context(),
            model=model,
            tools=toolbox,
            writer=TraceWriter(context_file(self.paths.traces, meta.session_id, 1), durability, lock.check),
            lock=lock,
            prompt=lambda: self._prompt(folder),
            policy=compaction,
            open_model=self.open_model,
            purse=Purse("session", budget) if budget else None,
            hooks=hooks,
            forbids=policy,
            descendants=children,
        )

    async def resume_session(
        self,
        session_id: str,
        *,
        model: Model | None = None,
        tools: Sequence[AnyTool] = (),
        compaction: CompactionPolicy = COMPACTION,
        budget: Budget | None = None,
        hooks: Hooks | None = None,
        policy: Policy | None = None,
        subagents: SubagentLimits = SUBAGENTS,
        durability: Durability = "process",
        **reach: Unpack[Reach],
    ) -> Session:
        """The session with that id, or whose id contains that fragment, as it stood: runs nothing, writes nothing.

        Model, prompt and workspace are those of its newest context; `base_url`, `api_key` and `client_type` may say
        anew how the model is reached. A ready `model` that is another one begins, with the first run, a context of its
        own, as after a switch. `Session.recovery` says what was found.
        Raises SessionError when no session or more than one matches, TraceLocked when somebody else writes it,
        TraceError when none of its files can be read.
        """
        files = find_session(self.paths.traces, session_id)
        lock = self._lock(files.session_id)
        try:
            resumed = await invoke(read_context, files)
            meta = resumed.meta
            model = model or await self.open_model(
                provider=meta.provider, model_id=meta.model_id, context_window=meta.model_context_window, **reach
            )
            children = self._children(meta.workspace, Family(tools, compaction, hooks, policy, subagents, durability))
            toolbox = await self._toolbox(meta, [*tools, *children.tools], reach.get("api_key"), children)
        except BaseException:
            lock.release()
            raise
        return Session(
            meta=meta,
            context=resumed.context,
            model=model,
            tools=toolbox,
            writer=TraceWriter(resumed.path, durability, lock.check),
            lock=lock,
            prompt=lambda: self._prompt(Path(meta.workspace)),
            policy=compaction,
            open_model=self.open_model,
            owed=resumed.owed,
            skipped=resumed.skipped,
            purse=await self._session_purse(budget, files, resumed.context),
            hooks=hooks,
            forbids=policy,
            descendants=children,
        )

    async def fork_session(self, session_id: str, *, at: int | None = None, **options: Any) -> Session:
        """A new session with the history of another one, byte for byte, up to a committed turn.

        `at` counts the turns of its newest context from 1; None takes all. The rest are the options of
        `resume_session`. The session that is forked may be in use. Raises SessionError when there is no such turn.
        """
        files = find_session(self.paths.traces, session_id)
        forked = await invoke(fork_files, self.paths.traces, files, at)
        return await self.resume_session(forked, **options)

    async def open_model(self, **choice: Unpack[ModelChoice]) -> Model:
        """The named model, or the project's default, ready for requests. Raises ConfigError when it is not there."""
        return open_model(choose_model(await invoke(load_config, self.paths.config), **choice))

    def sessions(self) -> list[SessionFiles]:
        """The agent's sessions, the newest first."""
        return list_sessions(self.paths.traces)

    def _workspace(self, named: str | Path | None) -> Path:
        if named is None:
            folder = self.paths.temporary_workspace()
            folder.mkdir(parents=True)
            return folder
        folder = Path(named).expanduser().resolve()
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise ConfigError(f"the workspace {folder} {what}; name a folder, or make it first")
        return folder

    def _prompt(self, workspace: Path) -> str:
        return assemble_prompt(agent_state=self.paths.state, workspace=workspace)

    def _children(self, workspace: str, family: Family) -> Children:
        """Who starts sessions for the session's subagents."""

        async def open_child(session_id: str | None, model: Model) -> Session:
            limits = replace(family.subagents, depth=family.subagents.depth - 1)
            options: dict[str, Any] = {
                "model": Borrowed(model),
                "tools": family.tools,
                "compaction": family.compaction,
                "hooks": Gates(family.hooks) if family.hooks is not None else None,
                "policy": family.policy,
                "subagents": limits,
                "durability": family.durability,
            }
            if session_id is None:
                return await self.create_session(workspace=workspace, source="subagent", **options)
            return await self.resume_session(session_id, **options)

        return Children(open_child, family.subagents)

    async def _toolbox(
        self, meta: SessionMeta, tools: Sequence[AnyTool], api_key: str | None, children: Children
    ) -> Tools:
        config = await invoke(load_config, self.paths.config)
        context = ToolContext(
            workspace=Path(meta.workspace),
            session_id=meta.session_id,
            scratchpad=self.paths.scratchpad(meta.session_id),
            environment=child_environment(os.environ, drop=key_variables()),
            guarded=[self.paths.config],
        )
        secrets = secret_values(config, api_key)
        return Toolbox([*builtin_tools(), *tools], context=context, secrets=secrets, sources=[children.news])

    async def _session_purse(self, budget: Budget | None, files: SessionFiles, context: Context) -> Purse | None:
        """The session's budget, less what its Trace says that it has cost."""
        if budget is None:
            return None
        spent = (await invoke(session_cost, files.paths)).total.dollars if budget.dollars is not None else None
        return Purse("session", budget, tokens=context.usage.total, dollars=spent or Decimal(0))

    def _lock(self, session_id: str) -> SessionLock:
        return SessionLock(context_file(self.paths.traces, session_id, 1).with_name(f"{session_id}.lock"))


class Family(Struct, frozen=True):
    """What a session hands down to those that it starts."""

    tools: Sequence[AnyTool]
    compaction: CompactionPolicy
    hooks: Hooks | None
    policy: Policy | None
    subagents: SubagentLimits
    durability: Durability


class Resumed(Struct):
    """What a resume found."""

    path: Path
    meta: SessionMeta
    context: Context
    owed: list[HeadRecord]
    skipped: list[Skipped]


def read_context(files: SessionFiles) -> Resumed:
    """Fold the newest file that begins a context. Raises TraceError when there is none."""
    skipped: list[Skipped] = []
    for number, path in reversed([*enumerate(files.paths)]):
        context = folded(path, skipped)
        if context.meta is not None:
            owed: list[HeadRecord] = []
            if number and context.requests == 0:
                owed = missing_head(folded(files.paths[number - 1], skipped), context)
            return Resumed(path, context.meta, context, owed, skipped)
    reasons = "; ".join(map(str, skipped[:3])) or "it is empty"
    raise TraceError(f"{files.session_id} has no readable session_meta in {files.newest.parent}: {reasons}")


def folded(path: Path, skipped: list[Skipped]) -> Context:
    """The state at the end of a Trace file."""
    return fold_all(Context(), read_messages(path, skipped))
