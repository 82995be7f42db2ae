"""`penguin model test`: what works is said step by step, of endpoints that take everything and of those that do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from penguin_harness.cli.model_checks import basics
from penguin_harness.cli.model_talk import Heard
from penguin_harness.contracts import Outcome
from tests.cli.process import Ended, Home
from tests.double.client import Double
from tests.double.script import Reply, Turn
from tests.llm.routes import Gives, Routes, serving
from tests.providers.dialects import ANTHROPIC, CHAT, DIALECTS, GEMINI, KEY, RESPONSES, Dialect

STEPS = ("reachable", "authorised", "answers", "streams", "usage", "tools", "images", "thinking", "output limit")
WORD = {"word": "pong"}


@pytest.fixture
def routes() -> Iterator[Routes]:
    with serving() as found:
        yield found


@pytest.fixture(params=DIALECTS, ids=lambda one: one.client_type)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """The protocol under test."""
    return request.param


def answers(dialect: Dialect, **instead: list[Turn]) -> list[Turn]:
    """The turns of a model that can do everything, some of them replaced."""
    build = dialect.build
    turns = {
        "basics": [build.turn(build.text("one, two, three", parts=3), context="new")],
        "tools": [build.turn(build.call("note_word", WORD, id="c1"), context="new"), build.reply("It said: noted.")],
        "images": [build.reply("Red.", context="new")],
        "thinking": [
            build.turn(build.thinking("17 times 23..."), build.call("note_word", WORD, id="c2"), context="new"),
            build.reply("391"),
        ],
        "limit": [build.reply("pong", context="new")],
    }
    return [turn for part in (turns | instead).values() for turn in part]


def fails(dialect: Dialect, status: int, message: str, *, context: Literal["new", "extends"] = "new") -> Turn:
    """An HTTP error, to the first request of a conversation or to a later one."""
    return replace(dialect.build.fails(status, message), context=context)


def load(double: Double, dialect: Dialect, demands: dict[str, Any] | None = None, **instead: list[Turn]) -> None:
    double.load(dialect.script(*answers(dialect, **instead), **(demands or {})))


def tried(home: Home, double: Double, dialect: Dialect, *options: str, key: str = KEY) -> Ended:
    reach = ("--base-url", double.base_url(dialect.client_type), "--client-type", dialect.client_type)
    done = home.penguin("model", "test", "custom", "test-model", *reach, "--api-key-stdin", *options, given=f"{key}\n")
    assert done.err == ""
    assert key not in done.out
    return done


def marks(done: Ended) -> dict[str, str]:
    """The mark of each step, in their order."""
    lines = [line for line in done.out.splitlines() if line[:2] in ("✓ ", "✗ ", "- ")]
    found = {name: line[0] for line in lines for name in STEPS if line[2:].rstrip().startswith(name)}
    assert tuple(found) == STEPS
    return found


def said(done: Ended, step: str) -> str:
    """A step's line and those that belong to it, as one."""
    lines = done.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line[2:].startswith(step))
    more = lines[start + 1 :]
    end = next(number for number, line in enumerate(more) if not line.startswith("  "))
    return " ".join(" ".join([lines[start], *more[:end]]).split())


def test_a_model_that_can_do_everything(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect)
    done = tried(home, double, dialect)
    assert done.code == 0
    assert set(marks(done).values()) == {"✓"}
    assert "3 pieces" in said(done, "streams")
    assert "first piece after" in said(done, "answers")
    assert "110 tokens" in said(done, "usage")
    assert "seen" in said(done, "images")
    assert "4,096 tokens" in said(done, "output limit")
    assert done.out.splitlines()[-1] == "a session works"
    assert double.left() == 0


def test_thinking_that_is_signed_goes_back_as_it_came(home: Home, double: Double, dialect: Dialect) -> None:
    """The double misses any signature that does not come back; some protocols have none."""
    load(double, dialect)
    assert "arrives, and goes back as it came" in said(tried(home, double, dialect), "thinking")


def test_programs_get_the_steps_as_json(home: Home, double: Double) -> None:
    load(double, CHAT)
    report = json.loads(tried(home, double, CHAT, "--json").out)
    assert report["works"] is True
    assert [(step["name"], step["mark"]) for step in report["steps"]] == [(name, "✓") for name in STEPS]


def test_a_refused_key_ends_it_and_names_the_way_out(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect)
    done = tried(home, double, dialect, key="sk-wrong-987654321")
    assert done.code == 1
    assert [*marks(done).values()] == ["✓", "✗", *"-------"]
    assert "(auth)" in said(done, "authorised")
    assert "penguin model add" in said(done, "authorised")
    assert "no session works with it: authorised" in done.out
    assert double.refusals()


def test_nobody_there(home: Home, dialect: Dialect) -> None:
    with serving() as gone:
        pass
    reach = ("--base-url", gone.url, "--client-type", dialect.client_type)
    done = home.penguin("model", "test", "custom", "m", *reach)
    assert done.code == 1
    assert [*marks(done).values()] == ["✗", *"--------"]
    assert "cannot connect to 127.0.0.1" in said(done, "reachable")


