"""Token counts, wherever and however a vendor reports them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from penguin_harness import TokenCounts, TokenUsage
from penguin_harness.agent import CompactionPolicy
from penguin_harness.omnimessage import CompactionBegin, OmniMessage
from tests.double.client import Double
from tests.double.script import Event
from tests.double.steps import cut
from tests.providers.dialects import Dialect, against
from tests.support import watched


def usages(messages: list[OmniMessage]) -> list[TokenUsage]:
    return [m.payload for m in messages if isinstance(m.payload, TokenUsage)]


async def test_cached_tokens_are_told_apart(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """B045: counts that come at the start and again at the end are one count."""
    build = dialect.build
    tokens = build.counts(1000, 50, cached=800, reasoning=20)
    async with against(dialect, double, tmp_path, build.turn(build.text("Hi."), tokens=tokens)) as session:
        seen = await session.run("go")
    (usage,) = usages(seen)
    assert usage.request == TokenCounts(cache_read=800, cache_write=200, output=50, total=1050)
    assert not usage.estimated


async def test_b049_totals_add_up_over_steps_and_resumes(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    def note(n: int) -> str:
        """Note."""
        return "noted"

    build = dialect.build
    turns = [
        build.turn(build.call("note", {"n": n}, id=f"c{n}"), tokens=build.counts(100 * (n + 1), 100)) for n in range(2)
    ]
    last = build.reply("Done.", tokens=build.counts(300, 100))
    async with against(dialect, double, tmp_path, *turns, last, tools=[note]) as session:
        seen = await session.run("go")
    assert [usage.session.output for usage in usages(seen)] == [100, 200, 300]
    assert usages(seen)[-1].session.total == 900


async def test_the_cost_of_a_failed_attempt_is_counted(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """Where the vendor has said it by then."""
    build = dialect.build
    tokens = build.counts(500, 5)
    half = build.turn(build.text("Half"), *cut("close"), tokens=tokens)
    async with against(dialect, double, tmp_path, half, build.reply("Whole.", tokens=build.counts(10, 1))) as session:
        await session.run("go")
        spent = session.session.usage.total
    early = dialect.client_type in ("anthropic", "gemini")
    assert spent >= 511 if early else spent == 11


async def test_b050_an_endpoint_that_reports_nothing_is_estimated(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    """And the context is still replaced before it is full."""
    build = dialect.build
    words = "word " * 400
    turns = [_without_usage(build.reply(words)) for _ in range(3)]
    turns.append(_without_usage(build.reply("[summary]All was said.[/summary]")))
    turns.append(_without_usage(build.reply("Done.", context="new")))
    double.load(dialect.script(*turns, expect_replay=False))
    policy = CompactionPolicy(max_context_length=2000)
    async with watched(tmp_path, None, compaction=policy, **dialect.reach(double)) as session:
        seen: list[OmniMessage] = []
        for number in range(8):
            seen += await session.run(f"more {number}") if double.left() else []
        session.forget_stream()
    assert all(usage.estimated for usage in usages(seen))
    assert all(usage.request.total > 500 for usage in usages(seen)[:3])
    assert any(isinstance(m.payload, CompactionBegin) for m in seen)


def _without_usage(turn: Any) -> Any:
    """The same answer without any count in it."""
    from msgspec.structs import replace

    steps = [replace(step, data=_stripped(step.data)) if isinstance(step, Event) else step for step in turn.steps]
    return replace(turn, steps=tuple(step for step in steps if not _is_only_usage(step)))


def _stripped(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    members = cast(dict[str, object], value).items()
    return {name: _stripped(sub) for name, sub in members if name not in ("usage", "usageMetadata")}


def _is_only_usage(step: Any) -> bool:
    return isinstance(step, Event) and step.data == {"choices": []}
