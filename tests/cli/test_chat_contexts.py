"""What a conversation does with its context: /compact, /model, /fork, /clear, on a real terminal."""

from __future__ import annotations

from tests.cli.process import Home
from tests.cli.talk import asked, leave, ready, say
from tests.double.chat.build import call, reply, script, text, turn
from tests.double.client import Double

SUMMARY = "[summary]\nWe said hello.\n[/summary]"


def test_a_context_is_summarized_and_the_talk_goes_on(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("Hello."), reply(SUMMARY), turn(text("Still here."), context="new")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        say(terminal, "/compact", "there is nothing to make smaller")
        say(terminal, "hi", "Hello.")
        say(terminal, "/compact now", "there is no 'now'", "/compact discard drops it")
        say(terminal, "/compact", "the context was summarized (manual)", "│ We said hello.")
        say(terminal, "")
        say(terminal, "and now?", "Still here.")
        leave(terminal)
    assert [path.stem[-3:] for path in home_with_model.traces] == ["001", "002"]


def test_a_context_is_dropped(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("Hello."), turn(text("Who are you?"), context="new")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        say(terminal, "hi", "Hello.")
        say(terminal, "/compact discard", "the context was dropped (manual)")
        say(terminal, "hi again", "Who are you?")
        leave(terminal)


def test_another_model_goes_on_with_what_was_said(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("Hello.")), script(reply("Me too."), model="other"))
    added = home_with_model.penguin("model", "add", "custom", "other", "--base-url", double.url)
    assert added.code == 0
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        say(terminal, "hi", "Hello.")
        say(terminal, "/model", "●  custom  test-model", "custom  other", "/model PROVIDER MODEL_ID")
        say(terminal, "/model other", "'other' is half a name")
        say(terminal, "/model nobody x", "unknown provider 'nobody'")
        say(terminal, "/model custom test-model", "is the model already")
        say(terminal, "/model custom other", "custom / other", "│ Person: hi")
        say(terminal, "glad to meet you", "Me too.")
        say(terminal, "/clear", "custom / other")
        leave(terminal)
    assert double.requests("other")


def test_a_fork_goes_on_alone(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("One."), reply("Two."), reply("Three.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        say(terminal, "/fork", "there is nothing to fork")
        say(terminal, "first", "One.")
        say(terminal, "second", "Two.")
        say(terminal, "/fork x", "'x' is no number of turns")
        say(terminal, "/fork 2", "this context has 2 turns")
        say(terminal, "/fork", "session-", "a copy; the session before it is")
        say(terminal, "third", "Three.")
        leave(terminal)
    ids = {path.stem.removesuffix("_001") for path in home_with_model.traces}
    assert len(ids) == 2
    assert sorted(asked(home_with_model)) == ["first", "first", "second", "second", "third"]
    for session in ids:
        assert home_with_model.penguin("trace", "verify", session).code == 0


def test_a_fork_leaves_out_the_last_turns_and_shows_where_it_stands(home_with_model: Home, double: Double) -> None:
    double.load(
        script(
            turn(call("read_file", {"path": "a.txt"})),
            reply("One."),
            reply("Two."),
            turn(text("Other two."), context="new"),
        )
    )
    (home_with_model.workspace / "a.txt").write_text("one\n")
    with home_with_model.on_terminal("chat", "--approve", "allow-all") as terminal:
        ready(terminal)
        say(terminal, "first", "One.")
        say(terminal, "second", "Two.")
        say(terminal, "/fork 1", "a copy", "› first", "✓ read_file", "One.")
        assert "› second" not in terminal.text[terminal.text.index("a copy") :]
        say(terminal, "otherwise", "Other two.")
        leave(terminal)
    assert sorted(asked(home_with_model)) == ["first", "first", "otherwise", "second"]
