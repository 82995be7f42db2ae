"""What is said over a session: handshake, list of tools, call; and what goes wrong with it, in words."""

from __future__ import annotations

from typing import TypeAlias

import httpx2
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    PaginatedRequestParams,
    Tool,
)
from pydantic import TypeAdapter, ValidationError

from penguin_harness.tools.failures import text_of
from penguin_harness.tools.mcp.progress import Progress

CallAnswer: TypeAlias = CallToolResult | InputRequiredResult
_ANSWER: TypeAdapter[CallAnswer] = TypeAdapter(CallAnswer)
_MOST_PAGES = 100
_OLD_HANDSHAKE_REFUSED = frozenset({UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND})


async def call_tool(session: ClientSession, tool: str, arguments: dict[str, object], progress: Progress) -> CallAnswer:
    """One call. Raises MCPError or ValidationError; what does not fit the tool's own output schema passes."""
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    return await session.send_request(request, _ANSWER, progress_callback=progress.take)


async def shake_hands(session: ClientSession) -> None:
    """The handshake that every server knows; the newer one with those that know only that."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in _OLD_HANDSHAKE_REFUSED:
            raise
        await session.discover()


async def all_tools(session: ClientSession) -> tuple[Tool, ...]:
    """Every page of the list, in an order that does not depend on the server's mood."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        found += page.tools
        cursor, before = page.next_cursor, cursor
        if cursor is None or cursor == before:
            break
    return tuple(sorted(found, key=lambda tool: tool.name))


def words_of(error: Exception) -> str:
    """What an error says without its wrappings."""
    match error:
        case ExceptionGroup(exceptions=[first, *_]):
            return words_of(first)
        case httpx2.HTTPStatusError():
            return f"HTTP {error.response.status_code} {error.response.reason_phrase}".rstrip()
        case MCPError():
            return error.message
        case _:
            text = text_of(error)
            return f"{type(error).__name__}: {text}" if text else type(error).__name__


def fault_of(error: ValidationError) -> str:
    """Where an answer breaks the protocol, without what stands there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
