"""The busy run that `kill` kills: a model that decides by what it is told, and tools that leave countable marks."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path

import msgspec

from penguin_harness import (
    InputError,
    OmniMessage,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    user_text,
)
from penguin_harness.contracts import CallDelta, ModelItem, ModelRef, Outcome, Request, TextDelta, ThinkingDelta
from penguin_harness.engine.carry import UNCERTAIN
from penguin_harness.omnimessage import CompletePayload, PartialPayload, decode, encode
from penguin_harness.tools import ToolContext
from penguin_harness.trace import read_messages
from penguin_harness.trace.entries import MODEL, producer_of
from tests.support import allow, new_agent

STEPS, WIDTH = 3, 4
UNITS = [[f"u{step}-{slot}" for slot in range(WIDTH)] for step in range(STEPS)]
DONE = "All is done."
PACE = 0.004
"""Seconds between two pieces of the model's."""

BEAT = 0.02
"""Seconds between two beats of the event loop, by which a life is measured: on a busy machine it has fewer."""

LATEST = 7
"""Beats before its death in which a process may have shown what is lost: 0.1 s, and the one that was under way."""

_UNIT = re.compile(r"u\d-\d")
_TOLD = re.compile(r"Tool call \w+ (\{[^\n]*\})\nOutput \(\w+\):\n(.*?)(?=\n\nT|\[/turn_aborted\])", re.DOTALL)


class Busy:
    """Does each unit of work once; implements the contract `Model` and remembers nothing itself."""

    def __init__(self, life: int) -> None:
        self._life = life
        self._requests = 0

    @property
    def ref(self) -> ModelRef:
        return ModelRef("script", "busy")

    @property
    def context_window(self) -> int:
        return 1_000_000

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        self._requests += 1
        for delta in self._answer(told(request.messages)):
            await asyncio.sleep(PACE)
            yield delta
        yield Outcome("completed")

    async def aclose(self) -> None:
        return

    def _answer(self, known: dict[str, str]) -> Iterator[ModelItem]:
        here = f"life {self._life}, request {self._requests}: "
        step = next((step for step in UNITS if any(known.get(unit) != "done" for unit in step)), None)
        yield from (ThinkingDelta(piece) for piece in pieces(here + "I think about what is left to do. " * 8))
        if step is None:
            yield TextDelta(DONE)
            return
        yield from (TextDelta(piece) for piece in pieces(here + "I say at length what I do next. " * 16))
        for index, unit in enumerate(step):
            if known.get(unit) != "done":
                name, arguments = action(unit, known.get(unit), index)
                yield CallDelta(index, id=f"{unit}-{self._life}-{self._requests}", name=name)
                yield from (CallDelta(index, piece) for piece in pieces(arguments))


def pieces(text: str, size: int = 6) -> Iterator[str]:
    return (text[place : place + size] for place in range(0, len(text), size))


def action(unit: str, known: str | None, index: int) -> tuple[str, str]:
    """The call for a unit: look when it may have been done, else do it, by a function or by a command in turn."""
    if known == "uncertain":
        return "look", msgspec.json.encode({"unit": unit}).decode()
    if index % 2:
        return "mark", msgspec.json.encode({"unit": unit, "why": "because it is still open, " * 3}).decode()
    command = f"echo begin; sleep 0.0{index}; printf x >> {unit}; printf 'did '; sleep 0.3; echo '{unit}.'"
    return "exec_command", msgspec.json.encode({"command": command}).decode()


def told(messages: Sequence[CompletePayload]) -> dict[str, str]:
    """What the model knows of each unit, from what it was told and nothing else."""
    known: dict[str, str] = {}
    calls: dict[str, str] = {}
    for payload in messages:
        match payload:
            case ToolCall(tool_call_id=call, arguments=arguments):
                calls[call] = arguments
            case ToolCallOutput(tool_call_id=call, output=output):
                learn(known, calls[call], output)
            case Text(role="user", text=text):
                for arguments, output in _TOLD.findall(text):
                    learn(known, arguments, output)
            case _:
                pass
    return known


