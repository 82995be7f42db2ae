"""Responses: the items of an answer go back as they came."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.drivers.httpx_json.client import client
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"type": "function", "name": "add", "description": "Add two integers.", "parameters": PARAMETERS}


async def answer(url: str, body: dict[str, Any], seen: Seen) -> list[dict[str, Any]]:
    text: list[str] = []
    items: list[dict[str, Any]] = []
    async with client().stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line[6:])
            match event["type"]:
                case "response.output_text.delta":
                    seen.text(event["delta"])
                    text.append(event["delta"])
                case "response.output_item.done":
                    items.append(event["item"])
                case _:
                    pass
    return items


async def play(scene: Scene, seen: Seen) -> None:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Add the numbers."}]
    options = {"tools": [TOOL], "stream": True, "store": False}
    while True:
        body = {"model": scene.scenario, "input": items, **options}
        said = await answer(f"{scene.url}/responses", body, seen)
        items += said
        calls = [item for item in said if item["type"] == "function_call"]
        if not calls:
            return
        for call in calls:
            result = add(**json.loads(call["arguments"]))
            seen.calls += 1
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": str(result)})
