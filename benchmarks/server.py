"""A provider that costs next to nothing: replies are encoded once, each delta an SSE event in an HTTP chunk of its own.

The request's model names the scenario:
    stream-N   N deltas of four characters at once
    paced-N    the same, one every millisecond
    tools-K    K turns of 20 deltas and one call add(a, b), then an answer
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from functools import cache
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MODEL = re.compile(rb'"model":\s*"([a-z]+)-(\d+)"')
OUTPUT = re.compile(rb'"role":\s*"tool"')
LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
DELTAS_A_TURN = 20
PAUSE = 0.001


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(model: str, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return sse({"model": model, "choices": [choice], "usage": None})


def sse(fields: dict[str, Any]) -> bytes:
    body = {"id": "chatcmpl-benchmark-0000000000000000", "object": "chat.completion.chunk", "created": 1, **fields}
    return http_chunk(b"data: " + json.dumps(body).encode() + b"\n\n")


def call(model: str, turn: int) -> list[bytes]:
    arguments = json.dumps({"a": turn, "b": 1})
    half = len(arguments) // 2
    function = {"name": "add", "arguments": ""}
    deltas: list[dict[str, Any]] = [{"index": 0, "id": f"call_{turn}", "type": "function", "function": function}]
    deltas += [{"index": 0, "function": {"arguments": piece}} for piece in (arguments[:half], arguments[half:])]
    return [event(model, {"tool_calls": [delta]}) for delta in deltas]


@cache
def reply(kind: str, size: int, turn: int) -> tuple[bytes, ...]:
    model = f"{kind}-{size}"
    deltas = DELTAS_A_TURN if kind == "tools" else size
    calls = kind == "tools" and turn < size
    parts = [event(model, {"role": "assistant", "content": ""})]
    parts += [event(model, {"content": f"ab{chr(97 + number % 26)} "}) for number in range(deltas)]
    parts += call(model, turn) if calls else []
    parts.append(event(model, {}, "tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": 10, "completion_tokens": deltas, "total_tokens": 10 + deltas}
    parts += [sse({"model": model, "choices": [], "usage": usage}), http_chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"]
    return tuple(parts)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            model = MODEL.search(body)
            assert model is not None
            parts = reply(model[1].decode(), int(model[2]), len(OUTPUT.findall(body)))
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
