"""A provider that costs next to nothing: replies are encoded once, each event in an HTTP chunk of its own.

The path names the protocol, the model the scenario:
    stream-N   N deltas of four characters at once
    paced-N    the same, one every millisecond
    tools-K    K turns of 20 deltas and one call add(a, b), then an answer
"""

from __future__ import annotations

import asyncio
import re
import sys
from functools import cache

from benchmarks.replies import anthropic, gemini, openai_chat, openai_responses
from benchmarks.replies.turn import Turn, WireReply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
WIRES = {wire.path: wire for wire in (openai_chat.WIRE, openai_responses.WIRE, anthropic.WIRE, gemini.WIRE)}
PATH = re.compile(rb"POST \S*?(%b)[ ?]" % b"|".join(WIRES))
MODEL = re.compile(rb'(?:"model":\s*"|/models/)([a-z]+)-(\d+)')
LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
DELTAS_A_TURN = 20
PAUSE = 0.001


@cache
def reply(wire: WireReply, kind: str, size: int, turn: int) -> tuple[bytes, ...]:
    """The HTTP chunks of one answer."""
    length = DELTAS_A_TURN if kind == "tools" else size
    said = Turn(f"{kind}-{size}", turn, length, kind == "tools" and turn < size)
    return (*(b"%x\r\n%b\r\n" % (len(event), event) for event in wire.events(said)), b"0\r\n\r\n")


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            path = PATH.match(head)
            model = MODEL.search(head) or MODEL.search(body)
            assert path, head
            assert model, head
            wire = WIRES[path[1]]
            parts = reply(wire, model[1].decode(), int(model[2]), len(wire.output.findall(body)))
            if model[1] != b"paced":
                writer.write(HEAD + b"".join(parts))
                continue
            writer.write(HEAD)
            for part in parts:
                writer.write(part)
                await asyncio.sleep(PAUSE)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # ends with the runner


if __name__ == "__main__":
    asyncio.run(main())
