"""MCP: the tools of other programs and services, over stdio, Streamable HTTP or SSE.

Nothing here imports the SDK before a server is connected: it takes more time than everything else.
"""

from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.mcp.secrets import target
from penguin_harness.tools.mcp.toolset import McpTools

__all__ = ["McpServer", "McpTools", "target"]
