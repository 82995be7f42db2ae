"""Messages."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.drivers.aiohttp_msgspec.client import session
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"name": "add", "description": "Add two integers.", "input_schema": PARAMETERS}
HEADERS = {"anthropic-version": "2023-06-01"}


class Block(msgspec.Struct, omit_defaults=True):
    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None


class Delta(msgspec.Struct):
    text: str | None = None
    partial_json: str | None = None


class Event(msgspec.Struct):
    type: str
    delta: Delta | None = None
    content_block: Block | None = None


decode = msgspec.json.Decoder(Event).decode
encode = msgspec.json.Encoder().encode


async def answer(url: str, body: dict[str, Any], seen: Seen) -> list[Block]:
    blocks: list[Block] = []
    pieces: list[str] = []
    rest = b""
    async with session().post(url, data=encode(body), headers=HEADERS) as response:
        async for data in response.content.iter_any():
            *events, rest = (rest + data).split(b"\n\n")
            for lines in events:
                event = decode(lines[lines.index(b"\ndata: ") + 7 :])
                if event.type == "content_block_delta" and event.delta is not None:
                    if event.delta.text:
                        seen.text(event.delta.text)
                    pieces.append(event.delta.text or event.delta.partial_json or "")
                elif event.type == "content_block_start" and event.content_block is not None:
                    blocks.append(event.content_block)
                    pieces.clear()
                elif event.type == "content_block_stop":
                    if blocks[-1].type == "text":
                        blocks[-1].text = "".join(pieces)
                    else:
                        blocks[-1].input = msgspec.json.decode("".join(pieces))
    return blocks


async def play(scene: Scene, seen: Seen) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Add the numbers."}]
    options = {"tools": [TOOL], "stream": True, "max_tokens": 32_000}
    while True:
        body = {"model": scene.scenario, "messages": messages, **options}
        blocks = await answer(f"{scene.url}/messages", body, seen)
        messages.append({"role": "assistant", "content": blocks})
        results: list[dict[str, Any]] = []
        for block in blocks:
            if block.input is not None:
                result = add(**block.input)
                seen.calls += 1
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": str(result)})
        if not results:
            return
        messages.append({"role": "user", "content": results})
