"""Running sessions in tests: everything that a run streams and records is checked on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from penguin_harness import Agent, OmniMessage, Run, Session, create_agent, user_text
from penguin_harness.agent import AnyTool
from penguin_harness.contracts import Model
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import Decision, Text, ToolCall, ToolCallOutput, encode, is_recorded
from penguin_harness.omnimessage.check import Checker, check
from penguin_harness.trace import read_lines, read_messages

LIMIT = 20.0
"""Seconds that anything may take before a test gives up on it."""


def live_context(session: Session) -> Context:
    """What the running engine holds."""
    return session._outlet.context  # pyright: ignore[reportPrivateUsage]


def folded(path: Path) -> Context:
    """What the Trace on disk folds to."""
    state = Context()
    for message in read_messages(path):
        fold(state, message)
    return state


def assert_law_1(session: Session) -> None:
    """Folding the Trace from disk gives the state that the running engine holds."""
    if session.trace_path.exists():
        assert folded(session.trace_path) == live_context(session)


def allow(_: ToolCall) -> Decision:
    """Every call may run."""
    return "allow"


class Watched:
    """A session whose streams and Trace are checked: Law 1 after each message, the protocol at the end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.stream: list[OmniMessage] = []
        self.inputs = 0
        self._whole = True
        self._checker = Checker("stream")

    async def run(self, text: str | None = "go", **options: Any) -> list[OmniMessage]:
        """One run to its end; what it streamed."""
        return await self.read(self.start(text, **options))

    def start(self, text: str | None = "go", **options: Any) -> Run:
        """A run that the test reads itself, through `see`."""
        options.setdefault("approve", allow)
        self.inputs += text is not None
        return self.session.run([] if text is None else [user_text(text)], **options)

    async def read(self, run: Run) -> list[OmniMessage]:
        """What is left of a run; no wait before a retry is sat out."""
        seen: list[OmniMessage] = []
        async with asyncio.timeout(LIMIT):
            async for message in run:
                seen.append(self.see(message))
                run.retry_now()
        return seen

    def see(self, message: OmniMessage) -> OmniMessage:
        """Take note of a message of the stream, and hold it to the protocol and to Law 1."""
        self._checker.feed(message)
        self.stream.append(message)
        if is_recorded(message):
            assert_law_1(self.session)
        return message

    def forget_stream(self) -> None:
        """A part of the stream was not read: only the Trace is checked at the end."""
        self._whole = False

    def check(self) -> None:
        """The whole of it: stream, Trace, and that they are the same."""
        if not self.session.trace_path.exists():
            assert self.stream == []
            return
        lines = list(read_lines(self.session.trace_path))
        assert_conforms(check(lines, "trace", finished=True))
        if not self._whole:
            return
        assert_conforms(self._checker.report(finished=True))
        streamed = [encode(message) for message in self.stream if is_recorded(message)]
        left = list(lines)
        for line in streamed:
            left.remove(line)
        kept = [line for line in lines if line in set(streamed)]
        assert kept == streamed, "what streamed is what is recorded, in the same order"
        assert len(left) == 1 + self.inputs, "only the meta record and the caller's input are recorded alone"


def assert_conforms(report: Any) -> None:
    assert report.violations == (), "\n".join(map(str, report.violations[:5]))


@asynccontextmanager
async def watched(
    folder: Path, model: Model | None = None, tools: Sequence[AnyTool] = (), **options: Any
) -> AsyncGenerator[Watched]:
    """A fresh session with a scripted model, in a folder of its own; checked when it is closed."""
    agent = await new_agent(folder)
    (folder / "work").mkdir(parents=True, exist_ok=True)
    async with await agent.create_session(workspace=folder / "work", model=model, tools=tools, **options) as session:
        watcher = Watched(session)
        yield watcher
        await quiet(session)
    watcher.check()


async def new_agent(folder: Path) -> Agent:
    return await create_agent(root=folder / "root")


async def quiet(session: Session) -> None:
    """Wait until no run of the session is under way."""
    execution = session._execution  # pyright: ignore[reportPrivateUsage]
    if execution is not None:
        async with asyncio.timeout(LIMIT):
            await execution.wait()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, a bounded time."""
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.001)


def kinds(messages: Iterable[OmniMessage]) -> list[str]:
    """The recorded messages' types."""
    return [message.payload.type for message in messages if is_recorded(message)]


def outputs(messages: Iterable[OmniMessage]) -> dict[str, tuple[str, str]]:
    """Each call's output and its stop reason."""
    return {
        payload.tool_call_id: (payload.output, payload.stop_reason)
        for payload in (message.payload for message in messages)
        if isinstance(payload, ToolCallOutput)
    }


def texts(messages: Iterable[OmniMessage], role: str = "assistant") -> list[str]:
    """The complete texts of one side."""
    payloads = (message.payload for message in messages)
    return [payload.text for payload in payloads if isinstance(payload, Text) and payload.role == role]
