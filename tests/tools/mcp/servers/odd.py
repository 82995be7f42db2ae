"""A server by hand, so that it can do what none should: `odd.py '{"silent": ["tools/list"], …}'`, see `Manners`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import msgspec
from msgspec import Struct

Message = dict[str, Any]


class Manners(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What it does; without any of these it is a decent server without tools."""

    tools: list[Any] = []
    """As they are listed; a string is a tool of that name."""
    later_tools: list[Any] | None = None
    """What is listed after the first call, which announces it."""
    pages: bool = False
    """One tool a page."""
    silent: list[str] = []
    """Methods that get no answer."""
    refuse: dict[str, int] = {}
    """Methods that are answered by an error of this code."""
    noise: list[str] = []
    """Lines printed before each message."""
    complaints: list[str] = []
    """Lines written to stderr at the start."""
    shouts: int = 0
    """Characters written to stderr behind that."""
    answer: str | None = None
    """What a call is answered with, word for word; ID stands for the id of the call."""
    leaves: bool = False
    """Ends at once, with exit code 3."""
    stays: bool = False
    """Does not end when it is asked to, and has a child that has left its session."""
    loud: int = 0
    """Characters printed at the start, without an end of line."""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Odd:
    def __init__(self, manners: Manners) -> None:
        self.manners = manners
        self.tools = manners.tools

    def run(self) -> None:
        for line in self.manners.complaints:
            print(line, file=sys.stderr, flush=True)
        print("x" * self.manners.shouts, end="", file=sys.stderr, flush=True)
        if self.manners.leaves:
            sys.exit(3)
        if self.manners.stays:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen(["sleep", "1000"], start_new_session=True, stdin=subprocess.DEVNULL)
        sys.stdout.write("x" * self.manners.loud)
        sys.stdout.flush()
        for line in sys.stdin:
            self.take(msgspec.json.decode(line))
        while self.manners.stays:
            signal.pause()

    def take(self, message: Message) -> None:
        for line in self.manners.noise:
            say(line)
        method = message["method"]
        if "id" not in message or method in self.manners.silent:
            return
        if method in self.manners.refuse:
            self.answer(message, error={"code": self.manners.refuse[method], "message": "refused"})
        elif method == "initialize":
            self.answer(
                message,
                result={
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"},
                },
            )
        elif method == "server/discover":
            meta = {"io.modelcontextprotocol/serverInfo": {"name": "odd", "version": "1"}}
            supported: Message = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": meta}
            self.answer(message, result={"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **supported})
        elif method == "tools/list":
            self.answer(message, result={**self.page(message), "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/call":
            self.call(message)

    def call(self, message: Message) -> None:
        if self.manners.later_tools is not None:
            self.tools = self.manners.later_tools
            say('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
        if self.manners.answer is not None:
            say(self.manners.answer.replace("ID", str(message["id"])))
        else:
            said = f"{message['params']['name']} in {os.environ.get('ODD_NAME', 'odd')}"
            self.answer(message, result={"resultType": "complete", "content": [{"type": "text", "text": said}]})

    def page(self, message: Message) -> Message:
        listed = [self.listed(tool) for tool in self.tools]
        if not self.manners.pages:
            return {"tools": listed, "resultType": "complete"}
        params: Message = message.get("params") or {}
        at = int(params.get("cursor") or 0)
        following = {"nextCursor": str(at + 1)} if at + 1 < len(listed) else {}
        return {"tools": listed[at : at + 1], "resultType": "complete", **following}

    def listed(self, tool: Any) -> Any:
        if not isinstance(tool, str):
            return tool
        return {"name": tool, "description": f"Does {tool}.", "inputSchema": {"type": "object"}}

    def answer(self, message: Message, **content: Any) -> None:
        say(msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], **content}).decode())


if __name__ == "__main__":
    Odd(msgspec.json.decode(sys.argv[1], type=Manners)).run()
