"""Chat Completions."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.drivers.httpx_json.client import client
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"type": "function", "function": {"name": "add", "description": "Add two integers.", "parameters": PARAMETERS}}


async def answer(url: str, body: dict[str, Any], seen: Seen) -> tuple[str, list[dict[str, Any]]]:
    text: list[str] = []
    calls: list[dict[str, Any]] = []
    async with client().stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            event = json.loads(line[6:])
            if not event["choices"]:
                continue
            delta = event["choices"][0]["delta"]
            if piece := delta.get("content"):
                seen.text(piece)
                text.append(piece)
            for call in delta.get("tool_calls") or ():
                if call["index"] == len(calls):
                    calls.append(call)
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return "".join(text), calls


async def play(scene: Scene, seen: Seen) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Add the numbers."}]
    options = {"tools": [TOOL], "stream": True, "stream_options": {"include_usage": True}}
    while True:
        body = {"model": scene.scenario, "messages": messages, **options}
        text, calls = await answer(f"{scene.url}/chat/completions", body, seen)
        messages.append({"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})})
        if not calls:
            return
        for call in calls:
            result = add(**json.loads(call["function"]["arguments"]))
            seen.calls += 1
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
