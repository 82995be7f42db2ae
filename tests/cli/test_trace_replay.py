"""`penguin trace replay`: the times, the fragments, and a page that looks like the stored one."""

from __future__ import annotations

from pathlib import Path

import pytest

from penguin_harness import omnimessage as om
from penguin_harness.cli.demo import RECORDING
from penguin_harness.cli.fragments import fragments_of
from penguin_harness.cli.trace_replay import in_time
from penguin_harness.omnimessage import OmniMessage, is_recorded
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_messages
from tests.cli.paper import Live
from tests.cli.process import Home


def at(message: OmniMessage, second: float) -> OmniMessage:
    line = om.encode(message).replace(message.timestamp.encode(), f"2026-12-01T09:00:{second:06.3f}Z".encode())
    return om.decode(line)


def test_the_recorded_times_are_scaled_and_capped() -> None:
    messages = [at(om.user_text("hi"), 0), at(om.request_begin(), 1), at(om.assistant_text("Hello there."), 1.24)]
    played = list(in_time([*messages, at(om.request_end(), 31)], 2.0, 5.0))
    waits = [round(wait, 3) for wait, message in played if is_recorded(message)]
    assert waits == [0.0, 0.5, 0.0, 5.0]
    pieces = [wait for wait, message in played if not is_recorded(message)]
    assert pieces[0] == pieces[-1] == 0.0
    assert sum(pieces) == pytest.approx(0.12)


def test_times_that_go_back_or_cannot_be_read_are_no_wait() -> None:
    strange = om.decode(om.encode(om.user_text("x")).replace(b'"timestamp":"2', b'"timestamp":"x2'))
    messages = [at(om.user_text("a"), 5), at(om.user_text("b"), 1), strange, at(om.user_text("c"), 2)]
    assert [wait for wait, _ in in_time(messages, 1.0, 9.0)] == [0.0, 0.0, 0.0, 1.0]


def test_what_is_played_is_a_stream_that_conforms() -> None:
    recorded = [message for message in read_messages(RECORDING) if message.type != "session_meta"]
    stream = [part for message in recorded for part in (*fragments_of(message, 3), message)]
    assert check(stream, "stream").violations == ()
    assert len(stream) > 2 * len(recorded)
    played, stored = Live(), Live()
    for message in stream:
        played.renderer.show(message)
    for message in recorded:
        stored.renderer.show(message)
    assert played.seen == stored.seen


def test_in_a_pipe_nothing_waits(home: Home) -> None:
    shown = home.penguin("trace", "show", str(RECORDING))
    assert home.penguin("trace", "replay", str(RECORDING), "--speed", "0.001").out == shown.out


def recorded(folder: Path, last: float) -> Path:
    """A Trace whose tool takes until this second."""
    path = folder / "slow.jsonl"
    messages = [at(om.user_text("hi"), 0), at(om.request_begin(), 0), at(om.tool_call("t", "{}", "c"), 1)]
    messages.append(at(om.tool_call_output("the output", "c"), last))
    path.write_bytes(b"".join(om.encode(message) + b"\n" for message in messages))
    return path


def test_on_a_terminal_it_moves_and_ends_by_itself(home: Home, tmp_path: Path) -> None:
    with home.on_terminal("trace", "replay", str(recorded(tmp_path, 50)), "--max-wait", "0.5") as terminal:
        terminal.expect("› hi")
        terminal.expect("1 tool call")
        terminal.expect("Ctrl-C ends")
        terminal.expect("│ the output")
        assert terminal.ended() == 0
        assert terminal.is_echoing()


def test_ctrl_c_ends_it(home: Home, tmp_path: Path) -> None:
    with home.on_terminal("trace", "replay", str(recorded(tmp_path, 50)), "--max-wait", "50") as terminal:
        terminal.expect("1 tool call")
        terminal.send("typed\x03")
        assert terminal.ended() == 130
        assert terminal.is_echoing()
        assert "typed" not in terminal.text
        assert "No output is recorded" not in terminal.text


@pytest.mark.parametrize("option", [["--speed", "0"], ["--speed", "nan"], ["--max-wait", "-1"]])
def test_a_speed_that_is_none_is_refused(option: list[str], home: Home) -> None:
    done = home.penguin("trace", "replay", str(RECORDING), *option)
    assert (done.code, done.out) == (2, "")
    assert option[0] in done.err
