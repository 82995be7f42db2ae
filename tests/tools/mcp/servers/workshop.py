"""A server that does everything as it should, made with the SDK: `workshop.py stdio|http|sse`, its port on stdout."""

from __future__ import annotations

import base64
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("workshop", log_level="CRITICAL")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(read_only_hint=False))
def where() -> str:
    """Say in which folder the server works."""
    return str(Path.cwd())


@server.tool()
def variable(name: str) -> str:
    """Say what a variable of the environment is."""
    return os.environ.get(name, "not set")


@server.tool()
def text(size: int) -> str:
    """Give a text of this many characters, in one line."""
    return "x" * size


@server.tool()
def weather() -> dict[str, Any]:
    """Give structured content."""
    return {"city": "Zürich", "degrees": 21.5}


@server.tool()
def only_structured() -> CallToolResult:
    """Give structured content and no text."""
    return CallToolResult(content=[], structured_content={"rows": [1, 2]})


@server.tool()
def two_views() -> CallToolResult:
    """Give a text and structured content that says more."""
    return CallToolResult(content=[TextContent(text="2 rows")], structured_content={"rows": [1, 2]})


@server.tool(structured_output=False)
def picture() -> list[Any]:
    """Draw a picture."""
    return ["A dot.", Image(data=PNG, format="png")]


@server.tool()
def parcel() -> CallToolResult:
    """Give every kind of content that is neither text nor image."""
    blob = base64.b64encode(b"\0\1\2\3").decode()
    return CallToolResult(
        content=[
            AudioContent(data=blob, mime_type="audio/wav"),
            ImageContent(data=blob, mime_type="image/png"),
            ImageContent(data="?", mime_type="image/png"),
            EmbeddedResource(resource=TextResourceContents(uri="note://1", text="A note.")),
            EmbeddedResource(resource=BlobResourceContents(uri="file:///a.bin", blob=blob)),
            ResourceLink(name="manual", uri="https://example.org/manual", description="how it works"),
        ]
    )


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the saw is blunt")


@server.tool()
def fail_silently() -> CallToolResult:
    """Fail without a word."""
    return CallToolResult(content=[], is_error=True)


@server.tool()
async def build(gate: str, context: Context) -> str:
    """Report progress, wait until there is a file of this name, and report more."""
    await context.report_progress(1, 3, "sawing")
    while not await anyio.Path(gate).exists():
        await anyio.sleep(0.01)
    await context.report_progress(2)
    return "built"


@server.tool()
async def report(times: int, context: Context) -> str:
    """Report progress many times."""
    for number in range(times):
        await context.report_progress(number, times, "and on")
    return "the result"


@server.tool()
async def wait(started: str, ended: str) -> str:
    """Wait for ever; leave a file when it begins and one when it is cancelled."""
    await anyio.Path(started).touch()
    try:
        await anyio.sleep_forever()
    finally:
        Path(ended).touch()
    return "never"


@server.tool()
def die(code: int) -> str:
    """End the server in the middle of a call."""
    print("a last word", file=sys.stderr, flush=True)
    os._exit(code)


def serve(transport: str, port: int = 0) -> None:
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    with socket.create_server(("127.0.0.1", port)) as listener:
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        serve(sys.argv[1], *map(int, sys.argv[2:]))
