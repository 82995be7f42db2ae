"""Faults of the provider: each of them at every chunk of every answer of a task. `python -m tests.matrix.fault`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness import OmniMessage, RequestEnd, Session, Text, ToolCall, ToolCallOutput
from penguin_harness.contracts import Model, ModelRef
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import CompletePayload
from tests.double import steps
from tests.double.chat import build
from tests.double.chat.build import MODEL, Endpoint, Turn, call, reply, script, text, thinking, turn
from tests.double.client import Double
from tests.double.script import Event, Step
from tests.engine.test_context import assert_legal
from tests.matrix.sweep import command
from tests.matrix.twin import copy_files, resume, say
from tests.support import live_context, outputs, texts, watched

KEY = "sk-test-123456"
FINAL = "All is counted."


class Fault(Struct, frozen=True):
    """What goes wrong, and how the engine names it."""

    steps: tuple[Step, ...]
    code: str
    spoken: bool = False
    """Whether the provider says something; silence no longer matters once the finish reason is there."""
    garbles: bool = False
    """Whether the rest of the answer still follows."""
    status: int | None = None
    """An HTTP status instead of a stream."""


FAULTS = {
    "reset": Fault(tuple(steps.cut("reset")), "network"),
    "clean-cut": Fault(tuple(steps.cut("end")), "malformed"),
    "cut-in-the-body": Fault(tuple(steps.cut("close")), "network"),
    "torn-chunk": Fault((*steps.raw(b'data: {"choices": [{"del'), *steps.cut("end")), "malformed", spoken=True),
    "stall": Fault(tuple(steps.stall()), "timeout"),
    "error": Fault(tuple(build.error("Overloaded", code="overloaded_error")), "network", spoken=True),
    "garbage": Fault(tuple(steps.line('{"choices": [{"del')), "malformed", spoken=True, garbles=True),
    "429": Fault((), "network", status=429),
    "500": Fault((), "network", status=500),
}


class Point(Struct, frozen=True):
    """One fault in one answer, in front of one of its chunks."""

    fault: str
    answer: int
    chunk: int

    def __str__(self) -> str:
        return f"{self.fault} in answer {self.answer}, before chunk {self.chunk}"


def task(mark: str = "") -> list[Turn]:
    """Two parallel calls, one more under an id that was used before, and the end; `mark` tells attempts apart."""
    first = turn(
        thinking("I must count.", parts=2),
        text("I count twice.", parts=2),
        call("count", {"name": f"a{mark}"}, id="a", parts=2),
        call("count", {"name": f"b{mark}"}, id="b", index=1, parts=2),
    )
    second = turn(text("Once more."), call("count", {"name": f"c{mark}"}, id="a", parts=2))
    return [first, second, turn(text(FINAL, parts=3))]


def points() -> list[Point]:
    found: list[Point] = []
    for answer, one in enumerate(task()):
        for name, fault in FAULTS.items():
            chunks = [0] if fault.status else range(len(one.steps) + 1)
            found += [Point(name, answer, chunk) for chunk in chunks]
    return found


def faulty(one: Turn, point: Point) -> Turn:
    """The answer with the fault in it."""
    fault = FAULTS[point.fault]
    if fault.status is not None:
        return build.fails(fault.status, "slow down", headers={"Retry-After": "3"} if fault.status == 429 else None)
    rest = one.steps[point.chunk :] if fault.garbles else ()
    return replace(one, steps=(*one.steps[: point.chunk], *fault.steps, *rest))


def is_retried(one: Turn, point: Point) -> bool:
    """Whether the answer is not whole when the fault comes."""
    fault = FAULTS[point.fault]
    last = _place(one, _is_usage if fault.spoken else _is_finish)
    return fault.status is not None or point.chunk <= last


def _place(one: Turn, wanted: Callable[[dict[str, Any]], bool]) -> int:
    return next(number for number, step in enumerate(one.steps) if isinstance(step, Event) and wanted(step.data))


def _is_usage(chunk: dict[str, Any]) -> bool:
    return bool(chunk.get("usage"))


def _is_finish(chunk: dict[str, Any]) -> bool:
    return any(choice.get("finish_reason") for choice in chunk["choices"])


async def prove(point: Point, folder: Path, *, double: Double) -> None:
    answers = task()
    retried = is_retried(answers[point.answer], point)
    again = [task("-again")[point.answer]] if retried else []
    answers[point.answer : point.answer + 1] = [faulty(answers[point.answer], point), *again]
    double.reset()
    double.load(script(*answers, endpoint=Endpoint(key=KEY, reasoning_fields=("reasoning_content",))))

    def count(name: str) -> str:
        """Count a name."""
        with (folder / f"{name}.count").open("a") as file:
            file.write(".")
        return f"counted {name}"

    model = new_model(double, point)
    async with watched(folder, model, [count]) as session:
        seen = await session.run("count")
        assert texts(seen)[-1] == FINAL
        assert_failed(seen, FAULTS[point.fault], retried=retried)
        assert_ran_once(seen, folder)
        assert_told(seen, session.session.history)
        session.inputs += 1
        session.forget_stream()
        await assert_resumes(session.session, folder, double, new_model(double, point), count)
    assert double.refusals() == []
    assert double.left() == 0


def new_model(double: Double, point: Point) -> Model:
    idle = 0.2 if point.fault == "stall" else 10.0
    ref = ModelRef("custom", MODEL)
    return create_model(ref, base_url=double.url, api_key=KEY, idle_timeout=idle, content_timeout=10.0)


def assert_failed(seen: list[OmniMessage], fault: Fault, *, retried: bool) -> None:
    """One attempt failed, under its name, with the wait that the server asked for; or none at all did."""
    failed = [m.payload for m in seen if isinstance(m.payload, RequestEnd) and m.payload.status != "completed"]
    wait = 3000 if fault.status == 429 else 2000
    expected = [("retryable", fault.code, 1, wait)] if retried else []
    assert [(end.status, end.error_code, end.attempt, end.retry_in_ms) for end in failed] == expected


def assert_ran_once(seen: list[OmniMessage], folder: Path) -> None:
    """Each call ran as often as its output says: a committed one once, one of a failed attempt at most once."""
    said = outputs(seen)
    committed = committed_calls(seen)
    ran: Counter[str] = Counter()
    for tool_call in (m.payload for m in seen if isinstance(m.payload, ToolCall)):
        output, stop_reason = said.get(tool_call.tool_call_id, ("", "cut"))
        if tool_call.tool_call_id in committed:
            assert stop_reason == "completed", f"{tool_call} was committed and ended as {stop_reason}"
        if stop_reason == "completed":
            ran[output.removeprefix("counted ")] += 1
    files = {path.stem: len(path.read_text()) for path in folder.glob("*.count")}
    assert files == ran
    assert set(ran.values()) == {1}


def assert_told(seen: list[OmniMessage], history: Sequence[CompletePayload]) -> None:
    """The model is told of everything that a failed attempt had said, and of what its tools did."""
    assert_legal(history)
    words = "".join(payload.text for payload in history if isinstance(payload, Text))
    for payload in (message.payload for message in seen):
        if isinstance(payload, Text) and payload.stop_reason == "retryable":
            assert payload.text.strip() in words
        elif isinstance(payload, ToolCallOutput) and payload not in history:
            assert payload.output in words


def committed_calls(seen: list[OmniMessage]) -> set[str]:
    """The ids of the calls whose request completed."""
    committed: set[str] = set()
    latest: set[str] = set()
    for payload in (message.payload for message in seen):
        match payload:
            case ToolCall(tool_call_id=call_id):
                latest.add(call_id)
            case RequestEnd(status=status):
                committed |= latest if status == "completed" else set()
                latest = set()
            case _:
                continue
    return committed


async def assert_resumes(
    session: Session, folder: Path, double: Double, model: Model, tool: Callable[[str], str]
) -> None:
    """A copy that is resumed holds the same context, and its next request is the same, byte for byte."""
    copy = copy_files(folder, folder / "copy")
    async with await resume(copy, session.session_id, model, [tool]) as twin:
        assert live_context(twin) == live_context(session)
        double.extend(reply("Nothing."), reply("Nothing.", context="new"))
        await say(session, "and now?")
        await say(twin, "and now?")
        assert twin.history == session.history
    *_, one, other = double.requests()
    assert one.body == other.body


def main() -> None:
    with Double() as double:
        command("fault", points(), partial(prove, double=double))


if __name__ == "__main__":
    main()
