"""Messages."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.drivers.httpx_json.client import client
from benchmarks.drivers.measure import PARAMETERS, Scene, Seen, add

TOOL = {"name": "add", "description": "Add two integers.", "input_schema": PARAMETERS}
HEADERS = {"anthropic-version": "2023-06-01"}


async def answer(url: str, body: dict[str, Any], seen: Seen) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    pieces: list[str] = []
    async with client().stream("POST", url, json=body, headers=HEADERS) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line[6:])
            match event["type"]:
                case "content_block_delta":
                    delta = event["delta"]
                    if delta["type"] == "text_delta":
                        seen.text(delta["text"])
                        pieces.append(delta["text"])
                    else:
                        pieces.append(delta["partial_json"])
                case "content_block_start":
                    blocks.append(event["content_block"])
                    pieces.clear()
                case "content_block_stop":
                    said = "".join(pieces)
                    blocks[-1] |= {"text": said} if blocks[-1]["type"] == "text" else {"input": json.loads(said)}
                case _:
                    pass
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
            if block["type"] == "tool_use":
                result = add(**block["input"])
                seen.calls += 1
                results.append({"type": "tool_result", "tool_use_id": block["id"], "content": str(result)})
        if not results:
            return
        messages.append({"role": "user", "content": results})
