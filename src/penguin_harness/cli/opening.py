"""What a command works on: a new session, one to go on with, or the files of one."""

from __future__ import annotations

from pathlib import Path

from penguin_harness.agent import Agent, create_agent
from penguin_harness.cli.agent_options import require_agent
from penguin_harness.cli.options import ModelOptions
from penguin_harness.errors import ConfigError, PenguinError, SessionError
from penguin_harness.opening import read_context
from penguin_harness.session import Session
from penguin_harness.state.paths import DEFAULT_AGENT, agent_names, agent_paths
from penguin_harness.trace import find_session


async def named_agent(name: str) -> Agent:
    """The agent of that name. Raises ConfigError when it was never made."""
    require_agent(name)
    return await create_agent(name)


async def new_session(agent: Agent, model: ModelOptions, workspace: Path | None) -> Session:
    """A session in the workspace, by default the current folder."""
    return await agent.create_session(
        workspace=workspace or Path.cwd(),
        provider=model.provider,
        model_id=model.model_id,
        base_url=model.base_url,
        client_type=model.client_type,
        source="cli",
    )


async def resumed_session(agent: Agent, fragment: str, model: ModelOptions, workspace: Path | None) -> Session:
    """The session with that fragment in its id; with an empty one the newest of this workspace.

    Raises SessionError when there is none, ConfigError when what is asked for is not what the session has.
    """
    session_id = fragment or newest_session(agent, workspace or Path.cwd())
    meta = read_context(find_session(agent.paths.traces, session_id)).meta
    named = (model.provider or meta.provider, model.model_id or meta.model_id)
    if named != (meta.provider, meta.model_id):
        raise ConfigError(
            f"{meta.session_id} runs on {meta.provider} / {meta.model_id}; leave out --provider and --model-id, "
            "or begin a new session"
        )
    if workspace is not None and _absolute(workspace) != Path(meta.workspace):
        raise ConfigError(f"{meta.session_id} works in {meta.workspace}; leave out --workspace")
    return await agent.resume_session(meta.session_id, base_url=model.base_url, client_type=model.client_type)


def newest_session(agent: Agent, workspace: Path) -> str:
    """The id of the newest session whose own records name this workspace; damaged ones and children are passed over."""
    folder = _absolute(workspace)
    for files in agent.sessions():
        try:
            meta = read_context(files).meta
        except PenguinError:
            continue
        if meta.source != "subagent" and Path(meta.workspace) == folder:
            return files.session_id
    raise SessionError(f"there is no session of {folder} yet; begin one with `penguin chat`, or see `penguin ls`")


def trace_files(trace: str) -> list[Path]:
    """A Trace file by its path, or all files of the session that has this in its id, whichever agent's it is."""
    path = Path(trace)
    if path.is_file() or "/" in trace or trace.endswith(".jsonl"):
        return [path]
    others = (agent_paths(name).traces for name in agent_names() if name != DEFAULT_AGENT)
    return list(find_session(agent_paths().traces, trace, *others).paths)


def _absolute(folder: Path) -> Path:
    return folder.expanduser().resolve()
