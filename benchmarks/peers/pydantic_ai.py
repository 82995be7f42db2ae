"""pydantic-ai, storing nothing."""

from __future__ import annotations

from pydantic_ai import Agent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from benchmarks.drivers.measure import Scene, Seen, main

providers: dict[str, OpenAIProvider] = {}


async def play(scene: Scene, seen: Seen) -> None:
    provider = providers.setdefault(scene.url, OpenAIProvider(base_url=scene.url, api_key="x"))
    agent = Agent(OpenAIChatModel(scene.scenario, provider=provider))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Add two integers."""
        seen.calls += 1
        return a + b

    unlimited = UsageLimits(request_limit=None)
    async with agent.run_stream_events("Add the numbers.", usage_limits=unlimited) as events:
        async for event in events:
            match event:
                case PartStartEvent(part=TextPart(content=text)) if text:
                    seen.text(text)
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                    seen.text(text)
                case _:
                    continue


if __name__ == "__main__":
    main(play)
