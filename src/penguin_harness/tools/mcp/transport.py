"""The three ways to a server, each as a pair of message streams."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import httpx2
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from penguin_harness.omnimessage.unicode import clean_json
from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.mcp.ending import Ending
from penguin_harness.tools.mcp.log import ServerLog
from penguin_harness.tools.mcp.process import LONGEST_LINE, LineTooLong, ServerProcess

Streams: TypeAlias = tuple[Any, Any]
"""Where messages come from and where they go; the SDK keeps its types of them private."""


def open_streams(
    server: McpServer, *, workspace: Path, environment: Mapping[str, str], log: ServerLog, ending: Ending
) -> AbstractAsyncContextManager[Streams]:
    """Reach a server; entering raises whatever the way to it raises."""
    if server.kind == "stdio":
        return _stdio(server, workspace, environment, log, ending)
    url = server.url or ""
    client = _http_client(server, ending)
    if server.kind == "sse":
        return sse_client(url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: client)
    return _http(url, client)


@asynccontextmanager
async def _http(url: str, client: httpx2.AsyncClient) -> AsyncGenerator[Streams]:
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_LINE) as streams:
        yield streams


def _http_client(server: McpServer, ending: Ending) -> httpx2.AsyncClient:
    async def note(response: httpx2.Response) -> None:
        if response.request.method != "POST":
            return
        is_refused = response.is_error
        ending.refusal = f"HTTP {response.status_code} {response.reason_phrase}".rstrip() if is_refused else ""
        if is_refused and server.kind == "sse":  # no answer comes on the event stream either
            ending.tell(ending.refusal)

    timeout = httpx2.Timeout(
        server.connect_timeout_s, read=None
    )  # a call may be silent; its total is limited elsewhere
    hooks = {"response": [note]}
    return httpx2.AsyncClient(headers=server.headers, timeout=timeout, event_hooks=hooks, verify=_trust())


@cache
def _trust() -> ssl.SSLContext:
    """Loading the certificates takes longer than connecting."""
    return httpx2.create_ssl_context()


@asynccontextmanager
async def _stdio(
    server: McpServer, workspace: Path, environment: Mapping[str, str], log: ServerLog, ending: Ending
) -> AsyncGenerator[Streams]:
    process = await ServerProcess.start(
        [server.command or "", *server.args],
        folder=_folder(server, workspace),
        environment={**environment, **server.env},
        stderr=log.stderr,
    )
    into, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    pumps = [
        asyncio.create_task(_receive(process, into, log, ending)),
        asyncio.create_task(_send(process, out_of, into)),
    ]
    try:
        yield inbound, outbound
    finally:
        try:
            await process.end()
        finally:
            log.stderr_ended()
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for stream in (into, inbound, outbound, out_of):
                stream.close()


def _folder(server: McpServer, workspace: Path) -> Path:
    return workspace / Path(server.cwd or "").expanduser()


async def _receive(
    process: ServerProcess, into: MemoryObjectSendStream[SessionMessage | Exception], log: ServerLog, ending: Ending
) -> None:
    """Hand on its messages; at its end, everybody who waits for an answer is told so."""
    reason = ""
    try:
        async for line in process.lines():
            message = _message(line)
            if message is not None:
                await into.send(SessionMessage(message))
            elif line.strip():
                log.noise(line.decode(errors="replace"))
    except LineTooLong as error:
        reason = str(error)
    except anyio.BrokenResourceError:  # nobody listens any more
        return
    ending.tell(reason or await process.how_it_ended())
    into.close()


async def _send(
    process: ServerProcess,
    out_of: MemoryObjectReceiveStream[SessionMessage],
    into: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    try:
        async for message in out_of:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.write(text.encode() + b"\n")
    except OSError:  # it reads no more, so it will not answer either
        into.close()


def _message(line: bytes) -> JSONRPCMessage | None:
    """A line as a message; one that is meant as an answer, but is none, as an error."""
    if not line.strip():
        return None
    try:
        return jsonrpc_message_adapter.validate_json(clean_json(line), by_name=False)
    except ValueError:
        pass
    try:
        match msgspec.json.decode(clean_json(line)):
            case {"jsonrpc": _, "id": int() | str() as call_id, **rest} if "result" in rest or "error" in rest:
                error = ErrorData(code=PARSE_ERROR, message="the answer does not follow the protocol")
                return JSONRPCError(jsonrpc="2.0", id=call_id, error=error)
            case _:
                return None
    except (msgspec.DecodeError, RecursionError):
        return None
