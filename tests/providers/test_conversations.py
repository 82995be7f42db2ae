"""What a model says, and that all of it comes back with the next request, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness import Text, Thinking, ToolCall
from penguin_harness.contracts import ThinkingLevel
from tests.double.client import Double
from tests.double.script import Delivery
from tests.double.steps import between
from tests.providers.dialects import Dialect, against
from tests.support import kinds, outputs, texts

THINKS: ThinkingLevel = "high"


def note(n: int) -> str:
    """Note a number."""
    return f"noted {n}"


async def test_a_plain_answer(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    async with against(dialect, double, tmp_path, dialect.build.reply("Hello there.")) as session:
        seen = await session.run("hi")
    assert texts(seen) == ["Hello there."]
    assert kinds(seen)[-2:] == ["token_usage", "request_end"]


async def test_b034_b038_reasoning_of_all_turns_comes_back(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """Also B030, B039, B041: the double misses any block, signature or item that does not return as it came."""
    build = dialect.build
    turns = [
        build.turn(build.thinking(f"Step {n}."), build.text(f"Look {n}."), build.call("note", {"n": n}, id=f"c{n}"))
        for n in range(5)
    ]
    async with against(dialect, double, tmp_path, *turns, build.reply("Done."), tools=[note]) as session:
        seen = await session.run("count", thinking_level=THINKS)
    assert texts(seen) == [f"Look {n}." for n in range(5)] + ["Done."]
    thoughts = [message.payload.thinking for message in seen if isinstance(message.payload, Thinking)]
    assert [thought for thought in thoughts if thought] == [f"Step {n}." for n in range(5)]
    assert [output for output, _ in outputs(seen).values()] == [f"noted {n}" for n in range(5)]


async def test_parallel_calls_are_answered_in_call_order(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    calls = [build.call("note", {"n": n}, id=f"p{n}", parts=3) for n in range(3)]
    first = build.turn(build.thinking("Three at once."), *calls)
    async with against(dialect, double, tmp_path, first, build.reply("Done."), tools=[note]) as session:
        seen = await session.run("count", thinking_level=THINKS)
    ids = [message.payload.tool_call_id for message in seen if isinstance(message.payload, ToolCall)]
    assert [outputs(seen)[each][0] for each in ids] == ["noted 0", "noted 1", "noted 2"]
    names = [message.payload.name for message in seen if isinstance(message.payload, ToolCall)]
    assert names == ["note"] * 3


async def test_several_tasks_in_one_session(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    turns = [
        build.turn(build.thinking("One."), build.call("note", {"n": 1}, id="a")),
        build.reply("First."),
        build.turn(build.thinking("Two."), build.text("Second.")),
        build.turn(build.call("note", {"n": 3}, id="b")),
        build.reply("Third."),
    ]
    async with against(dialect, double, tmp_path, *turns, tools=[note]) as session:
        said = [texts(await session.run(text, thinking_level=THINKS)) for text in ("one", "two", "three")]
    assert said == [["First."], ["Second."], ["Third."]]


async def test_b036_thinking_may_be_switched_at_any_time(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """Tool turns made without thinking stand in the history when it is switched on, and the other way round."""
    build = dialect.build
    turns = [
        build.turn(build.call("note", {"n": 1}, id="a")),
        build.reply("First."),
        build.turn(build.thinking("Now I think."), build.call("note", {"n": 2}, id="b")),
        build.reply("Second."),
        build.turn(build.call("note", {"n": 3}, id="c")),
        build.reply("Third."),
    ]
    levels: list[ThinkingLevel | None] = ["none", "high", None]
    async with against(dialect, double, tmp_path, *turns, tools=[note]) as session:
        for number, level in enumerate(levels):
            await session.run(f"task {number}", thinking_level=level)


@pytest.mark.parametrize("same", ["X", "search:0", "call#7"])
async def test_b013_b014_b017_one_id_for_every_call(
    dialect: Dialect, double: Double, tmp_path: Path, same: str
) -> None:
    """Each call keeps its output, in each of four requests; also ids that other protocols would refuse."""
    build = dialect.build
    calls = [build.turn(build.call("note", {"n": n}, id=same)) for n in range(4)]
    double_takes_any_id = {"max_call_id": 64} if dialect.client_type == "openai_chat" else {}
    async with against(
        dialect, double, tmp_path, *calls, build.reply("Done."), tools=[note], **double_takes_any_id
    ) as session:
        seen = await session.run("count")
    assert [output for output, _ in outputs(seen).values()] == [f"noted {n}" for n in range(4)]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    number=st.integers(0, 1 << 60),
)
async def test_b062_b063_b066_any_chunking_gives_the_same_messages(
    dialect: Dialect, double: Double, tmp_path: Path, sizes: list[int], newline: str, number: int
) -> None:
    build = dialect.build
    delivery = Delivery(sizes=tuple(sizes), newline=newline)  # type: ignore[arg-type]
    words = "日本🐧 a\u2028b\u2029c\u0085d\x0be\x0cf"
    turns = [
        build.turn(build.thinking(words, parts=3), build.call("note", {"n": 1}, id="a", parts=4), delivery=delivery),
        build.turn(build.text(words, parts=5), delivery=delivery),
    ]
    folder = tmp_path / f"{number}-{len(list(tmp_path.iterdir()))}"
    async with against(dialect, double, folder, *turns, tools=[note]) as session:
        seen = await session.run("go", thinking_level=THINKS)
    assert texts(seen) == [words]
    assert [m.payload.thinking for m in seen if isinstance(m.payload, Thinking) and m.payload.thinking] == [words]
    assert next(m.payload.arguments for m in seen if isinstance(m.payload, ToolCall)).replace(" ", "") == '{"n":1}'


async def test_b026_blank_blocks_are_never_sent(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    def nothing() -> str:
        """Say nothing."""
        return ""

    build = dialect.build
    turns = [build.turn(build.text("\n\n"), build.call("nothing", {}, id="a")), build.reply("Done.")]
    async with against(dialect, double, tmp_path, *turns, tools=[nothing]) as session:
        await session.run("go")


async def test_b166_b167_half_characters_do_not_reach_the_wire(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    def halves() -> str:
        """Half a character."""
        return "a\ud83d b"

    build = dialect.build
    turns = [build.turn(build.call("halves", {}, id="a")), build.reply("Done."), build.reply("Again.")]
    async with against(dialect, double, tmp_path, *turns, tools=[halves]) as session:
        seen = await session.run("go")
        await session.run("and now")
    assert [output for output, _ in outputs(seen).values()] == ["a\ufffd b"]


async def test_b060_heartbeats_of_any_shape_are_no_content(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    pieces = between([*build.text("abc", parts=3), *build.call("note", {"n": 1}, id="a", parts=2)])
    beating = between(pieces, build.heartbeats())
    async with against(dialect, double, tmp_path, build.turn(*beating), build.reply("Done."), tools=[note]) as session:
        seen = await session.run("go")
    assert texts(seen) == ["abc", "Done."]
    assert [m.payload for m in seen if isinstance(m.payload, Text)]
