"""What happens in a chat while a task runs: steering, waits before an attempt, and kills."""

from __future__ import annotations

import signal

import pytest

from penguin_harness.omnimessage import block
from penguin_harness.trace import read_lines
from tests.cli.process import Home
from tests.cli.talk import CTRL_C, CTRL_D, ENTER, ESCAPE, asked, leave, ready
from tests.double.chat.build import call, fails, reply, script, text, turn
from tests.double.client import Double
from tests.double.steps import gate


def test_what_is_typed_meanwhile_steers_the_task(home_with_model: Home, double: Double) -> None:
    """B095."""
    double.load(script(turn(text("First "), gate(), text("answer.")), reply("Second answer.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"one{ENTER}")
        terminal.expect("First")
        for key in "two":
            terminal.send(key)
        terminal.expect("› two▏")
        terminal.send(ENTER)
        terminal.expect("steering: two")
        terminal.send("half a line")
        terminal.expect("› half a line▏")
        double.release()
        terminal.expect("answer.")
        terminal.expect("↪ two")
        terminal.expect("Second answer.")
        terminal.expect("2 turns")
        terminal.expect("› half a line")
        terminal.send(f"{CTRL_C}{CTRL_D}")
        assert terminal.ended() == 0
    assert asked(home_with_model) == ["one", block("user_steering", "two")]


async def test_what_an_interrupted_task_was_not_told_is_in_the_prompt_again(
    home_with_model: Home, double: Double
) -> None:
    double.load(script(turn(text("First "), gate("never")), reply("Fine.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"one{ENTER}")
        terminal.expect("First")
        for line in (f"two{ENTER}", f"/usage{ENTER}", "three"):
            terminal.send(line)
            terminal.expect(line.strip())
        terminal.send(CTRL_C)
        terminal.expect("■ interrupted")
        terminal.expect("› two")
        terminal.expect("/usage")
        terminal.expect("three")
        terminal.send(f"{CTRL_C}now{ENTER}")
        terminal.expect("Fine.")
        ready(terminal)
        leave(terminal)
    assert asked(home_with_model) == ["one", "now"]


def test_a_command_typed_meanwhile_waits_for_the_end(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("First "), gate(), text("answer."))))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"one{ENTER}")
        terminal.expect("First")
        terminal.send(f"/usage{ENTER}")
        terminal.expect("next: /usage")
        double.release()
        terminal.expect("1 turn")
        terminal.expect("› /usage")
        terminal.expect("from the cache")
        ready(terminal)
        leave(terminal)
    assert asked(home_with_model) == ["one"]


def test_a_wait_before_the_next_attempt_counts_down_and_r_ends_it(home_with_model: Home, double: Double) -> None:
    double.load(script(fails(503, "Busy.", headers={"Retry-After": "50"}), reply("Here I am.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"hi{ENTER}")
        terminal.expect("; attempt 2 in 50 s")
        terminal.expect("r retries now · Esc gives up")
        terminal.expect("; attempt 2 in 49 s")
        terminal.send("r")
        terminal.expect("Here I am.")
        ready(terminal)
        leave(terminal)


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_a_wait_before_the_next_attempt_can_be_given_up(key: str, home_with_model: Home, double: Double) -> None:
    double.load(script(fails(503, "Busy.", headers={"Retry-After": "50"}), reply("Here I am.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"hi{ENTER}")
        terminal.expect("; attempt 2 in 50 s")
        terminal.send("rather not, r\x1b[A")
        terminal.expect("› rather not, r▏")
        terminal.send(key)
        terminal.expect("■ given up while waiting")
        terminal.expect("› rather not, r")
        terminal.send(f"{CTRL_C}{ENTER}")
        terminal.expect("Here I am.")
        ready(terminal)
        leave(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_kill_leaves_the_terminal_sane(number: signal.Signals, home_with_model: Home, double: Double) -> None:
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send("half a tho")
        terminal.expect("half a tho")
        terminal.signal(number)
        assert terminal.ended() == 143
        assert terminal.is_echoing()


def test_a_polite_kill_during_a_run_interrupts_it_and_leaves(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("First "), gate())))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"one{ENTER}")
        terminal.expect("First")
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert terminal.is_echoing()
    assert b'"abort"' in list(read_lines(home_with_model.traces[0]))[-1]


async def test_a_resumed_chat_tells_what_is_open_and_goes_on_with_it(home_with_model: Home, double: Double) -> None:
    """B001."""
    begun = call("exec_command", {"command": "touch begun; sleep 30"}, id="a")
    undecided = call("exec_command", {"command": "touch made"}, id="b", index=1)
    double.load(script(turn(begun, undecided), reply("Fine.")))
    with home_with_model.on_terminal("chat") as terminal:
        ready(terminal)
        terminal.send(f"go{ENTER}")
        terminal.expect("$ touch begun")
        terminal.send("y")
        terminal.expect("$ touch made")
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    with home_with_model.on_terminal("chat", "--resume", "--approve", "allow-all") as terminal:
        terminal.expect("■ exec_command  touch begun; sleep 30  it may have run")
        terminal.expect("■ exec_command  touch made  not decided yet")
        terminal.expect("Enter on an empty line goes on")
        ready(terminal)
        terminal.send(ENTER)
        terminal.expect("Its effect is unknown")
        terminal.expect("✓ exec_command  touch made")
        terminal.expect("Fine.")
        ready(terminal)
        leave(terminal)
        assert "ignored" not in terminal.text
    assert (home_with_model.workspace / "made").exists()
