"""The tools of all MCP servers of a session: one connect round before a run, one list in a fixed order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from penguin_harness.contracts import EmitEvent
from penguin_harness.errors import ConfigError
from penguin_harness.omnimessage import McpConnectBegin, McpConnectEnd, McpResult
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.mcp.link import Link
from penguin_harness.tools.tool import Tool


class McpTools:
    """Connects what is configured and offers its tools."""

    def __init__(self, servers: Iterable[McpServer], context: ToolContext) -> None:
        """Connect nothing yet. Raises ConfigError when two servers have the same name."""
        self._links: list[Link] = []
        for server in servers:
            if any(link.server.name == server.name for link in self._links):
                raise ConfigError(f"two MCP servers are named {server.name!r}; rename one")
            if server.enabled:
                self._links.append(Link(server, context))

    @property
    def tools(self) -> tuple[Tool, ...]:
        """By server as configured, then by name; those of a server that is gone stay, and say so when called."""
        return tuple(tool for tools in self.by_server().values() for tool in tools)

    def by_server(self) -> dict[str, list[Tool]]:
        """The tools of each server; a name that an earlier one has is left out."""
        taken: set[str] = set()
        found: dict[str, list[Tool]] = {}
        for link in self._links:
            found[link.server.name] = [tool for tool in link.tools if tool.name not in taken]
            taken.update(tool.name for tool in link.tools)
        return found

    def notes(self) -> dict[str, Sequence[str]]:
        """What a person should know of each server's newest connection, as what of its list cannot be used."""
        return {link.server.name: tuple(link.notes) for link in self._links if link.notes}

    async def connect(self, emit: EmitEvent) -> None:
        """Connect, all at once, the servers that are not; a run goes on without those that cannot be."""
        await asyncio.gather(*(link.check() for link in self._links))
        links = [link for link in self._links if link.needs_connecting]
        if not links:
            return
        emit(McpConnectBegin(tuple(link.server.name for link in links)))
        clock = asyncio.get_running_loop().time
        begun = clock()
        tries = [asyncio.create_task(link.connect()) for link in links]
        try:
            await asyncio.wait(tries)
        except asyncio.CancelledError:
            done = [each.done() and not each.cancelled() for each in tries]
            for each in tries:
                each.cancel()
            pairs = zip(links, tries, done, strict=True)
            results = [each.result() if is_done else link.interrupted(clock() - begun) for link, each, is_done in pairs]
            emit(McpConnectEnd("aborted", tuple(results), error_code="user_abort"))
            raise
        emit(_end([each.result() for each in tries]))

    async def aclose(self) -> None:
        """Close every connection; each is done within seconds."""
        await asyncio.gather(*(link.aclose() for link in self._links))


def _end(results: Sequence[McpResult]) -> McpConnectEnd:
    failed = [result.server for result in results if result.status != "completed"]
    if not failed:
        return McpConnectEnd("completed", tuple(results))
    message = f"{len(failed)} of {len(results)} MCP servers are not connected: {', '.join(failed)}"
    return McpConnectEnd("fatal", tuple(results), error_code="connect_failed", error_message=message)
