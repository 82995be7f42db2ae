"""Chat Completions."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.drivers.aiohttp_msgspec.client import session
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"type": "function", "function": {"name": "add", "description": "Add two integers.", "parameters": PARAMETERS}}


class Function(msgspec.Struct):
    arguments: str = ""
    name: str | None = None


class Call(msgspec.Struct):
    index: int
    function: Function
    id: str | None = None


class Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[Call] | None = None


class Choice(msgspec.Struct):
    delta: Delta


class Chunk(msgspec.Struct):
    choices: list[Choice]


decode = msgspec.json.Decoder(Chunk).decode
encode = msgspec.json.Encoder().encode


async def answer(url: str, body: dict[str, Any], seen: Seen) -> tuple[str, list[Call]]:
    text: list[str] = []
    calls: list[Call] = []
    rest = b""
    async with session().post(url, data=encode(body)) as response:
        async for data in response.content.iter_any():
            *events, rest = (rest + data).split(b"\n\n")
            for event in events:
                if event == b"data: [DONE]":
                    continue
                for choice in decode(event[6:]).choices:
                    if choice.delta.content:
                        seen.text(choice.delta.content)
                        text.append(choice.delta.content)
                    for call in choice.delta.tool_calls or ():
                        if call.index == len(calls):
                            calls.append(call)
                        else:
                            calls[call.index].function.arguments += call.function.arguments
    return "".join(text), calls


async def play(scene: Scene, seen: Seen) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Add the numbers."}]
    options = {"tools": [TOOL], "stream": True, "stream_options": {"include_usage": True}}
    while True:
        body = {"model": scene.scenario, "messages": messages, **options}
        text, calls = await answer(f"{scene.url}/chat/completions", body, seen)
        made = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in calls
        ]
        messages.append({"role": "assistant", "content": text, **({"tool_calls": made} if made else {})})
        if not calls:
            return
        for call in calls:
            result = add(**msgspec.json.decode(call.function.arguments))
            seen.calls += 1
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
