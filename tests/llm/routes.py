"""A web server with an answer for each path, in a thread of the test: for lists of models, and for odd endpoints."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit


class Came(NamedTuple):
    """A request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


class Gives(NamedTuple):
    """An answer; a body that is no text goes out as JSON."""

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = {}


NOT_FOUND = Gives("<html>Not Found</html>", 404)


class Routes:
    """The answers by method and path, several in turn when they are a list; the last one stays."""

    def __init__(self) -> None:
        self.came: list[Came] = []
        self.answers: dict[str, Gives | list[Gives]] = {}
        self.otherwise = NOT_FOUND
        self.url = ""

    def answer(self, came: Came) -> Gives:
        self.came.append(came)
        found = self.answers.get(f"{came.method} {came.path}", self.otherwise)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


@contextmanager
def serving() -> Generator[Routes]:
    """Routes, as long as they are needed."""
    routes = Routes()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            gives = routes.answer(Came(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body))
            content = gives.body.encode() if isinstance(gives.body, str) else json.dumps(gives.body).encode()
            self.send_response(gives.status)
            for name, value in {"Content-Length": str(len(content)), **gives.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 - the names that the library looks for

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        routes.url = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield routes
        finally:
            server.shutdown()
