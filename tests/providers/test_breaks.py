"""An answer that breaks at any byte, a person who interrupts at any message: the session goes on as it should."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from penguin_harness.omnimessage import OmniMessage
from tests.double.client import Double
from tests.double.script import CutHow, Delivery
from tests.providers.dialects import Dialect
from tests.providers.test_faults import Counter, ends
from tests.support import LIMIT, texts, watched

limits = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def answer(build: Any) -> Any:
    """Thinking, text and two calls."""
    return build.turn(
        build.thinking("I count, twice.", parts=2),
        build.text("Counting 日本.", parts=3),
        build.call("count", {"n": 1}, id="a", parts=3),
        build.call("count", {"n": 2}, id="b", parts=3),
    )


@limits
@given(place=st.integers(0, 3000), how=st.sampled_from(["end", "close", "reset"]), number=st.integers(0, 1 << 60))
async def test_b003_b051_an_answer_may_break_at_any_byte(
    dialect: Dialect, double: Double, tmp_path: Path, place: int, how: CutHow, number: int
) -> None:
    build, counter = dialect.build, Counter()
    broken = replace(answer(build), delivery=Delivery(cut_at=place, cut_how=how))
    double.reset()
    double.load(dialect.script(broken, build.reply("Done."), build.reply("More.")))
    folder = tmp_path / f"{number}-{place}"
    async with watched(folder, None, [counter.tool()], **dialect.reach(double)) as session:
        seen = await session.run("go", thinking_level="high")
        seen += await session.run("more", thinking_level="high")
    assert double.refusals() == []
    assert texts(seen)[-1] == "More."
    assert [status for status, _ in ends(seen)] in (["retryable", "completed", "completed"], ["completed"] * 3)
    assert counter.ran <= 2
    if ends(seen)[0][0] == "completed":
        assert counter.ran == 2


@limits
@given(after=st.integers(0, 40), number=st.integers(0, 1 << 60))
async def test_b025_b031_a_person_may_interrupt_at_any_message(
    dialect: Dialect, double: Double, tmp_path: Path, after: int, number: int
) -> None:
    build, counter = dialect.build, Counter()
    double.reset()
    double.load(
        dialect.script(answer(build), build.reply("Done."), build.reply("Something else."), expect_replay=False)
    )
    folder = tmp_path / f"{number}-{after}"
    async with watched(folder, None, [counter.tool()], **dialect.reach(double)) as session:
        run = session.start("go", thinking_level="high")
        seen: list[OmniMessage] = []
        async with asyncio.timeout(LIMIT):
            async for message in run:
                seen.append(session.see(message))
                if len(seen) == after:
                    run.abort()
        assert 0 < after <= len(seen) or seen[-1].payload.type == "request_end"
        while double.left():
            seen = await session.run("and now something else", thinking_level="high")
    assert double.refusals() == []
    assert texts(seen)[-1] == "Something else."
    assert counter.ran <= 2
