"""Interruptions: behind every message of a task's stream, in every way to leave it. `python -m tests.matrix.abort`."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from penguin_harness import OmniMessage, PartialToolCallOutput, RequestEnd, Run, ToolCall
from penguin_harness.contracts import Model, ModelRef
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import Abort
from penguin_harness.trace import read_messages
from tests.double import steps
from tests.double.chat.build import MODEL, Endpoint, Turn, call, reply, script, text, thinking, turn
from tests.double.chat.prefix import check_prefix
from tests.double.client import Double
from tests.engine.test_context import assert_legal
from tests.matrix.sweep import command
from tests.matrix.twin import resume, say
from tests.support import Watched, live_context, quiet, texts, until, watched

KEY = "sk-test-123456"
ENDPOINT = Endpoint(key=KEY, reasoning_fields=("reasoning_content",))
MOST = {"endless": 48, "whole": 64}
"""More messages than the stream of each task has; a point behind the last one finds the task at its end."""

Way: TypeAlias = Literal["abort", "leave", "cancel", "close"]
WAYS: tuple[Way, ...] = ("abort", "leave", "cancel", "close")


class Point(Struct, frozen=True):
    """How and behind which message of which task."""

    task: Literal["endless", "whole"]
    way: Way
    count: int

    def __str__(self) -> str:
        return f"{self.way} behind message {self.count} of the {self.task} task"


def points() -> list[Point]:
    return [Point(task, way, count) for task in ("endless", "whole") for way in WAYS for count in range(MOST[task] + 1)]


def answers(point: Point) -> list[Turn]:
    """An attempt that breaks off behind a call, the answer with all calls, and the end that only one task reaches."""
    words = (thinking("I must look.", parts=2), text("I look — 👩‍💻.", parts=2))
    quick = call("exec_command", {"command": "printf done"}, id="quick", parts=2)
    long = "echo working; sleep 60" if point.task == "endless" else "echo working"
    calls = (
        quick,
        call("exec_command", {"command": long}, id="long", index=1, parts=3),
        call("exec_command", {"command": "printf asked"}, id="asked", index=2, parts=2),
    )
    return [
        turn(*words, quick, text("And "), steps.cut("reset")),
        turn(*words, *calls),
        turn(thinking("Seen."), text("All is seen.", parts=3)),
    ]


async def prove(point: Point, folder: Path, *, double: Double) -> None:
    double.reset()
    double.load(script(*answers(point), endpoint=ENDPOINT))
    async with watched(folder, new_model(double)) as session:
        run = Interrupted(session, point)
        await run.play()
        run.assert_interrupted()
        assert_no_process(folder)
        session.forget_stream()
        double.load(script(reply("Going on."), reply("And on."), endpoint=ENDPOINT))
        if point.way != "close":
            assert texts(await session.run("again")) == ["Going on."]
        history = session.session.history
        context = live_context(session.session)
        await session.session.close()
        async with await resume(folder, session.session.session_id, new_model(double)) as resumed:
            assert resumed.history == history
            assert live_context(resumed) == context
            expected = "Going on." if point.way == "close" else "And on."
            assert texts(await say(resumed, "and now?")) == [expected]
            assert_legal(resumed.history)
        session.inputs += 1
    assert_accepted(double)


def new_model(double: Double) -> Model:
    return create_model(ModelRef("custom", MODEL), base_url=double.url, api_key=KEY)


class Interrupted:
    """A run that is left behind the wanted message, or where nothing more will come."""

    def __init__(self, session: Watched, point: Point) -> None:
        self.session = session
        self.point = point
        self.in_wait = False
        self.ended = False
        self._asked = asyncio.Event()
        self._answered = asyncio.Event()
        self._left = 0.0

    async def play(self) -> None:
        run = self.session.start("look", approve=self._approve)
        if self.point.way == "cancel":
            await self._cancelled(run)
        else:
            await self._read(run)
        del run
        await quiet(self.session.session)
        if self._left:
            assert time.monotonic() - self._left < 1.0, "an interruption takes less than a second"

    async def _read(self, run: Run) -> None:
        if self.point.count == 0:
            await self._leave(run)
            if self.point.way == "leave":
                return
        async for message in run:
            self.session.see(message)
            if not self._left and await self._is_here(run, message):
                await self._leave(run)
                if self.point.way == "leave":
                    return
        self.ended = not self._left

    async def _cancelled(self, run: Run) -> None:
        """The task that reads is cancelled while it waits for what comes next."""
        here, release = asyncio.Event(), asyncio.Event()

        async def read() -> None:
            async for message in run:
                self.session.see(message)
                if not here.is_set() and await self._is_here(run, message):
                    here.set()
                    await release.wait()
            self.ended = True

        reader = asyncio.create_task(read())
        if self.point.count:
            await until(lambda: here.is_set() or reader.done())
        if not reader.done():
            self._left = time.monotonic()
            reader.cancel()
        try:
            await reader
        except asyncio.CancelledError:
            assert self._left

    async def _leave(self, run: Run) -> None:
        self._left = time.monotonic()
        match self.point.way:
            case "close":
                await self.session.session.close()
            case "abort":
                run.abort()
                run.abort()
            case "leave" | "cancel":
                pass

    async def _is_here(self, run: Run, message: OmniMessage) -> bool:
        """Whether to leave now; otherwise let the task go on."""
        here = len(self.session.stream) == self.point.count or self._is_stuck(message)
        end = message.payload if isinstance(message.payload, RequestEnd) else None
        if end is not None and end.retry_in_ms is not None:
            if here and not live_context(self.session.session).open_calls():
                await self._reach_the_wait()
            elif not here:
                run.retry_now()
        elif end is not None and self.point.task == "whole":
            self._answered.set()
        return here

    async def _reach_the_wait(self) -> None:
        execution = self.session.session._execution  # pyright: ignore[reportPrivateUsage]
        assert execution is not None
        await until(lambda: execution.control.interrupts == "backoff_interrupted")
        self.in_wait = True

    def _is_stuck(self, message: OmniMessage) -> bool:
        """Whether only the endless tool and the question that nobody answers are left, the tool having spoken."""
        left = {call.call.tool_call_id for call in live_context(self.session.session).open_calls()}
        spoke = isinstance(message.payload, PartialToolCallOutput) and "working" in message.payload.output
        return spoke and left == {"long", "asked"} and self._asked.is_set()

    async def _approve(self, tool_call: ToolCall) -> Any:
        if tool_call.tool_call_id.startswith("asked"):
            self._asked.set()
            await self._answered.wait()
        return "allow"

    def assert_interrupted(self) -> None:
        """One abort event with the right code, or none where the task had come to its end."""
        recorded = list(read_messages(self.session.session.trace_path))
        aborts = [message.payload for message in recorded if isinstance(message.payload, Abort)]
        if self.ended:
            assert aborts == []
        elif aborts:
            [abort] = aborts
            assert recorded[-1].payload == abort
            assert abort.error_code in allowed_codes(recorded, in_wait=self.in_wait)
        else:
            assert texts(recorded)[-1] == "All is seen.", "only behind its last message a run has nothing to interrupt"


def allowed_codes(recorded: Sequence[OmniMessage], *, in_wait: bool) -> set[str]:
    """`backoff_interrupted` in a wait. While a failed attempt's tools still end, the wait may have begun or not."""
    if in_wait:
        return {"backoff_interrupted"}
    ends = [m.payload for m in recorded if m.payload.type in ("request_begin", "request_end")]
    last = ends[-1] if ends else None
    waits = isinstance(last, RequestEnd) and last.retry_in_ms is not None
    return {"user_abort", "backoff_interrupted"} if waits else {"user_abort"}


def assert_no_process(folder: Path) -> None:
    """Nothing still works in the workspace."""
    at_work: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder.resolve()):
                at_work.append((process / "cmdline").read_bytes().decode())
        except OSError:  # it has ended, or is not ours to look at
            continue
    assert at_work == []


def assert_accepted(double: Double) -> None:
    """No request was refused, and each goes on where the one before it stopped."""
    assert double.refusals() == []
    sent = [request.body for request in double.requests()]
    for before, after in itertools.pairwise(sent):
        assert list(check_prefix(before, after, ENDPOINT)) == []


def main() -> None:
    with Double() as double:
        command("abort", points(), partial(prove, double=double))


if __name__ == "__main__":
    main()
