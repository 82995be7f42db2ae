"""An agent: where its files lie, and the sessions that it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Unpack

from msgspec.structs import replace

from penguin_harness.assembly import AgentFiles, AnyHooks, AnyTool, PromptSource, Wishes, read_files, surround
from penguin_harness.contracts import Budget, Model, ModelRef, Policy
from penguin_harness.cost import session_cost
from penguin_harness.engine.compaction import CompactionPolicy
from penguin_harness.engine.context import Context
from penguin_harness.engine.spending import Purse
from penguin_harness.errors import ConfigError
from penguin_harness.invoke import invoke
from penguin_harness.models import ModelChoice, Reach, choose_model, open_model, refuse_both
from penguin_harness.omnimessage import SessionMeta, Source
from penguin_harness.opening import Opened, read_context
from penguin_harness.session import Session
from penguin_harness.state.config import load_config
from penguin_harness.state.paths import DEFAULT_AGENT, DEFAULT_PROJECT, AgentPaths, agent_paths
from penguin_harness.subagents import Borrowed, Children, Gates, SubagentLimits
from penguin_harness.tools.mcp import McpServer
from penguin_harness.trace import (
    Durability,
    SessionFiles,
    SessionLock,
    TraceWriter,
    context_file,
    find_session,
    fork_files,
    list_sessions,
    new_session_id,
)


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
        mcp_servers: Sequence[McpServer] = (),
        source: Source = "user",
        compaction: CompactionPolicy | None = None,
        budget: Budget | None = None,
        hooks: AnyHooks = (),
        policy: Policy | None = None,
        subagents: SubagentLimits | None = None,
        durability: Durability = "process",
        **choice: Unpack[ModelChoice],
    ) -> Session:
        """A new session in a workspace, by default a fresh folder of the agent.

        The model is named by `provider` and `model_id` (with `base_url`, `api_key`, `client_type`, `context_window`
        where they are not configured), or is the project's default, or a ready `model`, which the session then closes.
        `tools`, `mcp_servers` and `hooks` are added to those of the agent's files; what else is left out is as the
        files say. `budget` is for all of the session's runs together.
        Raises ConfigError when the workspace or the model is not there, or a file of the agent cannot be used;
        ToolDefinitionError for an unfit function.
        """
        files = await invoke(read_files, self.paths)
        folder = self._workspace(workspace)
        if model is None:
            model = open_model(choose_model(files.project, **choice))
        else:
            refuse_both(choice)
        prompt = PromptSource(self.paths, folder, files.vault)
        meta = SessionMeta(
            session_id=new_session_id(),
            provider=model.ref.provider,
            model_id=model.ref.model_id,
            model_context_window=model.context_window,
            system_prompt=prompt.first(),
            agent_state=str(self.paths.state),
            workspace=str(folder),
            source=source,
        )
        wishes = Wishes(
            tools=tools,
            mcp_servers=mcp_servers,
            compaction=compaction,
            hooks=hooks,
            policy=policy,
            subagents=subagents,
            durability=durability,
            api_key=choice.get("api_key"),
        )
        opened = Opened(context_file(self.paths.traces, meta.session_id, 1), meta, Context(), [], [])
        lock = self._lock(meta.session_id)
        try:
            purse = Purse("session", budget) if budget else None
            return await self._session(opened, lock, model, files, wishes, prompt, purse)
        except BaseException:
            lock.release()
            raise

    async def resume_session(
        self,
        session_id: str,
        *,
        model: Model | None = None,
        tools: Sequence[AnyTool] = (),
        mcp_servers: Sequence[McpServer] = (),
        compaction: CompactionPolicy | None = None,
        budget: Budget | None = None,
        hooks: AnyHooks = (),
        policy: Policy | None = None,
        subagents: SubagentLimits | None = None,
        durability: Durability = "process",
        **reach: Unpack[Reach],
    ) -> Session:
        """The session with that id, or whose id contains that fragment, as it stood: runs nothing, writes nothing.

        Model, prompt and workspace are those of its newest context; `base_url`, `api_key` and `client_type` may say
        anew how the model is reached. A ready `model` that is another one begins, with the first run, a context of its
        own, as after a switch. `Session.recovery` says what was found.
        Raises SessionError when no session or more than one matches, TraceLocked when somebody else writes it,
        TraceError when none of its files can be read, ConfigError when a file of the agent cannot be used.
        """
        found = find_session(self.paths.traces, session_id)
        lock = self._lock(found.session_id)
        try:
            files = await invoke(read_files, self.paths)
            opened = await invoke(read_context, found)
            meta = opened.meta
            named = ModelChoice(
                provider=meta.provider, model_id=meta.model_id, context_window=meta.model_context_window, **reach
            )
            model = model or open_model(choose_model(files.project, **named))
            wishes = Wishes(
                tools=tools,
                mcp_servers=mcp_servers,
                compaction=compaction,
                hooks=hooks,
                policy=policy,
                subagents=subagents,
                durability=durability,
                api_key=reach.get("api_key"),
            )
            prompt = PromptSource(self.paths, Path(meta.workspace), files.vault, meta.system_prompt)
            purse = await self._session_purse(budget, found, opened.context)
            return await self._session(opened, lock, model, files, wishes, prompt, purse)
        except BaseException:
            lock.release()
            raise

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

    async def _session(
        self,
        opened: Opened,
        lock: SessionLock,
        model: Model,
        files: AgentFiles,
        wishes: Wishes,
        prompt: PromptSource,
        purse: Purse | None,
    ) -> Session:
        meta, limits = opened.meta, files.subagents(wishes)
        handed_down: dict[str, Any] = {}
        children = self._children(meta.workspace, limits, handed_down)
        around = await surround(self.paths, meta, files=files, wishes=wishes, prompt=prompt, children=children)
        handed_down |= {
            "tools": wishes.tools,
            "mcp_servers": wishes.mcp_servers,
            "compaction": wishes.compaction,
            "hooks": Gates(around.hooks),
            "policy": around.policy,
            "subagents": replace(limits, depth=limits.depth - 1),
            "durability": wishes.durability,
        }
        return Session(
            meta=meta,
            context=opened.context,
            model=model,
            tools=around.tools,
            writer=TraceWriter(opened.path, wishes.durability, lock.check),
            lock=lock,
            prompt=prompt.again,
            policy=files.compaction(wishes),
            open_model=self.open_model,
            owed=opened.owed,
            skipped=opened.skipped,
            purse=purse,
            hooks=around.hooks,
            forbids=around.policy,
            allows=around.allows,
            descendants=children,
            processes=around.processes,
        )

    def _children(self, workspace: str, limits: SubagentLimits, handed_down: Mapping[str, Any]) -> Children:
        """Who starts sessions for the session's subagents, with what it hands down to them."""

        async def open_child(session_id: str | None, wanted: Model | ModelRef) -> Session:
            is_named = isinstance(wanted, ModelRef)
            model = (
                await self.open_model(provider=wanted.provider, model_id=wanted.model_id)
                if is_named
                else Borrowed(wanted)
            )
            if session_id is None:
                return await self.create_session(workspace=workspace, source="subagent", model=model, **handed_down)
            return await self.resume_session(session_id, model=model, **handed_down)

        return Children(open_child, limits)

    async def _session_purse(self, budget: Budget | None, files: SessionFiles, context: Context) -> Purse | None:
        """The session's budget, less what its Trace says that it has cost."""
        if budget is None:
            return None
        spent = (await invoke(session_cost, files.paths)).total.dollars if budget.dollars is not None else None
        return Purse("session", budget, tokens=context.usage.total, dollars=spent or Decimal(0))

    def _lock(self, session_id: str) -> SessionLock:
        return SessionLock(context_file(self.paths.traces, session_id, 1).with_name(f"{session_id}.lock"))
