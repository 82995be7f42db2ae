"""An MCP server as it is configured: how it is reached, how long it may take, what its tools may do."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from penguin_harness.contracts import Permission

Transport: TypeAlias = Literal["stdio", "http", "sse"]
Seconds: TypeAlias = Annotated[float, Meta(gt=0)]


class McpServer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One server. `${NAME}` in `args`, `env`, `url` and `headers` stands for a variable of the session's commands."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    transport: Transport | None = None
    """None means stdio with a `command` and http with a `url`."""
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """For the server's process, beside the variables that commands get."""
    cwd: str | None = None
    """The folder that the process starts in, seen from the workspace; None for the workspace."""
    url: str | None = None
    headers: dict[str, str] = {}
    connect_timeout_s: Seconds = 30.0
    """For all of connecting: start, handshake and tool list. Nothing that the server sends extends it."""
    call_timeout_s: Seconds = 600.0
    """For one call, whatever the server sends meanwhile."""
    permission: Literal["auto"] | Permission = "auto"
    """`auto` takes the word of the server: a tool that it calls read-only is `r`."""
    enabled: bool = True

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable():
            raise ValueError("the name of an MCP server is a word or two, without control characters")
        if self.kind == "stdio":
            needed, foreign = "command", {"url": self.url, "headers": self.headers}
        else:
            needed, foreign = "url", {"command": self.command, "args": self.args, "env": self.env, "cwd": self.cwd}
        if not getattr(self, needed):
            raise ValueError(f"a server reached by {self.kind} needs a {needed}")
        if wrong := [key for key, value in foreign.items() if value]:
            raise ValueError(f"a server reached by {self.kind} has no {wrong[0]}")
        if self.url is not None and not self.url.startswith(("http://", "https://", "${")):
            raise ValueError("a url begins with http:// or https://")

    @property
    def kind(self) -> Transport:
        """How it is reached."""
        return self.transport or ("http" if self.url and not self.command else "stdio")
