"""As much of HTTP/1.1 as a provider needs, with every byte in our hands."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from http import HTTPStatus

from msgspec import Struct

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {_PHRASES.get(status, 'Unknown')}"


class HttpRequest(Struct, frozen=True):
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Connection:
    """One client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ahead = b""
        self._chunked = False
        self.is_open = True

    async def read_request(self) -> HttpRequest | None:
        """The next request, or None when the client is gone."""
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
            self._ahead = b""
            first, *lines = head.decode("latin-1").split("\r\n")[:-2]
            method, path, _ = first.split(" ")
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.strip().lower(): value.strip() for name, value in pairs}
            return HttpRequest(method, path, headers, await self._read_body(headers))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def _read_body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", "0")))
        body = bytearray()
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
            chunk = await self._reader.readexactly(size + 2)
            if not size:
                return bytes(body)
            body += chunk[:-2]

    async def gone(self) -> None:
        """Return when the client has closed the connection; a byte that comes early is kept."""
        while True:
            try:
                data = await self._reader.read(1)
            except ConnectionError:
                return
            if not data:
                return
            self._ahead += data

    async def begin(self, status: int, headers: dict[str, str], *, chunked: bool) -> None:
        """The status line and the headers; without chunks the body ends with the connection."""
        self._chunked = chunked
        framing = {"Transfer-Encoding": "chunked"} if chunked else {"Connection": "close"}
        lines = [_status_line(status), *(f"{name}: {value}" for name, value in (headers | framing).items())]
        await self._send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def write(self, piece: bytes) -> None:
        """One piece of the body, in a write and (when chunked) a chunk of its own; others get their turn before it."""
        await asyncio.sleep(0)
        await self._send(b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece)

    async def end(self) -> None:
        """The regular end of the body."""
        if self._chunked:
            await self._send(b"0\r\n\r\n")
        else:
            self.close()

    async def respond(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """A whole answer with its length."""
        named = {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}
        lines = [_status_line(status), *(f"{name}: {value}" for name, value in named.items())]
        await self._send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """Close in the regular way: what was written still arrives."""
        self.is_open = False
        self._writer.close()

    def reset(self) -> None:
        """Close so that the client sees a reset connection."""
        self.is_open = False
        with contextlib.suppress(OSError):
            raw: socket.socket = self._writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
