"""Budgets: a run pauses between two requests when it has spent what it may, and can go on."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from penguin_harness import Budget, ConfigError, user_text
from penguin_harness.contracts import ModelRef, Outcome
from penguin_harness.llm.script import Script, call
from penguin_harness.omnimessage import OmniMessage, TokenCounts
from tests.support import allow, new_agent, texts, watched

PRICED = ModelRef("anthropic", "claude-opus-5-5")
UNPRICED = ModelRef("script", "script")
COST = Outcome("completed", usage=TokenCounts.of(cache_write=600, output=400))


def look() -> str:
    """Look."""
    return "seen"


def endless(ref: ModelRef = UNPRICED, turns: int = 20) -> Script:
    """A model that calls a tool for ever; each turn is a thousand tokens."""
    return Script([[call("look"), COST] for _ in range(turns)], ref=ref)


def stops(messages: list[OmniMessage]) -> list[str]:
    return [text for text in texts(messages, "user") if "budget" in text]


async def test_b183_a_run_stops_at_the_first_border_behind_its_budget_and_goes_on(tmp_path: Path) -> None:
    model = endless()
    async with watched(tmp_path, model, [look]) as session:
        seen = await session.run("go", budget=Budget(tokens=2500))
        assert len(model.requests) == 3
        assert stops(seen) == [
            "The run stopped at its budget: it has spent 3,000 of 2,500 tokens. "
            "Raise it, and go on with an empty input."
        ]
        await session.run(None, budget=Budget(tokens=1000))
        assert len(model.requests) == 4
    sent = model.requests[3].messages
    assert sum("seen" in str(payload) for payload in sent) == 3, "nothing that ran is lost"


async def test_b183_a_budget_in_dollars_needs_a_price(tmp_path: Path) -> None:
    model = endless(PRICED)
    async with watched(tmp_path, model, [look]) as session:
        seen = await session.run("go", budget=Budget(dollars=Decimal("0.02")))
    assert len(model.requests) == 2, "a thousand tokens cost 600 times 5 and 400 times 20 dollars a million"
    assert "spent $0.0220 of $0.02" in stops(seen)[0]
    async with watched(tmp_path / "unpriced", endless(), [look]) as session:
        with pytest.raises(ConfigError, match=r"script / script.*in tokens"):
            session.session.run([user_text("go")], budget=Budget(dollars=Decimal(1)))


async def test_b183_a_sessions_budget_holds_over_runs_and_resumes(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    (tmp_path / "work").mkdir()
    model = endless(PRICED)
    budget = Budget(tokens=4000, dollars=Decimal(1))
    async with await agent.create_session(
        workspace=tmp_path / "work", model=model, tools=[look], budget=budget
    ) as session:
        async for _ in session.run([user_text("go")], approve=allow, max_turns=2):
            pass
        name = session.session_id
    again = endless(PRICED)
    async with await agent.resume_session(name, model=again, tools=[look], budget=budget) as session:
        seen = [message async for message in session.run([user_text("on")], approve=allow)]
    assert (len(model.requests), len(again.requests)) == (2, 2)
    assert "The session stopped at its budget: it has spent 4,000 of 4,000 tokens." in stops(seen)[0]
    third = endless(PRICED)
    async with await agent.resume_session(
        name, model=third, tools=[look], budget=Budget(dollars=Decimal("0.04"))
    ) as session:
        seen = [message async for message in session.run([user_text("on")], approve=allow)]
    assert (third.requests, len(stops(seen))) == ([], 1)
