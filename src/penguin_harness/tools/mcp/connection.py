"""One connection to a server: opened, held and closed by one task, its owner, whoever else calls through it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, Implementation, Tool
from pydantic import ValidationError

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.mcp.dispatcher import Dispatcher
from penguin_harness.tools.mcp.ending import ConnectFailed, Ending
from penguin_harness.tools.mcp.exchange import (
    CallAnswer,
    all_tools,
    call_tool,
    fault_of,
    shake_hands,
    words_of,
)
from penguin_harness.tools.mcp.log import ServerLog
from penguin_harness.tools.mcp.progress import Progress
from penguin_harness.tools.mcp.transport import open_streams

CLOSE_LIMIT = 2.0
"""Seconds for a polite end, and again for what is cancelled then."""
_CHECK_LIMIT = 2.0
_LEARN_LIMIT = 0.2
"""Seconds in which the owner of a broken connection may say what it was."""
_CLIENT = Implementation(name="penguin-harness", version="1")

for _logger in map(logging.getLogger, ("mcp", "httpx2", "httpcore2")):
    if _logger.level == logging.NOTSET:  # what they log of failures repeats addresses and messages
        _logger.setLevel(logging.CRITICAL)


class Connection:
    """A session with one server, until it is closed or breaks."""

    def __init__(self, server: McpServer, *, workspace: Path, environment: Mapping[str, str], log: ServerLog) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._server = server
        self._workspace = workspace
        self._environment = environment
        self._log = log
        self._ending = Ending()
        self._ready = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._session: ClientSession | None = None
        self._dispatcher: Dispatcher | None = None
        self._requests: set[asyncio.Task[CallAnswer]] = set()

    @property
    def is_open(self) -> bool:
        """Whether calls may be made."""
        return self._session is not None and not self._ending.happened.is_set()

    @property
    def is_current(self) -> bool:
        """Whether it is open and its list of tools is the server's."""
        return self.is_open and self._dispatcher is not None and not self._dispatcher.has_other_tools

    async def open(self) -> None:
        """Connect and read the list of tools, or read it again; all within the server's limit. Raises ConnectFailed."""
        if self._owner is None:
            self._owner = asyncio.create_task(self._own())
            step: asyncio.Task[object] = asyncio.create_task(self._ready.wait())
        else:
            self._ready.clear()
            step = asyncio.create_task(self._list_again())
        limit = self._server.connect_timeout_s
        try:
            await asyncio.wait({self._owner, step}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            step.cancel()
        if self._ending.happened.is_set():
            raise ConnectFailed(self._why())
        if not self._ready.is_set():
            raise ConnectFailed(f"no {self._awaited()} within {limit:g} s")

    async def check(self) -> None:
        """Ask a server that is far away whether it is still there; a process tells of its end by itself."""
        session = self._session
        if session is None or not self.is_open or self._server.kind == "stdio":
            return
        asking = asyncio.create_task(session.send_ping())
        try:
            await asyncio.wait({asking}, timeout=_CHECK_LIMIT)
            if not asking.done():
                self._ending.tell("it does not answer any more")
            elif isinstance(error := asking.exception(), MCPError) and self._has_lost(error):
                self._ending.tell(self._with_refusal(error.message))
        finally:
            asking.cancel()

    async def call(
        self, tool: str, arguments: dict[str, object], write: Callable[[str], Awaitable[None]]
    ) -> CallAnswer:
        """Call a tool by the name that the server knows, streaming its progress. Raises ToolFailed."""
        if self._session is None or not self.is_open:
            raise ToolFailed(f"The MCP server is gone ({self._why()}). It is connected again at the next run.")
        progress = Progress()
        request = asyncio.create_task(call_tool(self._session, tool, arguments, progress))
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        request.add_done_callback(lambda _: progress.end())
        try:
            while (text := await progress.next()) is not None:
                await write(text)
            return request.result()
        except MCPError as error:
            raise ToolFailed(await self._call_failure(error)) from None
        except ValidationError as error:
            raise ToolFailed(f"The answer of the MCP server does not follow the protocol: {fault_of(error)}") from None
        finally:
            request.cancel()

    async def close(self) -> None:
        """End it within twice the limit, whatever the server does."""
        if self._owner is None:
            return
        self._ending.tell("it was closed")
        if not self._ready.is_set():
            self._owner.cancel()
        for _ in range(2):
            _, pending = await asyncio.wait({self._owner, *self._requests}, timeout=CLOSE_LIMIT)
            for task in pending:
                task.cancel()

    async def _own(self) -> None:
        try:
            async with open_streams(
                self._server,
                workspace=self._workspace,
                environment=self._environment,
                log=self._log,
                ending=self._ending,
            ) as streams:
                self._dispatcher = Dispatcher(streams, self._log)
                async with ClientSession(dispatcher=self._dispatcher, client_info=_CLIENT) as self._session:
                    await shake_hands(self._session)
                    self.tools = await all_tools(self._session)
                    self._ready.set()
                    await self._ending.happened.wait()
        except Exception as error:  # noqa: BLE001 - whatever the SDK, the network or the server's process came to
            self._ending.tell(words_of(error))
        finally:
            self._session = None

    async def _list_again(self) -> None:
        session, dispatcher = self._session, self._dispatcher
        if session is not None and dispatcher is not None:
            dispatcher.has_other_tools = False
            try:
                self.tools = await all_tools(session)
            except Exception as error:  # noqa: BLE001 - as above
                self._ending.tell(words_of(error))
            else:
                self._ready.set()

    def _has_lost(self, error: MCPError) -> bool:
        """Whether the session is over: 404 is how a server says that it does not know it, or else a method."""
        is_unknown = self._ending.refusal.startswith("HTTP 404") and error.code != METHOD_NOT_FOUND
        return error.code == CONNECTION_CLOSED or is_unknown

    async def _call_failure(self, error: MCPError) -> str:
        if not self._has_lost(error):
            return f"The MCP server refused the call: {self._with_refusal(error.message)}"
        if self._owner is not None and error.code == CONNECTION_CLOSED:
            await asyncio.wait({self._owner}, timeout=_LEARN_LIMIT)
        self._ending.tell(self._with_refusal(error.message))
        return (
            f"The MCP server is gone ({self._why()}). The call may have had an effect."
            " The server is connected again at the next run."
        )

    def _with_refusal(self, text: str) -> str:
        refusal = self._ending.refusal
        return f"{text} ({refusal})" if refusal and refusal not in text else text

    def _why(self) -> str:
        reason = self._with_refusal(self._ending.reason or "it was never connected")
        words = self._log.last_words
        return f"{reason}; its last words: {words}" if words and self._server.kind == "stdio" else reason

    def _awaited(self) -> str:
        if self._session is None:
            return "connection"
        return "list of tools" if self._session.protocol_version else "answer to the handshake"
