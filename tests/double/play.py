"""A turn becomes bytes, and the bytes travel as its delivery says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import msgspec

from tests.double.book import Book, Cue
from tests.double.records import Recorded
from tests.double.script import Beat, Bytes, Comment, Cut, CutHow, Delivery, Event, Gate, Line, Stall, Step
from tests.double.wire import Connection


class _CutHere(Exception):
    def __init__(self, how: CutHow) -> None:
        self.how: CutHow = how


class _Body:
    """Cuts the bytes of a body into the pieces that the delivery asks for."""

    def __init__(self, connection: Connection, delivery: Delivery, request: Recorded) -> None:
        self._connection = connection
        self._delivery = delivery
        self._request = request
        self._sizes = _sizes(delivery.sizes)
        self._size = next(self._sizes, 0)
        self._rest = bytearray()

    async def add(self, data: bytes) -> None:
        self._rest += data
        if not self._size:
            await self.flush()
        while self._size and len(self._rest) >= self._size:
            await self._send(bytes(self._rest[: self._size]))
            del self._rest[: self._size]
            self._size = next(self._sizes)

    async def flush(self) -> None:
        """Send what is left, before a pause or an end."""
        rest = bytes(self._rest)
        self._rest.clear()
        if rest:
            await self._send(rest)

    async def _send(self, piece: bytes) -> None:
        limit = self._delivery.cut_at
        cuts = limit is not None and self._request.sent + len(piece) >= limit
        if cuts:
            piece = piece[: (limit or 0) - self._request.sent]
        if piece:
            await self._connection.write(piece)
            self._request.sent += len(piece)
        if cuts:
            raise _CutHere(self._delivery.cut_how)


def _sizes(sizes: tuple[int, ...]) -> Iterator[int]:
    yield from sizes
    yield from itertools.repeat(sizes[-1]) if sizes else ()


def _is_regular(step: Step) -> bool:
    match step:
        case Bytes() | Line(regular=False):
            return False
        case _:
            return True


class Player:
    """Plays one turn on one connection."""

    def __init__(self, book: Book, connection: Connection, *, request: Recorded, cue: Cue) -> None:
        self._book = book
        self._connection = connection
        self._request = request
        self._cue = cue
        self._turn = cue.turn
        self._body = _Body(connection, cue.turn.delivery, request)

    async def play(self) -> None:
        """Everything up to the end of the answer, or to its cut; the outcome stands before the client can see it."""
        try:
            for step in self._turn.delivery.before:
                await self._step(step)
            await self._answer()
        except _CutHere as cut:
            self._request.outcome = "cut"
            await self._cut(cut.how)

    async def _answer(self) -> None:
        reply, delivery = self._turn.reply, self._turn.delivery
        if reply is not None:
            self._request.outcome = "served"
            await self._connection.respond(reply.status, reply.headers, reply.body)
            return
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", **delivery.headers}
        await self._connection.begin(200, headers, chunked=delivery.framing == "chunked")
        for step in self._turn.steps:
            await self._step(step)
        await self._body.flush()
        self._request.outcome = "served"
        self._cue.answer.whole = all(map(_is_regular, self._turn.steps))
        await self._connection.end()

    async def _step(self, step: Step) -> None:
        match step:
            case Event() | Comment() | Line():
                await self._body.add(self._render(step))
            case Bytes(data=data):
                await self._body.add(data)
            case Gate(name=name):
                await self._body.flush()
                await self._book.pass_gate(self._request.model, name)
            case Stall():
                await self._body.flush()
                await asyncio.get_running_loop().create_future()
            case Beat(data=data, every_ms=every, times=times):
                for _ in itertools.count() if times is None else range(times):
                    await self._body.add(data)
                    await self._body.flush()
                    await asyncio.sleep(every / 1000)
            case Cut(how=how):
                await self._body.flush()
                raise _CutHere(how)

    def _render(self, step: Event | Comment | Line) -> bytes:
        match step:
            case Comment(text=text):
                lines = [f": {text}"]
            case Line(text=text):
                lines = [f"data: {text}"]
            case Event():
                lines = self._event(step)
        return "".join(line + self._turn.delivery.newline for line in [*lines, ""]).encode()

    def _event(self, event: Event) -> list[str]:
        answer = self._cue.answer
        data, name = self._cue.protocol.render(event, answer)
        answer.sent.append(data)
        return [*([f"event: {name}"] if name else []), f"data: {msgspec.json.encode(data).decode()}"]

    async def _cut(self, how: CutHow) -> None:
        match how:
            case "end":
                await self._connection.end()
            case "close":
                self._connection.close()
            case "reset":
                self._connection.reset()
