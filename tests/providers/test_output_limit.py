"""Answers that are cut by the output limit: shown as cut, never run, and not repeated for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from penguin_harness import RequestEnd, Text, ToolCall
from tests.double.client import Double
from tests.providers.dialects import GEMINI, Dialect, against
from tests.providers.test_faults import Counter, ends
from tests.support import outputs, texts


async def test_b077_a_cut_text_is_shown_as_cut(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    turns = [build.turn(build.text("This is a long"), *build.limit()), build.reply("Short.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
        await session.run("shorter")
    cut = [m.payload for m in seen if isinstance(m.payload, Text) and m.payload.role == "assistant"]
    assert [(text.text, text.stop_reason) for text in cut] == [("This is a long", "fatal")]
    assert ends(seen) == [("completed", "output_limit")]


@pytest.mark.parametrize("arguments", ['{"n": 1', '{"n": 1}'], ids=["half", "whole"])
async def test_b074_a_cut_call_is_never_run(dialect: Dialect, double: Double, tmp_path: Path, arguments: str) -> None:
    if dialect is GEMINI and arguments == '{"n": 1':
        pytest.skip("calls come whole in this protocol")
    build, counter = dialect.build, Counter()
    turns = [
        build.turn(build.text("So:"), build.call("count", arguments, id="a"), *build.limit()),
        build.reply("In pieces, then."),
    ]
    async with against(dialect, double, tmp_path, *turns, tools=[counter.tool()]) as session:
        seen = await session.run("go")
    assert counter.ran == 0
    assert [m.payload.stop_reason for m in seen if isinstance(m.payload, ToolCall)] == ["fatal"]
    ((told, stop),) = outputs(seen).values()
    assert (stop, "smaller pieces" in told) == ("fatal", True)
    assert texts(seen)[-1] == "In pieces, then."


async def test_a_whole_call_before_a_cut_one_runs(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build, counter = dialect.build, Counter()
    turns = [
        build.turn(build.call("count", {"n": 1}, id="a"), build.call("count", {"n": 2}, id="b"), *build.limit()),
        build.reply("Done."),
    ]
    async with against(dialect, double, tmp_path, *turns, tools=[counter.tool()]) as session:
        seen = await session.run("go")
    assert counter.ran == 1
    assert sorted(stop for _, stop in outputs(seen).values()) == ["completed", "fatal"]


async def test_b076_repeated_cuts_end_the_run(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build, counter = dialect.build, Counter()
    turns = [build.turn(build.call("count", {"n": n}, id=f"c{n}"), *build.limit()) for n in range(3)]
    async with against(dialect, double, tmp_path, *turns, tools=[counter.tool()]) as session:
        seen = await session.run("go")
    assert counter.ran == 0
    assert [end.error_code for m in seen if isinstance(end := m.payload, RequestEnd)] == ["output_limit"] * 3
    assert "3 answers in a row were cut" in texts(seen, "user")[-1]


async def test_thinking_that_is_cut_is_not_sent_as_thinking(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """B031: what never got its signature, or is not whole, does not go back as if it were."""
    build = dialect.build
    turns = [build.turn(build.thinking("Endless thou"), *build.limit()), build.reply("Done.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        await session.run("go", thinking_level="high")
        assert texts(await session.run("again", thinking_level="high")) == ["Done."]
