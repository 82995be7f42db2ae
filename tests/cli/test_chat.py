"""`penguin chat` on a real terminal."""

from __future__ import annotations

import json

from penguin_harness.cli.approval import Question
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.terminal.spans import text_of, width_of
from penguin_harness.omnimessage import ToolCall
from tests.cli.process import Home
from tests.cli.talk import ALT_ENTER, CTRL_C, CTRL_D, ENTER, asked, ready
from tests.double.chat.build import call, reply, script, text, thinking, turn
from tests.double.chat.endpoint import Endpoint
from tests.double.client import Double
from tests.double.steps import gate


def test_a_conversation(home_with_model: Home, double: Double) -> None:
    endpoint = Endpoint(reasoning_fields=("reasoning_content",))
    first = turn(thinking("A greeting."), text("Good **morning**, penguin."))
    double.load(script(first, reply("Indeed."), endpoint=endpoint))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"hello{ALT_ENTER}there{ENTER}")
        terminal.expect("A greeting.")
        terminal.expect("Good morning, penguin.")
        terminal.expect("1 turn")
        ready(terminal)
        terminal.send(f"nice{ENTER}")
        terminal.expect("Indeed.")
        ready(terminal)
        terminal.send(CTRL_D)
        assert terminal.ended() == 0
        assert terminal.is_echoing()
    assert asked(home_with_model) == ["hello\nthere", "nice"]


def test_one_key_allows_denies_and_allows_all(home_with_model: Home, double: Double) -> None:
    calls = [call("exec_command", {"command": f"touch f{n}"}, id=f"c{n}", index=n) for n in range(4)]
    double.load(script(turn(*calls), reply("Done.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"go{ENTER}")
        terminal.expect("$ touch f0")
        terminal.send("?")
        terminal.expect('"command": "touch f0"')
        terminal.send("n")
        terminal.expect("$ touch f1")
        terminal.send("y")
        terminal.expect("$ touch f2")
        terminal.send("a")
        terminal.expect("Done.")
        terminal.expect("allow-all")
        terminal.send(f"/exit{ENTER}")
        assert terminal.ended() == 0
    assert sorted(path.name for path in home_with_model.workspace.iterdir()) == ["f1", "f2", "f3"]


async def test_ctrl_c_interrupts_then_clears_then_leaves(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("Once upon a "), gate(), text("time")), reply("Yes.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"tell{ENTER}")
        terminal.expect("Once upon a")
        terminal.send(CTRL_C)
        terminal.expect("■ interrupted")
        ready(terminal)
        terminal.send(f"are you there?{ENTER}")
        terminal.expect("Yes.")
        ready(terminal)
        terminal.send("half a tho")
        terminal.expect("half a tho")
        terminal.send(CTRL_C)
        terminal.expect("press Ctrl-C")
        terminal.send(CTRL_C)
        assert terminal.ended() == 0
    assert asked(home_with_model) == ["tell", "are you there?"]


def test_commands_of_the_chat(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("Hello."), turn(text("New here."), context="new")))
    with home_with_model.on_terminal("chat", columns=120) as terminal:
        ready(terminal)
        terminal.send(f"hi{ENTER}")
        terminal.expect("Hello.")
        for command, shown in (
            ("/help", "Alt-Enter"),
            ("/tools", "read_file"),
            ("/usage", "from the cache"),
            ("/trace", "penguin trace show session-"),
            ("/approve deny-all", "tool calls: deny-all"),
            ("/approve never", "there is no 'never'"),
            ("/bogus", "there is no /bogus"),
        ):
            ready(terminal)
            terminal.send(f"{command}{ENTER}")
            terminal.expect(shown)
        ready(terminal)
        terminal.send(f"/clear{ENTER}")
        terminal.expect("penguin 0")
        ready(terminal)
        terminal.send(f"hi{ENTER}")
        terminal.expect("New here.")
        ready(terminal)
        terminal.send(f"/exit{ENTER}")
        assert terminal.ended() == 0
    assert len(home_with_model.traces) == 2


def test_a_resumed_conversation_shows_its_end(home_with_model: Home, double: Double) -> None:
    double.load(script(*(reply(f"Answer {n}.") for n in range(5)), reply("Still here.")))
    for number in range(5):
        resumed = ["--resume", ""] if number else []
        assert home_with_model.penguin("run", "-m", f"question {number}", *resumed).code == 0
    with home_with_model.on_terminal("chat", "--resume") as terminal:
        terminal.expect("earlier messages: penguin trace show")
        terminal.expect("› question 2")
        terminal.expect("Answer 4.")
        ready(terminal)
        assert "Answer 1." not in terminal.text
        terminal.send(f"and now?{ENTER}")
        terminal.expect("Still here.")
        ready(terminal)
        terminal.send(CTRL_D)
        assert terminal.ended() == 0


def test_there_is_nothing_to_resume_in_another_folder(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("One.")))
    assert home_with_model.penguin("run", "-m", "first").code == 0
    elsewhere = home_with_model.folder / "elsewhere"
    elsewhere.mkdir()
    with home_with_model.on_terminal("chat", "--resume", "--workspace", str(elsewhere)) as terminal:
        terminal.expect("there is no session of")
        assert terminal.ended() == 2


def test_the_newest_session_is_told_by_its_own_records(home_with_model: Home, double: Double) -> None:
    """A damaged file and a child's are passed over."""
    double.load(script(reply("One.")))
    assert home_with_model.penguin("run", "-m", "the right one").code == 0
    trace = home_with_model.traces[0]
    child = trace.with_name("session-2999-01-01-00-00-00-00000001_001.jsonl")
    child.write_text(trace.read_text().replace('"source":"cli"', '"source":"subagent"'))
    trace.with_name("session-2999-01-01-00-00-00-00000002_001.jsonl").write_text("damaged")
    with home_with_model.on_terminal("chat", "--resume") as terminal:
        terminal.expect("› the right one")
        ready(terminal)
        terminal.send(CTRL_D)
        assert terminal.ended() == 0


async def test_keys_of_somebody_who_was_typing_are_no_answer() -> None:
    call = ToolCall("assistant", "exec_command", '{"command":"rm x"}', "c")
    question = Question(call, quiet_since=10.0)
    question.take("y", 9.9)
    question.take("yes please", 11.0)
    question.take("q", 11.0)
    question.take("n", 11.0)
    question.take("y", 11.1)
    assert await question.answer() == "deny"


async def test_a_question_shows_the_whole_command() -> None:
    command = "echo " + "word " * 40 + "; rm -rf /"
    call = ToolCall("assistant", "exec_command", json.dumps({"command": command}), "c")
    shown = Question(call, quiet_since=0.0).lines(40)
    assert command in "".join(text_of(spans).removeprefix("  │ ") for spans in shown)
    assert all(width_of(spans) <= 40 for spans in shown)


def test_a_draft_is_edited_and_sent() -> None:
    draft = Draft()
    keys = ("a", "b", "\x7f", "c d", "\x17", "e", ENTER, ENTER, "x\ny", "\x15", "z", ALT_ENTER, "w", ENTER, "v")
    sent = [line for key in keys if (line := draft.take(key, 0.0)) is not None]
    assert sent == ["ac e", "z\nw"]
    assert draft.text == "v"
