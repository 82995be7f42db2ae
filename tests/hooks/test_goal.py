"""The goal hook: it goes on until the goal is met or used up, wraps up once, and is silent then."""

from __future__ import annotations

from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.hooks import Answer, HookSet, goal, in_process
from penguin_harness.hooks.goal import MET, says_met
from penguin_harness.llm.script import Script, say
from penguin_harness.omnimessage import Hook
from tests.hooks.support import Asked
from tests.support import texts, watched


async def test_the_goal_stands_behind_the_prompt() -> None:
    asked = Asked(goal("All tests pass."))
    [added] = await asked.prompt("Begin with the parser.")
    assert "All tests pass." in added.text
    assert MET in added.text


async def test_it_goes_on_until_the_model_says_that_it_is_met() -> None:
    asked = Asked(goal("All tests pass.", rounds=5))
    first = await asked.stop("Two are left.")
    assert first is not None
    assert "All tests pass." in first
    assert "Round 1 of 5." in first
    assert "Round 2 of 5." in (await asked.stop("One is left.") or "")
    assert await asked.stop(f"None is left.\n\n{MET}") is None
    assert [event.decision for event in asked.events] == ["continue", "continue", None]
    assert asked.events[-1].reason == "The goal is met."
    assert await asked.prompt("Thanks.") == []
    assert await asked.stop("You are welcome.") is None
    assert len(asked.events) == 3


async def test_it_wraps_up_once_when_its_rounds_are_used_up() -> None:
    asked = Asked(goal("All tests pass.", rounds=2))
    said = [await asked.stop("Not yet.") for _ in range(5)]
    assert [text is not None for text in said] == [True, True, True, False, False]
    assert (said[2] or "").startswith("The goal's 2 rounds are used up. Begin nothing new.")
    assert [event.decision for event in asked.events] == ["continue"] * 3 + ["stop"]


async def test_it_wraps_up_when_its_tokens_are_used_up() -> None:
    asked = Asked(goal("All tests pass.", tokens=1000))
    assert "Round 1 of 10." in (await asked.stop("Not yet.", tokens=999) or "")
    assert "The goal's tokens are used up: 1,200 of 1,000." in (await asked.stop("Not yet.", tokens=1200) or "")
    assert await asked.stop("Here is how to go on.", tokens=1300) is None


async def test_the_last_round_may_meet_it() -> None:
    asked = Asked(goal("All tests pass.", rounds=1))
    assert [await asked.stop("No.") is None, await asked.stop("No.") is None] == [False, False]
    assert await asked.stop(MET) is None
    assert asked.events[-1].reason == "The goal is met."


async def test_a_met_goal_leaves_the_word_to_other_hooks() -> None:
    tests = in_process("stop", lambda _: Answer(decision="continue", text="They fail."), name="tests", order=1)
    asked = Asked(goal("All tests pass."), tests)
    assert await asked.stop(f"Done.\n{MET}") == "They fail."


@pytest.mark.parametrize("answer", [MET, f"Done.\n{MET}\n\n", f"Done.\r\n  **{MET}**", f"Done.\n`{MET}`."])
def test_the_word_on_the_last_line_means_it(answer: str) -> None:
    assert says_met(answer)


@pytest.mark.parametrize("answer", ["", "Done.", f"I will say {MET}", f"{MET}\nNot yet.", f"Not {MET}", MET.upper()])
def test_the_word_elsewhere_does_not(answer: str) -> None:
    assert not says_met(answer)


def test_a_goal_without_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs an objective"):
        goal(" ")
    with pytest.raises(ConfigError, match="at least 1"):
        goal("x", rounds=0)
    with pytest.raises(ConfigError, match="at least 1"):
        goal("x", tokens=0)


async def test_a_run_works_on_until_the_goal_is_met(tmp_path: Path) -> None:
    model = Script([[say("Half of it is done.")], [say("Nearly.")], [say(f"All of it.\n{MET}")]])
    async with watched(tmp_path, model, hooks=HookSet([goal("Count to three.")])) as session:
        seen = await session.run("one")
    assert texts(seen) == ["Half of it is done.", "Nearly.", f"All of it.\n{MET}"]
    decisions = [message.payload.decision for message in seen if isinstance(message.payload, Hook)]
    assert decisions == [None, "continue", "continue", None]


async def test_the_next_prompt_takes_it_up_again() -> None:
    asked = Asked(goal("All tests pass.", rounds=5))
    await asked.stop("Two are left.")
    [added] = await asked.prompt("Wait, the parser first.")
    assert "All tests pass." in added.text
    assert "Round 2 of 5." in (await asked.stop("The parser is done.") or "")