def test_an_unknown_model_is_refused_behind_the_door(home: Home, double: Double, dialect: Dialect) -> None:
    double.load(dialect.script(model="another"))
    done = tried(home, double, dialect)
    assert done.code == 1
    assert [*marks(done).values()] == ["✓", "-", "✗", *"------"]
    assert "test-model" in said(done, "answers")
    assert [refusal.code for refusal in double.refusals()] == ["model_not_found"]


def test_an_endpoint_that_is_busy_is_reached(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, basics=[fails(dialect, 429, "Slow down.")])
    done = tried(home, double, dialect)
    assert done.code == 1
    assert [*marks(done).values()][:3] == ["✓", "-", "✗"]
    assert "try again" in said(done, "answers")


def test_an_endpoint_that_refuses_to_stream(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, basics=[fails(dialect, 400, "stream: true is not supported here")])
    done = tried(home, double, dialect)
    assert done.code == 1
    assert marks(done)["answers"] == "✗"
    assert "stream: true is not supported here" in said(done, "answers")


def test_an_answer_in_one_piece_does_not_stream(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, basics=[dialect.build.reply("one, two, three", context="new")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["streams"]) == (0, "-")
    assert "does not stream" in said(done, "streams")


@pytest.mark.parametrize(("first", "total", "mark"), [(1.98, 2.0, "-"), (0.4, 2.0, "✓"), (0.019, 0.02, "✓")])
def test_pieces_that_all_come_at_the_end_are_no_stream(first: float, total: float, mark: str) -> None:
    step = basics(Heard((), Outcome("completed"), first, total, 9, 9))[3]
    assert (step.name, step.mark) == ("streams", mark)


def test_an_endpoint_that_answers_in_one_document(home: Home, double: Double) -> None:
    message = {"role": "assistant", "content": "one, two, three"}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    load(double, CHAT, basics=[Turn(reply=Reply(200, body), context="new")])
    done = tried(home, double, CHAT)
    assert done.code == 0
    assert (marks(done)["streams"], marks(done)["usage"]) == ("-", "-")
    assert "the harness estimates" in said(done, "usage")


def test_tools_that_are_refused_rule_a_session_out(home: Home, double: Double, dialect: Dialect) -> None:
    refuses = fails(dialect, 400, "This model does not support tools.")
    load(double, dialect, tools=[refuses, refuses])
    done = tried(home, double, dialect)
    assert done.code == 1
    assert [*marks(done).values()][5:] == ["✗", "✓", "✓", "✓"]
    assert "This model does not support tools." in said(done, "tools")
    assert "take a model with tools" in said(done, "tools")


def test_a_model_that_talks_instead_of_calling(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, tools=[dialect.build.reply("I would call it.", context="new")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["tools"]) == (1, "✗")
    assert "I would call it." in said(done, "tools")


def test_a_call_that_cannot_be_forced_is_asked_for(home: Home, double: Double, dialect: Dialect) -> None:
    build = dialect.build
    refuses = fails(dialect, 400, "tool_choice: this value is not allowed")
    called = build.turn(build.call("note_word", WORD, id="c1"), context="new")
    load(double, dialect, tools=[refuses, called, build.reply("noted")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["tools"]) == (0, "✓")
    assert "no call can be forced" in said(done, "tools")


def test_a_model_that_takes_no_forced_call_by_its_protocol(home: Home, double: Double) -> None:
    load(double, ANTHROPIC, {"forced_tools": False})
    assert tried(home, double, ANTHROPIC).code == 0
    assert double.refusals()


def test_a_result_that_is_refused_rules_a_session_out(home: Home, double: Double, dialect: Dialect) -> None:
    build = dialect.build
    called = build.turn(build.call("note_word", WORD, id="c1"), context="new")
    load(double, dialect, tools=[called, fails(dialect, 400, "Unexpected role 'tool'.", context="extends")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["tools"]) == (1, "✗")
    assert "the result of a call is refused" in said(done, "tools")


def test_no_images_is_a_fact_and_no_failure(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, {"images": False})
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["images"]) == (0, "-")
    assert "takes none" in said(done, "images")
    assert "learnt: sent again with notes in place of the images" in said(done, "images")
    assert done.out.splitlines()[-1] == "a session works"
    assert double.refusals()


def test_images_refused_in_words_that_teach_nothing(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, images=[fails(dialect, 400, "messages: bad content")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["images"]) == (0, "✗")
    assert "`vision = false`" in said(done, "images")
    assert done.out.splitlines()[-1] == "a session works, but not: images"


def test_a_model_that_is_known_to_see_nothing_gets_no_image(home: Home, double: Double) -> None:
    home.add_model(double.url)
    config = home.data / "default_project/.project_config.toml"
    config.write_text(
        config.read_text().replace('model_id = "test-model"\nbase', 'model_id = "test-model"\nvision = false\nbase')
    )
    load(double, CHAT, images=[])
    done = tried(home, double, CHAT)
    assert (done.code, marks(done)["images"]) == (0, "-")
    assert all(b"image_url" not in request.body for request in double.requests())


def test_a_model_that_does_not_think(home: Home, double: Double, dialect: Dialect) -> None:
    build = dialect.build
    called = build.turn(build.call("note_word", WORD, id="c2"), context="new")
    load(double, dialect, thinking=[called, build.reply("391")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["thinking"]) == (0, "-")
    assert "none arrives" in said(done, "thinking")


@pytest.mark.parametrize(
    ("dialect", "demands"),
    [(CHAT, {"forbidden_keys": ("reasoning_effort",)}), (RESPONSES, {"forbidden_keys": ("reasoning",)})],
    ids=["openai_chat", "openai_responses"],
)
def test_a_level_that_is_refused_is_left_out_and_told(
    home: Home, double: Double, dialect: Dialect, demands: dict[str, Any]
) -> None:
    load(double, dialect, demands)
    done = tried(home, double, dialect)
    assert done.code == 0
    assert "learnt: sent again without a thinking level" in said(done, "thinking")
    assert double.refusals()


def test_the_other_way_to_think_is_learnt(home: Home, double: Double) -> None:
    load(double, ANTHROPIC, {"thinking": ("adaptive", "disabled")})
    done = tried(home, double, ANTHROPIC)
    assert (done.code, marks(done)["thinking"]) == (0, "✓")
    assert "learnt: sent again with the other way to ask for thinking" in said(done, "thinking")
    assert double.refusals()


def test_a_thinking_level_refused_for_good_leaves_a_session(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, thinking=[fails(dialect, 400, "Not for you.")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["thinking"]) == (0, "✗")
    assert "the level high is refused" in said(done, "thinking")


def test_thinking_that_cannot_go_back(home: Home, double: Double, dialect: Dialect) -> None:
    build = dialect.build
    first = build.turn(build.thinking("17 times 23..."), build.call("note_word", WORD, id="c2"), context="new")
    load(double, dialect, thinking=[first, fails(dialect, 400, "Bad signature.", context="extends")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["thinking"]) == (0, "✗")
    assert "what goes back is refused" in said(done, "thinking")


def test_the_other_name_of_the_limit_is_learnt(home: Home, double: Double) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    load(double, CHAT, limit=[fails(CHAT, 400, message), CHAT.build.reply("pong", context="new")])
    done = tried(home, double, CHAT)
    assert (done.code, marks(done)["output limit"]) == (0, "✓")
    assert "learnt: sent again with max_completion_tokens" in said(done, "output limit")


def test_a_limit_that_is_too_high_is_read_off(home: Home, double: Double) -> None:
    load(double, ANTHROPIC, {"output_limit": 8192})
    done = tried(home, double, ANTHROPIC)
    assert done.code == 0
    assert "learnt: sent again with at most 8192 tokens of output" in said(done, "answers")
    assert double.refusals()


def test_a_limit_that_is_refused(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, limit=[fails(dialect, 400, "No.")])
    done = tried(home, double, dialect)
    assert (done.code, marks(done)["output limit"]) == (0, "✗")
    assert "output_limit" in said(done, "output limit")


def test_an_endpoint_that_fails_in_the_middle_ends_it(home: Home, double: Double, dialect: Dialect) -> None:
    load(double, dialect, images=[fails(dialect, 503, "Gone fishing.")])
    done = tried(home, double, dialect)
    assert done.code == 1
    assert [*marks(done).values()][5:] == ["✓", "✗", "-", "-"]
    assert "Gone fishing." in said(done, "images")


def test_the_wrong_protocol_is_told(home: Home, routes: Routes) -> None:
    routes.otherwise = Gives("<html>Welcome</html>")
    done = home.penguin("model", "test", "custom", "m", "--base-url", routes.url)
    assert done.code == 1
    assert marks(done)["answers"] == "✗"
    assert "--client-type" in said(done, "answers")


def test_the_default_model_is_tried_without_a_name(home_with_model: Home, double: Double) -> None:
    double.load(CHAT.build.script(*answers(CHAT), endpoint=CHAT.demands()))
    done = home_with_model.penguin("model", "test")
    assert done.code == 0
    assert done.out.startswith("custom / test-model\n")


def test_known_facts_leave_steps_out(home: Home, double: Double) -> None:
    """The catalogue says of this model that it thinks at no level, and how much it writes."""
    double.load(CHAT.script(*answers(CHAT, thinking=[]), model="gpt-4o"))
    reach = ("--base-url", double.url, "--client-type", "openai_chat", "--api-key-stdin")
    done = home.penguin("model", "test", "openai", "gpt-4o", *reach, given=f"{KEY}\n")
    assert (done.code, marks(done)["thinking"]) == (0, "-")
    assert "16,384 tokens" in said(done, "output limit")


def test_geminis_wrong_key_is_a_400(home: Home, double: Double) -> None:
    load(double, GEMINI)
    done = tried(home, double, GEMINI, key="sk-wrong-987654321")
    assert marks(done)["authorised"] == "✗"
    assert double.refusals()
