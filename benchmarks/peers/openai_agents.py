"""OpenAI Agents SDK, its tracing switched off; it stores nothing."""

from __future__ import annotations

from functools import cache

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from benchmarks.drivers.measure import Scene, Seen, main

set_tracing_disabled(True)


@cache
def client(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(api_key="x", base_url=url)


async def play(scene: Scene, seen: Seen) -> None:
    @function_tool
    def add(a: int, b: int) -> int:
        """Add two integers."""
        seen.calls += 1
        return a + b

    agent = Agent(name="peer", tools=[add], model=OpenAIChatCompletionsModel(scene.scenario, client(scene.url)))
    async for event in Runner.run_streamed(agent, "Add the numbers.", max_turns=1000).stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            seen.text(event.data.delta)


if __name__ == "__main__":
    main(play)
