"""The double's process: `python -m tests.double.server` prints its port and ends when its stdin does."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback

import msgspec

from tests.double.book import Book, Cue
from tests.double.play import Player
from tests.double.protocol import Asked, WireProtocol
from tests.double.protocols import protocol_at
from tests.double.records import Command, Extend, Load, Recorded, Release, Report, ReportQuery, Reset, Wait
from tests.double.refusal import Refusal
from tests.double.script import Reply
from tests.double.wire import Connection, HttpRequest

CONTROL = "/control"


class Server:
    """Answers clients from the book."""

    def __init__(self) -> None:
        self._book = Book()
        self._answers: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        connection = Connection(reader, writer)
        try:
            while connection.is_open and (request := await connection.read_request()) is not None:
                if request.path == CONTROL:
                    await self._control(connection, request)
                else:
                    await self._ask(connection, request)
        except (ConnectionError, asyncio.CancelledError):  # only the end of the process cancels a connection
            pass
        finally:
            connection.close()

    async def _control(self, connection: Connection, request: HttpRequest) -> None:
        try:
            report = await self._obey(msgspec.json.decode(request.body, type=Command))
        except (msgspec.MsgspecError, KeyError) as error:
            await connection.respond(400, {}, msgspec.json.encode({"error": repr(error)}))
        else:
            await connection.respond(200, {}, msgspec.json.encode(report))

    async def _obey(self, command: Command) -> Report:
        match command:
            case Load():
                self._book.load(command)
            case Extend():
                self._book.extend(command)
            case Release(model=model, gate=gate):
                self._book.release(model, gate)
            case Wait():
                return self._book.report(in_time=await self._book.wait(command))
            case Reset():
                await self._end_answers()
                self._book.forget()
            case ReportQuery():
                pass
        return self._book.report()

    async def _ask(self, connection: Connection, http: HttpRequest) -> None:
        protocol = protocol_at(http.path)
        asked = Asked(http.method, http.path.removeprefix(protocol.prefix), http.headers, http.body)
        request = self._book.record(http.path, asked, protocol)
        await self._book.tell()
        answer = self._answer(request, asked, protocol)
        if isinstance(answer, Reply):
            await connection.respond(answer.status, answer.headers, answer.body)
        else:
            await self._play(connection, request, answer)
        await self._book.tell()

    def _answer(self, request: Recorded, asked: Asked, protocol: WireProtocol) -> Cue | Reply:
        try:
            answer = self._find(request, asked, protocol)
        except Exception as error:  # noqa: BLE001  a fault of the rules must fail the test and not hang it
            traceback.print_exc()
            answer = self._book.refuse(request, _fault(error))
        return protocol.refused(answer) if isinstance(answer, Refusal) else answer

    def _find(self, request: Recorded, asked: Asked, protocol: WireProtocol) -> Cue | Reply | Refusal:
        models = protocol.models(asked, self._book.models(protocol))
        if models is not None:
            request.outcome = "served"
            return models
        if protocol.streams(asked):
            return self._book.answer(request, asked, protocol)
        text = f"Invalid URL ({asked.method} {asked.path})"
        return self._book.refuse(request, Refusal(text, code="unknown_url", status=404))

    async def _play(self, connection: Connection, request: Recorded, cue: Cue) -> None:
        """Play the turn until it is over or the client goes, whatever comes first."""
        answer = asyncio.create_task(Player(self._book, connection, request=request, cue=cue).play())
        gone = asyncio.create_task(connection.gone())
        self._answers.add(answer)
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._answers.discard(answer)
            answer.cancel()
            gone.cancel()
            results = await asyncio.gather(answer, gone, return_exceptions=True)
        fault = results[0]
        if fault is not None:
            connection.close()
        if request.outcome == "open":
            request.outcome = "gone"
        if not isinstance(fault, ConnectionError | asyncio.CancelledError | None):
            traceback.print_exception(fault)
            self._book.refuse(request, _fault(fault))

    async def _end_answers(self) -> None:
        for answer in self._answers:
            answer.cancel()
        if self._answers:
            await asyncio.wait(self._answers)


def _fault(error: BaseException) -> Refusal:
    return Refusal(f"The double is at fault: {error!r}", code="fault", status=500)


async def main() -> None:
    """Serve until stdin ends."""
    ended = asyncio.Event()

    def read_stdin() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            ended.set()

    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), read_stdin)
    listener = await asyncio.start_server(Server().serve, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
    loop.remove_reader(sys.stdin.fileno())
    listener.close()


if __name__ == "__main__":
    asyncio.run(main())
