"""A configured server through the whole session: connected when a run begins, its tools known from then on."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from penguin_harness.contracts import Permission
from penguin_harness.errors import ToolFailed
from penguin_harness.invoke import invoke
from penguin_harness.omnimessage import McpResult, StopReason, clean
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.failures import describe
from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.mcp.ending import ConnectFailed
from penguin_harness.tools.mcp.log import ServerLog
from penguin_harness.tools.mcp.names import qualified
from penguin_harness.tools.mcp.secrets import confidential, credentials, filled_in
from penguin_harness.tools.redact import Redactor
from penguin_harness.tools.tool import Tool, ToolResult, raw_tool

if TYPE_CHECKING:
    import mcp_types

    from penguin_harness.tools.mcp.connection import Connection

_CONNECTION = "penguin_harness.tools.mcp.connection"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_REASON = 500


class Link:
    """One server and, while there is one, its connection."""

    def __init__(self, server: McpServer, context: ToolContext) -> None:
        self.server = server
        self.tools: tuple[Tool, ...] = ()
        """As they were last listed; also while there is no connection."""
        self._context = context
        self._connection: Connection | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._log = ServerLog(server.name, self._folder)
        self._credentials = Redactor()

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know of the newest connection."""
        return self._log.notes

    @property
    def needs_connecting(self) -> bool:
        """Whether there is no connection, or it offers other tools by now."""
        return self._connection is None or not self._connection.is_current

    async def check(self) -> None:
        """Find out whether the connection still holds."""
        if self._connection is not None:
            await self._connection.check()

    async def connect(self) -> McpResult:
        """Connect, or read the list of tools again. Raises nothing; when cancelled, nothing is left of the try."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        try:
            await self._open()
        except asyncio.CancelledError:
            self._drop()
            raise
        except Exception as error:  # noqa: BLE001 - a server, or the way to it, is no reason for a run to fail
            self._drop()
            reason = self._told(error)
            self._log.line(f"not connected: {reason}")
            return self._result("fatal", begun, clock(), reason)
        return self._result("completed", begun, clock())

    def interrupted(self, duration: float) -> McpResult:
        """The result of a try that the user ended."""
        return McpResult(self.server.name, self.server.kind, "aborted", round(duration * 1000), error_code="user_abort")

    async def aclose(self) -> None:
        """Close what there is of connections."""
        self._drop()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _open(self) -> None:
        connection = self._connection
        if connection is None or not connection.is_open:
            self._drop()
            connection = self._connection = await self._new_connection()
        await connection.open()
        self.tools = self._offered(connection.tools)

    async def _new_connection(self) -> Connection:
        environment = self._context.environment
        server = filled_in(self.server, environment)
        hidden = Redactor(confidential(self.server, environment) | confidential(server, {}))
        self._credentials = Redactor(credentials(server))
        self._log = ServerLog(server.name, self._folder, (hidden, self._context.redactor))
        kind = await _connection_kind()
        return kind(server, workspace=self._context.workspace, environment=environment, log=self._log)

    def _drop(self) -> None:
        """Close the connection without waiting for it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            task = asyncio.create_task(connection.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _offered(self, listed: Sequence[mcp_types.Tool]) -> tuple[Tool, ...]:
        found: dict[str, Tool] = {}
        for each in listed:
            name = qualified(self.server.name, each.name)
            if name in found:
                self._log.note(f"left out its tool {clean(each.name)!r}: it has two of that name")
            else:
                found[name] = self._tool(name, each)
        return tuple(found.values())

    def _tool(self, name: str, listed: mcp_types.Tool) -> Tool:
        async def function(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
            return await self._call(listed.name, arguments, context)

        hints = listed.annotations
        permission: Permission = "r" if hints is not None and hints.read_only_hint else "rw"
        if self.server.permission != "auto":
            permission = self.server.permission
        described = (listed.description or "").strip() or (listed.title or "").strip()
        return raw_tool(
            name,
            described or f"{clean(listed.name)}, a tool of the MCP server {self.server.name}.",
            msgspec.json.encode(listed.input_schema),
            function,
            permission=permission,
            timeout=self.server.call_timeout_s,
        )

    async def _call(self, tool: str, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        async def write(text: str) -> None:
            await context.write(self._credentials.redact(clean(text)))

        if self._connection is None:
            raise ToolFailed("The MCP server is not connected. It is tried again at the next run.")
        results = import_module("penguin_harness.tools.mcp.results")
        try:
            answer = await self._connection.call(tool, arguments, write)
            result: ToolResult = results.Answer(self._folder, f"mcp-{_UNSAFE.sub('_', self.server.name)}").result(
                answer
            )
        except ToolFailed as error:
            raise ToolFailed(self._log.redact(str(error))) from None
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises may repeat what is confidential
            raise ToolFailed(self._log.redact(describe(error))) from None
        return msgspec.structs.replace(result, text=self._credentials.redact(clean(result.text)))

    def _folder(self) -> Path:
        return self._context.scratchpad

    def _told(self, error: Exception) -> str:
        words = str(error) if isinstance(error, ConnectFailed | ToolFailed) else describe(error)
        text = " ".join(self._log.redact(words).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"

    def _result(self, status: StopReason, begun: float, ended: float, reason: str | None = None) -> McpResult:
        return McpResult(
            self.server.name,
            self.server.kind,
            status,
            round((ended - begun) * 1000),
            tools=len(self.tools) if status == "completed" else None,
            error_code="connect_failed" if reason else None,
            error_message=reason,
        )


async def _connection_kind() -> type[Connection]:
    """The class, whose module brings the SDK with it: 0.7 s that the loop does not wait for."""
    loaded = getattr(sys.modules.get(_CONNECTION), "Connection", None)
    return loaded or (await invoke(import_module, _CONNECTION)).Connection
