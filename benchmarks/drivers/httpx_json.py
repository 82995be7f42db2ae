"""Baseline: httpx, aiter_lines and json.loads, with a tool loop written by hand and nothing stored."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import httpx

from benchmarks.drivers.measure import PARAMETERS, Seen, add, main

TOOL = {"type": "function", "function": {"name": "add", "description": "Add two integers.", "parameters": PARAMETERS}}


@cache
def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=60)


async def answer(url: str, body: dict[str, Any], seen: Seen) -> tuple[str, list[dict[str, Any]]]:
    text: list[str] = []
    calls: list[dict[str, Any]] = []
    async with client().stream("POST", f"{url}/chat/completions", json=body) as response:
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


async def play(url: str, scenario: str, seen: Seen) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Add the numbers."}]
    while True:
        options = {"tools": [TOOL], "stream": True, "stream_options": {"include_usage": True}}
        text, calls = await answer(url, {"model": scenario, "messages": messages, **options}, seen)
        messages.append({"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})})
        if not calls:
            return
        for call in calls:
            result = add(**json.loads(call["function"]["arguments"]))
            seen.calls += 1
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})


if __name__ == "__main__":
    main(play)
