"""`penguin run`, as a process against the provider's double."""

from __future__ import annotations

import signal

import pytest

from penguin_harness.omnimessage import ModelMessage, Text, decode, is_recorded
from penguin_harness.trace import read_lines, read_messages
from tests.cli.process import PATIENCE, Home
from tests.double.chat.build import call, fails, finish, reply, script, text, turn
from tests.double.client import Double
from tests.double.steps import gate

READ = {"path": "a.txt"}


def user_texts(home: Home) -> list[str]:
    messages = [message for path in home.traces for message in read_messages(path)]
    payloads = [message.payload for message in messages if isinstance(message, ModelMessage)]
    return [payload.text for payload in payloads if isinstance(payload, Text) and payload.role == "user"]


def test_in_a_pipe_stdout_is_the_answer_alone(home_with_model: Home, double: Double) -> None:
    (home_with_model.workspace / "a.txt").write_text("one\n")
    double.load(script(turn(text("I **look**.\n"), call("read_file", READ)), reply("It says `one`.")))
    done = home_with_model.penguin("run", "-m", "look", "--approve", "read-only")
    assert (done.code, done.out) == (0, "I **look**.\nIt says `one`.\n")
    assert "✓ read_file  a.txt" in done.err
    assert "\x1b" not in done.err


def test_json_is_the_trace_without_its_head(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("I look.", parts=3), call("read_file", READ)), reply("Nothing there.")))
    done = home_with_model.penguin("run", "-m", "look", "--approve", "allow-all", "--json")
    lines = done.out.encode().removesuffix(b"\n").split(b"\n")
    recorded = [line for line in lines if is_recorded(decode(line))]
    assert len(recorded) < len(lines)
    assert recorded == list(read_lines(home_with_model.traces[0]))[2:]
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("mode", "ran"), [("allow-all", True), ("read-only", False), ("deny-all", False), (None, False)]
)
def test_the_approval_mode_decides(mode: str | None, ran: bool, home_with_model: Home, double: Double) -> None:
    double.load(script(turn(call("exec_command", {"command": "touch made"})), reply("Fine.")))
    options = [] if mode is None else ["--approve", mode]
    done = home_with_model.penguin("run", "-m", "make it", *options)
    assert (home_with_model.workspace / "made").exists() == ran
    assert done.code == 0
    assert ("see --approve" in done.err) == (mode is None)


def test_standard_input_is_the_message_when_there_is_none(home_with_model: Home, double: Double) -> None:
    """B065: 70 kB of CJK text in writes that end inside characters."""
    double.load(script(reply("Read.")))
    written = "漢字かな交じり文。\n" * 2_400
    data = written.encode()
    assert len(data) > 65_000
    with home_with_model.process("run") as process:
        assert process.stdin is not None
        for start in range(0, len(data), 4_095):
            process.stdin.write(data[start : start + 4_095])
            process.stdin.flush()
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, b"Read.\n"), err.decode()
    assert user_texts(home_with_model) == [written]


def test_a_dash_stands_for_standard_input_among_messages(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("Fine.")))
    done = home_with_model.penguin("run", "-m", "review this", "-m", "-", given="the text")
    assert done.code == 0
    assert user_texts(home_with_model) == ["review this", "the text"]


def test_a_failed_run_ends_with_1_and_says_what_to_do(home_with_model: Home, double: Double) -> None:
    double.load(script(fails(401, "Incorrect API key provided.", code="invalid_api_key")))
    done = home_with_model.penguin("run", "-m", "hi")
    assert (done.code, done.out) == (1, "")
    assert "(auth)" in done.err
    assert "Incorrect API key provided." in done.err
    assert "penguin model add" in done.err
    assert done.err.count("Incorrect API key") == 1


def test_a_retry_is_told_beside_the_answer(home_with_model: Home, double: Double) -> None:
    double.load(script(fails(503, "Busy.", headers={"Retry-After": "0"}), reply("Here I am.")))
    done = home_with_model.penguin("run", "-m", "hi")
    assert (done.code, done.out) == (0, "Here I am.\n")
    assert "attempt 1: the provider could not be reached, or failed; next attempt in 0.0 s" in done.err
    assert "Busy." in done.err


async def test_an_interrupt_gives_up_a_wait(home_with_model: Home, double: Double) -> None:
    double.load(script(fails(503, "Busy.", headers={"Retry-After": "50"})))
    with home_with_model.process("run", "-m", "hi") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        assert b"next attempt in 50 s" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert "■ " in process.stderr.read().decode()
    assert len(double.report().requests) == 1


def test_on_a_terminal_a_wait_says_how_it_is_given_up(home_with_model: Home, double: Double) -> None:
    double.load(script(fails(503, "Busy.", headers={"Retry-After": "50"})))
    with home_with_model.on_terminal("run", "-m", "hi", "--approve", "allow-all") as terminal:
        terminal.expect("attempt 2 in 50 s")
        terminal.expect("Ctrl-C gives up")
        terminal.send("\x03")
        terminal.expect("given up while waiting")
        assert terminal.ended() == 130
        assert terminal.is_echoing()


def test_an_answer_cut_by_the_limit_is_shown_as_cut(home_with_model: Home, double: Double) -> None:
    """B077."""
    double.load(script(turn(text("The answer is"), finish("length"))))
    done = home_with_model.penguin("run", "-m", "hi")
    assert (done.code, done.out) == (0, "The answer is\n")
    assert "cut by the output limit" in done.err


