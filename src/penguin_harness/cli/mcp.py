"""`penguin mcp`: an agent's MCP servers, listed and tried."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from msgspec import Struct

from penguin_harness.cli.agent_options import AgentName, require_agent
from penguin_harness.cli.cards import seconds
from penguin_harness.cli.console import DONE, FAILED, say
from penguin_harness.cli.json_output import print_json
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import Screen, screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.contracts import Permission
from penguin_harness.errors import ConfigError
from penguin_harness.llm.catalog import key_variables
from penguin_harness.omnimessage import EventPayload, McpConnectEnd, McpResult
from penguin_harness.state.agent_config import AgentConfig, load_agent_config
from penguin_harness.state.paths import DEFAULT_AGENT, VAULT, agent_paths
from penguin_harness.state.vault import load_vault
from penguin_harness.state.yaml_fault import did_you_mean
from penguin_harness.tools import ToolContext, child_environment
from penguin_harness.tools.mcp import McpServer, McpTools, target

app = App(name="mcp", help="List and try an agent's MCP servers.")
_HEAD = ("server", "transport", "permission", "where")


class Listed(Struct, frozen=True):
    """What the list says about a server; of its credentials nothing."""

    name: str
    transport: str
    target: str
    permission: str
    connect_timeout_s: float
    call_timeout_s: float
    enabled: bool


class Offered(Struct, frozen=True):
    """A tool as the model is told of it."""

    name: str
    permission: Permission
    description: str


class Tried(Struct, frozen=True, omit_defaults=True):
    """How a server was reached, and what it offers."""

    server: str
    transport: str
    connected: bool
    duration_ms: int
    tools: list[Offered]
    error: str | None = None
    notes: Sequence[str] = ()


@app.command(name="list")
def list_servers(*, agent: AgentName = DEFAULT_AGENT, as_json: Json = False) -> None:
    """List the servers, without connecting them."""
    servers = _servers(agent)
    if as_json:
        print_json([_listed(server) for server in servers])
    elif not servers:
        _say_none(agent)
    else:
        screen = screen_for(sys.stdout)
        head: list[Line] = [[Span(name, "dim")] for name in _HEAD]
        screen.lines(aligned([head, *(_row(_listed(server)) for server in servers)], screen.width))
        screen.close()


@app.command(name="test")
async def try_servers(
    server: Annotated[str | None, Parameter(help="Only this one, also when it is not enabled.")] = None,
    *,
    agent: AgentName = DEFAULT_AGENT,
    as_json: Json = False,
) -> int:
    """Connect the servers as a session in this folder would, and list their tools.

    The exit code is 0 when all could be connected.
    """
    servers = _chosen(_servers(agent), server)
    if not servers and not as_json:
        _say_none(agent)
        return DONE
    tried = await _tried(servers, agent)
    if as_json:
        print_json(tried)
    else:
        screen = screen_for(sys.stdout)
        for each in tried:
            _report(screen, each)
        screen.close()
    return DONE if all(each.connected for each in tried) else FAILED


async def _tried(servers: Sequence[McpServer], agent: str) -> list[Tried]:
    vault = load_vault(agent_paths(agent).state / VAULT)
    environment = child_environment(os.environ, drop=key_variables()) | dict(vault.variables)
    events: list[EventPayload] = []
    with tempfile.TemporaryDirectory(prefix="penguin-mcp-") as folder:
        context = ToolContext(
            workspace=Path.cwd(),
            session_id="mcp-test",
            scratchpad=Path(folder),
            environment=environment,
            secrets=vault.secrets,
        )
        mcp = McpTools(servers, context)
        try:
            await mcp.connect(events.append)
        finally:
            await mcp.aclose()
    results = [result for event in events if isinstance(event, McpConnectEnd) for result in event.results]
    return [_outcome(result, mcp) for result in results]


def _outcome(result: McpResult, mcp: McpTools) -> Tried:
    tools = mcp.by_server()[result.server]
    return Tried(
        result.server,
        result.transport,
        result.status == "completed",
        result.duration_ms,
        [Offered(each.name, each.permission, each.description) for each in tools],
        result.error_message,
        mcp.notes().get(result.server, ()),
    )


def _servers(agent: str) -> tuple[McpServer, ...]:
    require_agent(agent)
    return load_agent_config(agent_paths(agent).system_config, AgentConfig[McpServer]).mcp_servers


def _chosen(servers: Sequence[McpServer], name: str | None) -> list[McpServer]:
    if name is None:
        return [server for server in servers if server.enabled]
    for server in servers:
        if server.name == name:
            return [msgspec.structs.replace(server, enabled=True)]
    raise ConfigError(f"there is no MCP server {name!r}{did_you_mean(name, [server.name for server in servers])}")


def _say_none(agent: str) -> None:
    say(f"no MCP server is configured; mcp_servers in {agent_paths(agent).system_config} is the place")


def _listed(server: McpServer) -> Listed:
    return Listed(
        server.name,
        server.kind,
        target(server),
        server.permission,
        server.connect_timeout_s,
        server.call_timeout_s,
        server.enabled,
    )


def _row(listed: Listed) -> list[Line]:
    where = one_line(listed.target) if listed.enabled else f"(not enabled) {one_line(listed.target)}"
    cells = (listed.transport, listed.permission, where)
    return [[Span(one_line(listed.name), "bold")], *([Span(cell)] for cell in cells)]


def _report(screen: Screen, tried: Tried) -> None:
    mark = Span("✓ ", "green") if tried.connected else Span("✗ ", "red")
    about = f"  {tried.transport}, {len(tried.tools)} tools, {seconds(tried.duration_ms / 1000)}"
    head: Line = [
        mark,
        Span(one_line(tried.server), "bold"),
        Span(about if tried.connected else f"  {tried.transport}"),
    ]
    screen.lines([head])
    for words in filter(None, (tried.error, *tried.notes)):
        put_line(screen, [Span(f"  {one_line(words)}", "yellow" if tried.connected else "red")], margin=4)
    rows: list[list[Line]] = [
        [[Span(f"  {tool.name}")], [Span(tool.permission)], [Span(one_line(tool.description), "dim")]]
        for tool in tried.tools
    ]
    screen.lines(aligned(rows, screen.width))
