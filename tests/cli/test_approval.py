"""Who decides about a call: the mode, the project's rules, a person with one key."""

from __future__ import annotations

import asyncio
import json
import os
import pty
from collections.abc import Generator
from pathlib import Path

import pytest

from penguin_harness.cli.approval import Answer, ApprovalMode, Approver, Question, mode_named
from penguin_harness.cli.asking import Asking
from penguin_harness.cli.draft import Draft
from penguin_harness.cli.terminal.spans import text_of, width_of
from penguin_harness.contracts import Permission
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import ApprovalDecision, Decision, ToolCall
from penguin_harness.policy import RuleBook, command_allowance
from penguin_harness.state.config import PolicyEntry
from penguin_harness.tools import tool
from penguin_harness.trace import read_messages
from tests.cli.paper import Live
from tests.cli.process import Home
from tests.cli.talk import ENTER, leave, ready
from tests.double.chat.build import call as exec_call
from tests.double.chat.build import reply, script, turn
from tests.double.client import Double
from tests.support import until, watched

READERS = {"read_file", "mcp__docs__search"}

DENIALS: tuple[Answer, ...] = ("deny",) * 10


def made(name: str = "exec_command", **arguments: object) -> ToolCall:
    return ToolCall("assistant", name, json.dumps(arguments), "c")


def permission(each: ToolCall) -> Permission:
    return "r" if each.name in READERS else "rw"


class Person:
    """Gives the answers in turn, and counts the questions."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[ToolCall] = []

    async def __call__(self, each: ToolCall) -> Answer:
        self.asked.append(each)
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("mode", "reads", "writes"),
    [
        ("allow-all", "allow", "allow"),
        ("read-only", "allow", "deny"),
        ("always-ask", "allow", "deny"),
        ("deny-all", "deny", "deny"),
    ],
)
async def test_each_mode_decides_as_it_says(mode: ApprovalMode, reads: Decision, writes: Decision) -> None:
    person = Person("allow", "deny")
    approver = Approver(mode, permission, person)
    assert await approver(made("mcp__docs__search", query="x")) == reads
    assert await approver(made("exec_command", command="cat x")) == writes
    assert len(person.asked) == (2 if mode == "always-ask" else 0)
    assert approver.denied == {"read-only": 1, "deny-all": 2}.get(mode, 0)


async def test_b149_always_means_exactly_this_command() -> None:
    person = Person("allow-exact", *DENIALS)
    approver = Approver("always-ask", permission, person)
    assert await approver(made(command="python a.py")) == "allow"
    assert await approver(made(command="python a.py")) == "allow"
    assert len(person.asked) == 1
    others = [
        made(command="python -c 'x'"),
        made(command="python a.py b"),
        made(command="python a.py; rm x"),
        made(command="python  a.py"),
        made(command="python a.py", workdir="/"),
        made(command="python A.py"),
        made("input_command", command="python a.py"),
        made(command=["python a.py"]),
        made(command="python"),
    ]
    assert [await approver(other) for other in others] == ["deny"] * len(others)
    assert len(person.asked) == 1 + len(others)


async def test_the_order_of_arguments_makes_no_other_command() -> None:
    person = Person("allow-exact")
    approver = Approver("always-ask", permission, person)
    one = ToolCall("assistant", "exec_command", '{"command": "ls", "workdir": "x"}', "c1")
    other = ToolCall("assistant", "exec_command", '{"workdir":"x","command":"ls"}', "c2")
    assert [await approver(one), await approver(other)] == ["allow", "allow"]


async def test_what_is_always_allowed_is_forgotten_with_the_session() -> None:
    person = Person("allow-exact", "deny")
    assert await Approver("always-ask", permission, person)(made(command="ls")) == "allow"
    assert await Approver("always-ask", permission, person)(made(command="ls")) == "deny"


async def test_a_stricter_mode_overrides_what_was_always_allowed() -> None:
    person = Person("allow-exact")
    approver = Approver("always-ask", permission, person)
    assert await approver(made(command="make")) == "allow"
    decisions: list[Decision] = []
    for mode in ("read-only", "deny-all", "always-ask"):
        approver.mode = mode
        decisions.append(await approver(made(command="make")))
    assert decisions == ["deny", "deny", "allow"]


async def test_all_in_this_session_changes_the_mode() -> None:
    person = Person("allow-all")
    approver = Approver("always-ask", permission, person)
    assert [await approver(made(command="a")), await approver(made(command="b"))] == ["allow", "allow"]
    assert approver.mode == "allow-all"
    assert len(person.asked) == 1


async def test_b148_the_projects_rules_spare_the_question_only_for_the_whole_line() -> None:
    allows = command_allowance(RuleBook([PolicyEntry("allow", "git status"), PolicyEntry("allow", "echo")]))
    person = Person(*DENIALS[:5])
    approver = Approver("always-ask", permission, person, allows=allows)
    assert await approver(made(command="git status --short")) == "allow"
    assert await approver(made(command="echo 'a && b'")) == "allow"
    assert person.asked == []
    lines = ["git status && rm x", "git status; rm x", "git status\nrm x", "git status $(rm x)", "git statusfoo"]
    assert [await approver(made(command=line)) for line in lines] == ["deny"] * 5
    assert len(person.asked) == 5
    for mode in ("read-only", "deny-all"):
        approver.mode = mode
        assert await approver(made(command="git status")) == "deny"


async def test_without_anybody_to_ask_the_answer_is_no() -> None:
    approver = Approver("always-ask", permission)
    assert await approver(made(command="ls")) == "deny"
    assert approver.denied == 1


@pytest.mark.parametrize(
    ("key", "answer"), [("y", "allow"), ("n", "deny"), ("e", "allow-exact"), ("E", "allow-exact"), ("a", "allow-all")]
)
async def test_one_key_is_one_answer(key: str, answer: Answer) -> None:
    question = Question(made(command="ls"), quiet_since=0.0)
    question.take("x", 1.0)
    question.take(key, 1.0)
    async with asyncio.timeout(1):
        assert await question.answer() == answer


async def test_the_question_names_its_keys_on_a_narrow_page_too() -> None:
    rows = Question(made(command="ls"), quiet_since=0.0).lines(30)
    shown = " ".join(text_of(row).strip() for row in rows)
    assert "e always exactly this" in shown
    assert all(width_of(row) <= 30 for row in rows)


def test_only_a_whole_name_is_a_mode() -> None:
    assert mode_named("read-only") == "read-only"
    assert [mode_named(text) for text in ("", "read", "READ-ONLY", "read-only ")] == [None] * 4


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Generator[int, None, None]:
    """A terminal as standard input; what is written to the descriptor is typed."""
    master, slave = pty.openpty()
    with os.fdopen(slave, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield master
    os.close(master)


@tool
def touch(name: str) -> str:
    """Touch a thing."""
    return f"touched {name}"


async def test_the_mode_changes_while_a_run_goes_on(keyboard: int, tmp_path: Path) -> None:
    """A line that names another mode counts at once; other commands, and what names none, wait for the end."""
    begun, going_on = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait for the test."""
        begun.set()
        await going_on.wait()
        return "waited"

    model = Script([[call("wait")], [call("touch", name="a")], [call("touch", name="b")], [say("Done.")]])
    asking = Asking(Live().renderer, Draft())
    approver = asking.approver = Approver("allow-all", lambda _: "rw", asking.ask)
    async with watched(tmp_path, model, [wait, touch]) as session:
        run = session.start(approve=approver)
        with asking.keys(run):
            reading = asyncio.create_task(session.read(run))
            async with asyncio.timeout(10):
                await begun.wait()
            os.write(keyboard, b"/approve never\r")
            await until(lambda: len(asking.queued) == 1)
            os.write(keyboard, b"/usage\r")
            await until(lambda: len(asking.queued) == 2)
            assert approver.mode == "allow-all"
            os.write(keyboard, b"/approve deny-all\r")
            await until(lambda: approver.mode == "deny-all")
            going_on.set()
            stream = await reading
    decisions = [message.payload.decision for message in stream if isinstance(message.payload, ApprovalDecision)]
    assert decisions == ["allow", "deny", "deny"]
    assert list(asking.queued) == ["/approve never", "/usage"]


