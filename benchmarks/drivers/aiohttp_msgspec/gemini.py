"""Gemini: texts are joined, a call goes back with its signature."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.drivers.aiohttp_msgspec.client import session
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"name": "add", "description": "Add two integers.", "parametersJsonSchema": PARAMETERS}


class Call(msgspec.Struct):
    id: str
    name: str
    args: dict[str, Any]


class Part(msgspec.Struct, rename="camel", omit_defaults=True):
    text: str | None = None
    function_call: Call | None = None
    thought_signature: str | None = None


class Content(msgspec.Struct):
    parts: list[Part]


class Candidate(msgspec.Struct):
    content: Content


class Chunk(msgspec.Struct):
    candidates: list[Candidate]


decode = msgspec.json.Decoder(Chunk).decode
encode = msgspec.json.Encoder().encode


async def answer(url: str, body: dict[str, Any], seen: Seen) -> tuple[str, list[Part]]:
    text: list[str] = []
    calls: list[Part] = []
    rest = b""
    async with session().post(url, data=encode(body)) as response:
        async for data in response.content.iter_any():
            *events, rest = (rest + data).split(b"\r\n\r\n")
            for event in events:
                for part in decode(event[6:]).candidates[0].content.parts:
                    if part.text:
                        seen.text(part.text)
                        text.append(part.text)
                    elif part.function_call is not None:
                        calls.append(part)
    return "".join(text), calls


async def play(scene: Scene, seen: Seen) -> None:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Add the numbers."}]}]
    url = f"{scene.url}/models/{scene.scenario}:streamGenerateContent?alt=sse"
    while True:
        body = {"contents": contents, "tools": [{"functionDeclarations": [TOOL]}]}
        text, calls = await answer(url, body, seen)
        contents.append({"role": "model", "parts": [{"text": text}, *calls]})
        outputs: list[dict[str, Any]] = []
        for call in (part.function_call for part in calls):
            if call is not None:
                response = {"output": str(add(**call.args))}
                seen.calls += 1
                outputs.append({"functionResponse": {"id": call.id, "name": call.name, "response": response}})
        if not outputs:
            return
        contents.append({"role": "user", "parts": outputs})
