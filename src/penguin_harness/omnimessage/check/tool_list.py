"""What leads to the tool list, and when the list is said (section 5)."""

from __future__ import annotations

import msgspec

from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.events import McpConnectBegin, McpConnectEnd, ToolListReady


class ToolList:
    """The tool list of a model context and the MCP connect rounds before it."""

    def __init__(self, findings: Findings, *, needed: bool) -> None:
        self._findings = findings
        self._needed = needed
        self._last: bytes | None = None
        self._round: McpConnectBegin | None = None
        self.offered: frozenset[str] | None = None
        """The names on the list; None while it is unknown."""

    @property
    def ready(self) -> bool:
        """Whether this context's list was said."""
        return self._last is not None

    def new_context(self) -> None:
        """A context begins, which says its own list."""
        self._needed, self._last, self._round, self.offered = True, None, None, None

    def say(self, payload: ToolListReady) -> None:
        """The list is said."""
        self.end_round("tool_list_ready")
        said = msgspec.json.encode(payload)
        if said == self._last:
            self._findings.broken("5.2", f"the same {len(payload.tools)} tools again")
        self._last = said
        self._needed = False
        self.offered = frozenset(tool.name for tool in payload.tools)

    def request(self) -> None:
        """A request begins, which needs a list."""
        self.end_round("request_begin")
        if self._needed:
            self._findings.broken("5.1", "request_begin without a tool_list_ready in its context")
            self._needed = False

    def connect(self, payload: McpConnectBegin) -> None:
        """A connect round begins; one that a dead process left open is over."""
        self.forget_round()
        if not payload.servers:
            self._findings.broken("5.4", "mcp_connect_begin names no server")
        self._round = payload

    def connected(self, payload: McpConnectEnd) -> None:
        """A connect round ended."""
        if self._round is None:
            self._findings.broken("5.3", "mcp_connect_end without its begin")
            return
        servers = [result.server for result in payload.results]
        if not set(servers) <= set(self._round.servers) or len(servers) != len(set(servers)):
            self._findings.broken("5.4", f"results about {servers!r} when connecting {list(self._round.servers)!r}")
        self._round = None

    def end_round(self, before: str) -> None:
        """No round may be open here."""
        if self._round is not None:
            self._findings.broken("5.3", f"{before} while an MCP connect round is open")
            self._round = None

    def forget_round(self) -> None:
        """A new run begins; a round that is open was left by a dead process."""
        if self._round is not None:
            self._findings.note("a dead process left an MCP connect round open")
            self._round = None

    def open(self) -> bool:
        """Whether a connect round is open."""
        return self._round is not None