def test_b149_in_a_chat_e_allows_the_same_command_again_and_no_other(home_with_model: Home, double: Double) -> None:
    commands = ["echo a >> log", "echo a >> log", "echo a >> log; echo b >> log"]
    calls = [exec_call("exec_command", {"command": each}, id=f"c{n}", index=n) for n, each in enumerate(commands)]
    double.load(script(turn(*calls), reply("Done.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"go{ENTER}")
        terminal.expect("$ echo a >> log")
        terminal.expect("always exactly this")
        terminal.send("e")
        terminal.expect("$ echo a >> log; echo b >> log")
        terminal.send("n")
        terminal.expect("Done.")
        ready(terminal)
        leave(terminal)
    assert (home_with_model.workspace / "log").read_text() == "a\na\n"


def test_b148_in_a_chat_the_projects_rules_count(home_with_model: Home, double: Double) -> None:
    config = home_with_model.data / "default_project" / ".project_config.toml"
    config.write_text(config.read_text() + '\n[[policy]]\npattern = "echo"\ndecision = "allow"\n')
    commands = ["echo 'a && b'", "git push --mirror", "echo c && touch made"]
    calls = [exec_call("exec_command", {"command": each}, id=f"c{n}", index=n) for n, each in enumerate(commands)]
    double.load(script(turn(*calls), reply("Done.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"go{ENTER}")
        terminal.expect("$ echo c && touch made")
        terminal.send("n")
        terminal.expect("Done.")
        ready(terminal)
        leave(terminal)
    assert not (home_with_model.workspace / "made").exists()
    decisions = [
        message.payload.decision
        for path in home_with_model.traces
        for message in read_messages(path)
        if isinstance(message.payload, ApprovalDecision)
    ]
    assert decisions == ["allow", "forbidden", "deny"]