def test_a_session_goes_on_where_it_was(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("One."), reply("Two.")))
    assert home_with_model.penguin("run", "-m", "first").code == 0
    fragment = home_with_model.traces[0].stem.removesuffix("_001")[-8:]
    done = home_with_model.penguin("run", "--resume", fragment, "-m", "second")
    assert done.out == "Two.\n"
    assert user_texts(home_with_model) == ["first", "second"]
    assert len(home_with_model.traces) == 1


async def test_an_interrupt_ends_with_130_and_an_abort(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("Once upon"), gate(), text(" a time"))))
    with home_with_model.process("run", "-m", "tell") as process:
        assert process.stdin is not None
        process.stdin.close()
        await double.at_gate()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stdout is not None
        assert process.stdout.read() == b"Once upon\n"
    assert b'"abort"' in list(read_lines(home_with_model.traces[0]))[-1]


async def test_a_closed_pipe_ends_the_run_quietly(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("first"), gate(), text("second"), gate("never"))))
    with home_with_model.process("run", "-m", "go", "--json") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        await double.at_gate()
        process.stdout.close()
        double.release()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""
    assert b'"abort"' in list(read_lines(home_with_model.traces[0]))[-1]


def test_on_a_terminal_a_question_takes_one_key(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(call("exec_command", {"command": "touch made"})), reply("It is **there**.")))
    with home_with_model.on_terminal("run", "-m", "make it") as terminal:
        terminal.expect("Run exec_command?")
        terminal.expect("$ touch made")
        terminal.send("y")
        terminal.expect("✓ exec_command")
        terminal.expect("It is there.")
        assert terminal.ended() == 0
        assert terminal.is_echoing()
    assert (home_with_model.workspace / "made").exists()


def test_on_a_terminal_ctrl_c_interrupts(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("Once upon a "), gate(), text("time"))))
    with home_with_model.on_terminal("run", "-m", "tell") as terminal:
        terminal.expect("Once upon a")
        terminal.send("\x03")
        terminal.expect("interrupted")
        assert terminal.ended() == 130
        assert terminal.is_echoing()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colours_can_be_off(env: dict[str, str], home_with_model: Home, double: Double) -> None:
    double.load(script(reply("A **bold** word.")))
    with home_with_model.on_terminal("run", "-m", "hi", env=env) as terminal:
        terminal.expect("A bold word." if "NO_COLOR" in env else "word.")
        assert terminal.ended() == 0
        assert b"m" not in {piece[-1:] for piece in terminal.raw.split(b"\x1b[")[1:] if piece[:1].isdigit()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "-m", "x", "--workspace", "/nowhere"], "/nowhere does not exist"),
        (["run", "-m", "x", "--provider", "openai"], "only provider 'openai' is given"),
        (["run", "-m", "x", "--provider", "nobody", "--model-id", "x"], "unknown provider 'nobody'"),
        (["run", "-m", "x", "--provider", "openai", "--model-id", "gpt-5"], "OPENAI_API_KEY"),
        (["run", "-m", "x", "--approve", "always-ask"], "no terminal to ask on"),
        (["run", "-m", "x", "--json", "--approve", "always-ask"], "nobody can be asked"),
        (["run", "-m", "x", "--approve", "sometimes"], "allow-all"),
        (["run", "-m", "x", "--resume", "nothing"], "no session matches 'nothing'"),
        (["run", "-m", "x"], "no model is named"),
        (["run", "-m", "x", "--max-turns", "many"], "many"),
        (["run", "--nonsense"], "--nonsense"),
        (["chat"], "chat needs a terminal"),
        (["nonsense"], "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
)
def test_what_is_wrong_is_one_line_and_exit_code_2(arguments: list[str], said: str, home: Home) -> None:
    done = home.penguin(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("penguin: ")
    assert done.err.count("\n") == 1


def test_a_blank_message_is_refused_before_anything_is_written(home_with_model: Home) -> None:
    for arguments in (["run", "-m", "  "], ["run"]):
        done = home_with_model.penguin(*arguments)
        assert done.code == 2
        assert "blank" in done.err
    assert home_with_model.traces == []


def test_a_broken_configuration_is_named(home: Home) -> None:
    file = home.data / "default_project" / ".project_config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("models = 3")
    done = home.penguin("run", "-m", "hi")
    assert done.code == 2
    assert str(file) in done.err


def test_a_locked_session_is_refused_at_once(home_with_model: Home, double: Double) -> None:
    double.load(script(reply("One."), turn(text("Still "), gate(), text("here"))))
    assert home_with_model.penguin("run", "-m", "first").code == 0
    session = home_with_model.traces[0].stem.removesuffix("_001")
    with home_with_model.on_terminal("run", "-m", "second", "--resume", session) as terminal:
        terminal.expect("Still")
        done = home_with_model.penguin("run", "-m", "third", "--resume", session)
        assert done.code == 2
        assert "is being written by process" in done.err
        double.release()
        assert terminal.ended() == 0


def test_b183_a_cap_stops_a_run_between_two_requests(home_with_model: Home, double: Double) -> None:
    double.load(script(*(turn(call("exec_command", {"command": "true"}, id=f"c{n}")) for n in range(3))))
    done = home_with_model.penguin("run", "-m", "go", "--approve", "allow-all", "--max-tokens", "200")
    assert "stopped at its budget: it has spent 220 of 200 tokens" in " ".join(done.err.split())
    assert len(double.requests()) == 2
    refused = home_with_model.penguin("run", "-m", "go", "--max-cost", "0.5")
    assert (refused.code, "no public price of custom / test-model is known" in refused.err) == (2, True)
