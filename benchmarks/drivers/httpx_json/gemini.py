"""Gemini: texts are joined, a call goes back with its signature."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.drivers.httpx_json.client import client
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"name": "add", "description": "Add two integers.", "parametersJsonSchema": PARAMETERS}


async def answer(url: str, body: dict[str, Any], seen: Seen) -> tuple[str, list[dict[str, Any]]]:
    text: list[str] = []
    calls: list[dict[str, Any]] = []
    async with client().stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: "):
                continue
            for part in json.loads(line[6:])["candidates"][0]["content"]["parts"]:
                if piece := part.get("text"):
                    seen.text(piece)
                    text.append(piece)
                elif "functionCall" in part:
                    calls.append(part)
    return "".join(text), calls


async def play(scene: Scene, seen: Seen) -> None:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Add the numbers."}]}]
    url = f"{scene.url}/models/{scene.scenario}:streamGenerateContent?alt=sse"
    while True:
        body = {"contents": contents, "tools": [{"functionDeclarations": [TOOL]}]}
        text, calls = await answer(url, body, seen)
        contents.append({"role": "model", "parts": [{"text": text}, *calls]})
        if not calls:
            return
        outputs: list[dict[str, Any]] = []
        for call in (part["functionCall"] for part in calls):
            response = {"output": str(add(**call["args"]))}
            seen.calls += 1
            outputs.append({"functionResponse": {"id": call["id"], "name": call["name"], "response": response}})
        contents.append({"role": "user", "parts": outputs})
