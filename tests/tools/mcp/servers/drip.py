"""A Streamable HTTP server by hand: `/drip` sends comments instead of a tool list, `/locked` refuses everybody."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
        if self.path.startswith("/locked"):
            self.send_error(401, "Unauthorized")
        elif "id" not in message:
            self.reply(202, b"")
        elif message["method"] == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "drip", "version": "1"},
            }
            self.reply(200, msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        else:
            self.drip()

    def do_GET(self) -> None:
        if self.path.startswith("/locked"):
            self.send_error(401, "Unauthorized")
        else:
            self.reply(405, b"")

    def do_DELETE(self) -> None:
        self.drip()

    def drip(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        while True:
            self.wfile.write(b": still here\n\n")
            time.sleep(0.02)

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if status == 200:
            self.send_header("mcp-session-id", "drip-1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error here."""


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
