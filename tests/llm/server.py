"""A server of raw bytes that speaks just enough HTTP: it plays the answers a test gives it, one per request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

Piece: TypeAlias = bytes | asyncio.Event
End: TypeAlias = Literal["whole", "cut", "hang", "ping"]
"""A last chunk; a connection that breaks; silence; comments for ever."""

DONE = b"data: [DONE]\n\n"


@dataclass
class Answer:
    pieces: tuple[Piece, ...]
    status: str
    headers: dict[str, str]
    end: End


@dataclass
class Received:
    head: str
    body: bytes
    connection: int

    @property
    def json(self) -> dict[str, Any]:
        return msgspec.json.decode(self.body)


@dataclass
class RawServer:
    port: int = 0
    requests: list[Received] = field(default_factory=list[Received])
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client closes the connection during an answer that hangs or pings."""
    _answers: list[Answer] = field(default_factory=list[Answer])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answers(
        self, *pieces: Piece, status: str = "200 OK", headers: dict[str, str] | None = None, end: End = "whole"
    ) -> None:
        self._answers.append(Answer(pieces, status, headers or {}, end))

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        connection = self._connections
        try:
            while await self._serve(reader, writer, connection):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line[15:]) for line in head.splitlines() if line.lower().startswith("content-length:"))
        self.requests.append(Received(head, await reader.readexactly(length), connection))
        answer = self._answers.pop(0)
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"} | answer.headers
        lines = [f"HTTP/1.1 {answer.status}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in answer.pieces:
            if isinstance(piece, bytes):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
            else:
                await piece.wait()
        return await self._end(answer.end, reader, writer)

    async def _end(self, end: End, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if end == "whole":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        if end == "cut":
            return False
        gone = asyncio.ensure_future(reader.read())
        while not gone.done():
            await asyncio.wait({gone}, timeout=0.005 if end == "ping" else None)
            writer.write(b"3\r\n:\n\n\r\n")
        self.hung_up.set()
        return False


def event(data: object) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(data)


def delta(finish_reason: str | None = None, **fields: object) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]})


def usage(prompt: int, completion: int, **more: object) -> bytes:
    return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, **more}})


def answer(text: str) -> tuple[bytes, ...]:
    return delta(content=text), delta("stop"), usage(10, 2), DONE
