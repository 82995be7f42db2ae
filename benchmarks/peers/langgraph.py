"""LangGraph through LangChain's agent, without a checkpointer: it stores nothing."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI

from benchmarks.drivers.measure import Scene, Seen, main


async def play(scene: Scene, seen: Seen) -> None:
    async def add(a: int, b: int) -> int:
        """Add two integers."""
        seen.calls += 1
        return a + b

    agent = create_agent(ChatOpenAI(model=scene.scenario, base_url=scene.url, api_key="x", stream_usage=True), [add])
    asked = {"messages": [{"role": "user", "content": "Add the numbers."}]}
    async for message, _ in agent.astream(asked, {"recursion_limit": 10_000}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk) and message.content:
            seen.text(str(message.content))


if __name__ == "__main__":
    main(play)