def learn(known: dict[str, str], arguments: str, output: str) -> None:
    found = _UNIT.search(arguments)
    assert found is not None, arguments
    unit = found[0]
    if known.get(unit) == "done" or f"did {unit}." in output or f"present {unit}." in output:
        known[unit] = "done"
    elif UNCERTAIN in output:
        known[unit] = "uncertain"
    elif f"absent {unit}." in output:
        known.pop(unit, None)


async def mark(context: ToolContext, unit: str, why: str) -> str:
    """Do a unit of work."""
    await context.write(f"begin {why}\n")
    await asyncio.sleep(0.02)
    with (context.workspace / unit).open("a") as file:
        file.write("x")
    await context.write("did ")
    await asyncio.sleep(0.3)
    return f"{unit}."


async def look(context: ToolContext, unit: str) -> str:
    """Whether a unit is done."""
    return f"{'present' if (context.workspace / unit).exists() else 'absent'} {unit}."


async def live(folder: Path, life: int, *, killed: bool) -> None:
    """One process of the session, to the end of its task; `killed` says whether the one before did not get there."""
    agent = await new_agent(folder)
    begun = [files for files in agent.sessions() if files.newest.stat().st_size]
    model, tools = Busy(life), [mark, look]
    if not begun:
        session = await agent.create_session(workspace=folder / "work", model=model, tools=tools)
    else:
        session = await agent.resume_session(begun[0].session_id, model=model, tools=tools)
    async with session:
        seen = assert_seen_is_known(folder / "screen", session) if killed and begun else 0
        (folder / "found").write_text(f"{seen} {len(session.recovery.halves)}")
        (folder / "screen").unlink(missing_ok=True)
        await watch(session, folder / "screen", inputs=[] if life % 2 and begun else [user_text("Do it all.")])
    assert not list(folder.rglob("*.tail"))


async def watch(session: Session, screen: Path, inputs: list[OmniMessage]) -> None:
    """Run the task, and put everything that is seen on a screen that outlives the process."""
    file = os.open(screen, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    loop, beats = asyncio.get_running_loop(), 0

    def beat() -> None:
        nonlocal beats, timer
        beats += 1
        os.write(file, f"{beats} \n".encode())
        timer = loop.call_later(BEAT, beat)

    timer = loop.call_later(BEAT, beat)
    try:
        run = session.run(inputs, approve=allow)
        async for message in run:
            os.write(file, f"{beats} ".encode() + encode(message) + b"\n")
    except InputError:  # the life before died between its last record and its end
        return
    finally:
        timer.cancel()
        os.close(file)


def assert_seen_is_known(screen: Path, session: Session) -> int:
    """What was on the screen long enough before the death is not lost; how many open segments that are."""
    lines = [line.split(b" ", 1) for line in screen.read_bytes().splitlines()] if screen.exists() else []
    died = int(lines[-1][0]) if lines else 0
    open_texts: dict[str, str] = {}
    for at, line in ((at, line) for at, line in lines if line):
        match decode(line).payload:
            case PartialText() | PartialThinking() | PartialToolCall() | PartialToolCallOutput() as payload:
                if payload.event_type == "start":
                    open_texts[producer_of(payload)] = ""
                elif int(at) <= died - LATEST:
                    open_texts[producer_of(payload)] += content(payload)
            case ToolCallOutput(tool_call_id=call):
                open_texts.pop(call, None)
            case Text(role="assistant") | Thinking() | ToolCall():
                open_texts.pop(MODEL, None)
            case _:
                pass
    known = [content(half) for half in session.recovery.halves] + recorded(session)
    seen = list(filter(None, open_texts.values()))
    for text in seen:
        assert any(one.startswith(text) for one in known), f"known: {known[-8:]}, seen and lost: {text!r}"
    return len(seen)


def content(payload: CompletePayload | PartialPayload) -> str:
    names = ("text", "thinking", "arguments", "output")
    return next((str(getattr(payload, name)) for name in names if hasattr(payload, name)), "")


def recorded(session: Session) -> list[str]:
    payloads = (message.payload for message in read_messages(session.trace_path))
    return [content(payload) for payload in payloads if isinstance(payload, CompletePayload)]
