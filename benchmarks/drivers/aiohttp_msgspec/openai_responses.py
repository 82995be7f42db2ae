"""Responses: the items of an answer go back as they came."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.drivers.aiohttp_msgspec.client import session
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"type": "function", "name": "add", "description": "Add two integers.", "parameters": PARAMETERS}


class Event(msgspec.Struct):
    type: str
    delta: str = ""
    item: msgspec.Raw = msgspec.Raw()


class Item(msgspec.Struct):
    type: str
    call_id: str = ""
    arguments: str = ""


decode = msgspec.json.Decoder(Event).decode
decode_item = msgspec.json.Decoder(Item).decode
encode = msgspec.json.Encoder().encode


async def answer(url: str, body: dict[str, Any], seen: Seen) -> list[msgspec.Raw]:
    text: list[str] = []
    items: list[msgspec.Raw] = []
    rest = b""
    async with session().post(url, data=encode(body)) as response:
        async for data in response.content.iter_any():
            *events, rest = (rest + data).split(b"\n\n")
            for lines in events:
                event = decode(lines[lines.index(b"\ndata: ") + 7 :])
                if event.type == "response.output_text.delta":
                    seen.text(event.delta)
                    text.append(event.delta)
                elif event.type == "response.output_item.done":
                    items.append(event.item)
    return items


async def play(scene: Scene, seen: Seen) -> None:
    items: list[Any] = [{"role": "user", "content": "Add the numbers."}]
    options = {"tools": [TOOL], "stream": True, "store": False}
    while True:
        body = {"model": scene.scenario, "input": items, **options}
        said = await answer(f"{scene.url}/responses", body, seen)
        items += said
        calls = [item for item in map(decode_item, said) if item.type == "function_call"]
        if not calls:
            return
        for call in calls:
            result = add(**msgspec.json.decode(call.arguments))
            seen.calls += 1
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": str(result)})
