"""`penguin trace verify`: what is sound, what is open, what a resume would write; and that each law can break."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from penguin_harness import omnimessage as om
from penguin_harness.engine.context import Context, fold
from penguin_harness.laws import Pairs, check_laws
from penguin_harness.omnimessage import (
    Abort,
    CompletePayload,
    OmniMessage,
    RequestBegin,
    SessionMeta,
    Text,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    encode,
)
from tests.cli.process import Home
from tests.double.chat.build import call, reply, script, text, turn
from tests.double.client import Double
from tests.double.steps import gate

SESSION = "session-2026-12-01-09-00-00-0a1b2c3d"
META = SessionMeta(SESSION, "p", "m", 1000, "prompt", "/state", "/work")
USAGE = TokenCounts.of(cache_write=10, output=2)


def turn_of(*content: OmniMessage, number: int = 1) -> list[OmniMessage]:
    usage = USAGE
    for _ in range(number - 1):
        usage += USAGE
    return [om.request_begin(), *content, om.token_usage(usage, USAGE), om.request_end()]


def begun(*rest: OmniMessage) -> list[OmniMessage]:
    return [om.session_meta(META), om.user_text("go"), om.tool_list_ready([TOOL]), *rest]


TOOL = om.ToolSchema("t", "A tool.", om.opaque(b'{"type":"object"}'))
CALLS = [om.tool_call("t", "{}", name) for name in ("done", "no", "half", "never")]
CRASHED = begun(
    *turn_of(*CALLS),
    om.approval_decision("allow", "done"),
    om.tool_call_output("ran", "done"),
    om.approval_decision("deny", "no"),
    om.approval_decision("allow", "half"),
)


def written(folder: Path, messages: list[OmniMessage], number: int = 1) -> Path:
    path = folder / f"{SESSION}_{number:03d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamped = (replace(message, timestamp=f"2026-12-01T09:0{number}:{n:06.3f}Z") for n, message in enumerate(messages))
    path.write_bytes(b"".join(encode(message) + b"\n" for message in stamped))
    return path


def traces(home: Home) -> Path:
    return home.data / "default_project/agents/default_agent/traces/2026-12-01"


def test_a_session_that_ended_well(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(call("read_file", {"path": "."})), reply("Done.")))
    assert home_with_model.penguin("run", "-m", "go", "--approve", "allow-all").code == 0
    before = home_with_model.traces[0].read_bytes()
    done = home_with_model.penguin("trace", "verify", home_with_model.traces[0].stem[:-4])
    assert done.code == 0, done.out
    assert "✓ obeys the protocol (strict)" in done.out
    assert "✓ Law 2, requests follow from it: 2 requests" in done.out
    assert "committed    4 messages in 2 turns" in done.out
    assert "writes first nothing" in done.out
    assert home_with_model.traces[0].read_bytes() == before
    assert [path.suffix for path in home_with_model.traces[0].parent.iterdir()] == [".jsonl"]


def test_what_a_crash_left_open_is_told_call_by_call(home: Home) -> None:
    """B001."""
    written(traces(home), CRASHED)
    done = home.penguin("trace", "verify", "0a1b2c3d")
    assert done.code == 0, done.out
    assert "open         3 tool calls" in done.out
    for effect in ("finished  t", "refused   t", "uncertain t", "not run   t"):
        assert effect in done.out
    report = json.loads(home.penguin("trace", "verify", "0a1b2c3d", "--json").out)
    assert report["ok"]
    resume = report["resume"]
    assert [(each["tool_call_id"], each["effect"]) for each in resume["calls"]] == [
        ("done", "finished"),
        ("no", "refused"),
        ("half", "uncertain"),
        ("never", "not run"),
    ]
    assert [(each["type"], each["tool_call_id"]) for each in resume["closing"]] == [
        ("tool_call_output", "no"),
        ("tool_call_output", "half"),
        ("tool_call_output", "never"),
    ]


def test_a_torn_end_is_skipped_and_no_fault(home: Home) -> None:
    path = written(traces(home), [*begun(om.request_begin(), om.assistant_text("half"))])
    path.write_bytes(path.read_bytes() + b'{"type":"model_m')
    done = home.penguin("trace", "verify", str(path))
    assert done.code == 0, done.out
    assert "the last line is torn" in done.out
    assert "open         a request" in done.out
    assert f"skips        line 6 of {path.name}" in done.out
    assert "request_end, aborted (process_exited)" in done.out


def test_a_completed_compaction_owes_the_whole_head_of_its_next_file(home: Home) -> None:
    summary = om.assistant_text("[summary]All is well.[/summary]")
    compaction = [
        om.compaction_begin("manual", "summarize", context=12, turns=1),
        om.user_text("Summarize.", sender="harness"),
        *turn_of(summary, number=2),
        om.compaction_end("manual", "summarize", "completed", attempt=1),
    ]
    written(traces(home), begun(*turn_of(om.assistant_text("Yes.")), *compaction))
    done = home.penguin("trace", "verify", "0a1b")
    assert done.code == 0, done.out
    for record in ("session_meta of the next file", "tool_list_ready", "text: [context_summary] All is well."):
        assert record in done.out


def test_a_session_at_work_is_no_fault_and_its_writer_is_named(home_with_model: Home, double: Double) -> None:
    double.load(script(turn(text("Still "), gate(), text("here"))))
    with home_with_model.on_terminal("run", "-m", "go") as terminal:
        terminal.expect("Still")
        session = home_with_model.traces[0].stem.removesuffix("_001")
        done = home_with_model.penguin("trace", "verify", session)
        assert done.code == 0, done.out
        assert "being written by process" in done.out
        assert "open         a request" in done.out
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    done = home_with_model.penguin("trace", "verify", session)
    assert "being written" not in done.out
    assert "aborted (process_exited)" in done.out


def test_what_is_wrong_ends_with_1(home: Home) -> None:
    wrong = begun(*turn_of(om.assistant_text("Yes.")), om.tool_call_output("?", "nobody"))
    path = written(traces(home), wrong)
    done = home.penguin("trace", "verify", str(path))
    assert done.code == 1
    assert f"✗ {path.name}:8 " in done.out
    garbage = written(traces(home), [om.user_text("no head")])
    done = home.penguin("trace", "verify", str(garbage))
    assert done.code == 1
    assert "✗ it cannot be resumed: " in done.out
    assert home.penguin("trace", "verify", "nothing").code == 2
    assert home.penguin("trace", "verify", "/no/where.jsonl").code == 2


def test_a_file_that_is_not_the_newest_is_told_as_such(home: Home) -> None:
    first = written(traces(home), begun(*turn_of(om.assistant_text("Yes."))))
    written(traces(home), begun(), number=2)
    assert "A resume, if this file were the newest\n" in home.penguin("trace", "verify", str(first)).out
    assert "A resume\n" in home.penguin("trace", "verify", "0a1b2c3d").out


def test_files_of_other_writers_pass_when_asked(home: Home) -> None:
    path = written(traces(home), begun(*turn_of(om.assistant_text("Yes."))))
    path.write_text(path.read_text().replace('"status":"completed"', '"status":"completed","colour":"red"'))
    assert home.penguin("trace", "verify", "--lenient", str(path)).code == 0


def forgets_the_head(state: Context, message: OmniMessage) -> Context:
    return state if isinstance(message.payload, SessionMeta) and state.messages else fold(state, message)


def forgets_at_a_request(state: Context, message: OmniMessage) -> Context:
    fold(state, message)
    if isinstance(message.payload, RequestBegin) and state.turns:
        del state.messages[:1]
    return state


def drops_outputs(state: Context, message: OmniMessage) -> Context:
    is_output = isinstance(message.payload, ToolCallOutput)
    return state if is_output else fold(state, message)


def falls_over(state: Context, message: OmniMessage) -> Context:
    assert not isinstance(message.payload, Abort)
    return fold(state, message)


@pytest.mark.parametrize(
    ("broken", "law"), [(forgets_the_head, 1), (forgets_at_a_request, 2), (drops_outputs, 3), (falls_over, 3)]
)
def test_each_law_can_break(tmp_path: Path, broken: Callable[[Context, OmniMessage], Context], law: int) -> None:
    first = written(tmp_path, begun(*turn_of(om.assistant_text("One."))))
    messages = [*CRASHED, *(om.tool_call_output("late", name) for name in ("no", "half", "never"))]
    second = written(tmp_path, [*messages, *turn_of(om.assistant_text("Two."), number=2), om.abort()], number=2)
    sound = check_laws([first, second])
    assert (sound.breaches, sound.requests) == ((), 2)
    assert law in {breach.law for breach in check_laws([first, second], broken).breaches}


CALL, OUTPUT, SAID = ToolCall("assistant", "t", "{}", "a"), ToolCallOutput("user", "", "a"), Text("user", "hi")


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ([SAID, CALL, OUTPUT, SAID], None),
        ([CALL], "has no output"),
        ([CALL, CALL, OUTPUT], "twice"),
        ([OUTPUT], "is no call"),
        ([CALL, OUTPUT, OUTPUT], "is no call"),
        ([CALL, SAID, OUTPUT], "the user speaks"),
        ([CALL, ToolCall("assistant", "t", "{}", "b"), ToolCallOutput("user", "", "b"), OUTPUT], "answers 'a'"),
    ],
)
def test_what_does_not_pair_up_is_found(context: list[CompletePayload], problem: str | None) -> None:
    found = Pairs().ends_with(context)
    assert (found is None) if problem is None else (found is not None and problem in found)
