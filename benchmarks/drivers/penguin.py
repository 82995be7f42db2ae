"""The harness as a user runs it: SDK, approvals, tools in threads, and the Trace on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.drivers.measure import Scene, Seen, add, main
from penguin_harness import PartialText, create_agent, user_text


async def play(scene: Scene, seen: Seen) -> None:
    def counted_add(a: int, b: int) -> int:
        """Add two integers."""
        seen.calls += 1
        return add(a, b)

    counted_add.__name__ = "add"
    with tempfile.TemporaryDirectory() as folder:
        agent = await create_agent(root=Path(folder))
        async with await agent.create_session(
            workspace=folder,
            provider="custom",
            model_id=scene.scenario,
            base_url=scene.url,
            client_type=scene.client_type,
            tools=[counted_add],
        ) as session:
            async for message in session.run([user_text("Add the numbers.")], approve=lambda call: "allow"):
                payload = message.payload
                if isinstance(payload, PartialText) and payload.text:
                    seen.text(payload.text)


if __name__ == "__main__":
    main(play)
