"""Subagents: sessions of their own, live on the parent's stream, under its approval, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import Abort, PartialText, Subagent, TokenCounts, session_cost, user_text
from penguin_harness.contracts import ModelItem, ModelRef, Outcome, Request
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import (
    Decision,
    OmniMessage,
    SessionMetaMessage,
    Text,
    ToolCall,
    ToolCallOutput,
    encode,
)
from penguin_harness.omnimessage.check import check
from penguin_harness.subagents import SubagentLimits
from penguin_harness.trace import find_session, read_lines, read_messages
from tests.support import LIMIT, allow, assert_conforms, new_agent, outputs, texts, until

COUNTED = Outcome("completed", usage=TokenCounts.of(cache_write=10, output=1))


class Cast:
    """A model that plays another script for each task, told apart by its first words."""

    def __init__(self, **parts: list[list[Any]]) -> None:
        self.ref = ModelRef("script", "cast")
        self.context_window = 128_000
        self.parts = {name: Script(turns) for name, turns in parts.items()}
        self.closed = 0

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        first = next(payload.text for payload in request.messages if isinstance(payload, Text))
        part = next(script for name, script in self.parts.items() if first.startswith(name))
        async for item in part.stream(request):
            yield self._counted(item)

    @staticmethod
    def _counted(item: ModelItem) -> ModelItem:
        return (
            Outcome("completed", usage=TokenCounts.of(cache_write=10, output=1))
            if item == Outcome("completed")
            else item
        )

    async def aclose(self) -> None:
        self.closed += 1


def spawn(task: str, id: str = "s", **more: Any) -> ToolCall:  # noqa: A002 - the wire's word
    return call("run_subagent", id=id, task=task, **more)


async def ran(tmp_path: Path, model: Any, *, tools: Any = (), depth: int = 1, **options: Any) -> Any:
    """A session with one run of the task "main", its stream, and the agent."""
    agent = await new_agent(tmp_path)
    (tmp_path / "work").mkdir(exist_ok=True)
    async with await agent.create_session(
        workspace=tmp_path / "work", model=model, tools=tools, subagents=SubagentLimits(depth=depth)
    ) as session:
        seen: list[OmniMessage] = []
        async with asyncio.timeout(LIMIT):
            async for message in session.run([user_text("main")], approve=allow, **options):
                seen.append(message)
        assert_conforms(check(seen, "stream", finished=True))
    for files in agent.sessions():
        for path in files.paths:
            assert_conforms(check(list(read_lines(path)), "trace", finished=True))
    return agent, session, seen


def of(seen: list[OmniMessage], *origin: str) -> list[OmniMessage]:
    return [message for message in seen if (message.origin or ()) == origin]


async def test_a_subagents_stream_is_its_trace_with_an_origin(tmp_path: Path) -> None:
    model = Cast(main=[[spawn("count")], [say("It says three.")]], count=[[say("Three.")]])
    agent, session, seen = await ran(tmp_path, model)
    (child,) = {message.origin[0] for message in seen if message.origin}
    assert isinstance(of(seen, child)[0], SessionMetaMessage)
    assert texts(of(seen, child)) == ["Three."]
    assert outputs(of(seen))["s"] == (f"Three.\n[subagent {child} has finished]", "completed")
    path = find_session(agent.paths.traces, child).newest
    recorded = [m.payload.type for m in read_messages(path)]
    streamed = [m.payload.type for m in of(seen, child) if not m.payload.type.startswith("partial_")]
    assert recorded == ["session_meta", "text", *streamed[1:]], "only the task itself is not streamed"
    pointers = [m.payload for m in read_messages(session.trace_path) if isinstance(m.payload, Subagent)]
    assert [pointer.session_id for pointer in pointers] == [child]
    assert not [m for m in of(seen) if isinstance(m.payload, Subagent)]
    assert model.closed == 1


async def test_two_children_with_equal_call_ids_are_never_confused(tmp_path: Path) -> None:
    """B156."""

    def echo(word: str) -> str:
        """Echo."""
        return word

    def part(word: str) -> list[list[Any]]:
        return [[call("echo", id="same", word=word)], [say(f"I said {word}.")]]

    model = Cast(
        main=[[spawn("left", "a"), spawn("right", "b")], [say("Both.")]], left=part("left"), right=part("right")
    )
    _, _, seen = await ran(tmp_path, model, tools=[echo])
    children = {message.origin[0] for message in seen if message.origin}
    assert len(children) == 2
    for child in children:
        ((said, _),) = outputs(of(seen, child)).values()
        assert texts(of(seen, child)) == [f"I said {said}."]
    assert sorted(text.split("\n")[0] for text, _ in outputs(of(seen)).values()) == ["I said left.", "I said right."]


async def test_the_origin_chain_is_right_at_depth_three(tmp_path: Path) -> None:
    model = Cast(
        main=[[spawn("one")], [say("0")]],
        one=[[spawn("two")], [say("1")]],
        two=[[spawn("three")], [say("2")]],
        three=[[say("3")]],
    )
    _, _, seen = await ran(tmp_path, model, depth=3)
    chains = {message.origin or () for message in seen}
    assert sorted(map(len, chains)) == [0, 1, 2, 3]
    deepest = max(chains, key=len)
    assert [texts(of(seen, *deepest[:n])) for n in range(4)] == [["0"], ["1"], ["2"], ["3"]]
    offered = [request.tools for script in model.parts.values() for request in script.requests[:1]]
    assert ["run_subagent" in [tool.name for tool in tools] for tools in offered] == [True, True, True, False]


async def test_b153_an_abort_reaches_every_descendant(tmp_path: Path) -> None:
    """Three deep, with a tool at work in the deepest: all Traces end in an abort, nothing is left running."""
    model = Cast(
        main=[[spawn("one")]],
        one=[[spawn("two")]],
        two=[[call("exec_command", id="c", command="echo started > started; sleep 60")]],
    )
    agent = await new_agent(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    async with await agent.create_session(workspace=work, model=model, subagents=SubagentLimits(depth=2)) as session:
        run = session.run([user_text("main")], approve=allow)
        seen: list[OmniMessage] = []

        async def read() -> None:
            async for message in run:
                seen.append(message)

        reading = asyncio.create_task(read())
        await until(lambda: (work / "started").exists())
        run.abort()
        async with asyncio.timeout(3):
            await reading
        assert isinstance(seen[-1].payload, Abort)
        assert_conforms(check(seen, "stream", finished=True))
    assert len(agent.sessions()) == 3
    for files in agent.sessions():
        lines = list(read_messages(files.newest))
        assert isinstance(lines[-1].payload, Abort)
        assert_conforms(check([encode(message) for message in lines], "trace", finished=True))


async def test_in_the_background_its_end_is_told_at_the_next_turn(tmp_path: Path) -> None:
    release = asyncio.Event()
    model = Cast(
        main=[
            [spawn("slow", run_in_background=True)],
            [call("let_go", id="g")],
            [say("Waiting.")],
            [say("Now I know.")],
        ],
        slow=[[release, say("At last.")]],
    )
    ended = asyncio.Event()

    async def let_go() -> str:
        """Let it go on."""
        release.set()
        await ended.wait()
        return "gone"

    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=model, tools=[let_go]) as session:
        seen: list[OmniMessage] = []
        async with asyncio.timeout(LIMIT):
            async for message in session.run([user_text("main")], approve=allow):
                seen.append(message)
                if message.origin and message.payload.type == "request_end":
                    asyncio.get_running_loop().call_later(0.05, ended.set)
        assert_conforms(check(seen, "stream", finished=True))
    assert "is still at work" in outputs(of(seen))["s"][0]
    (told,) = texts(of(seen), "user")
    assert told.startswith("At last.\n[subagent session-")


async def test_a_follow_up_goes_to_the_same_session_also_after_a_restart(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    model = Cast(main=[[spawn("count")], [say("Fine.")]], count=[[say("Three.")]])
    async with await agent.create_session(model=model) as session:
        async for _ in session.run([user_text("main")], approve=allow):
            pass
        name = session.session_id
    child = next(files.session_id for files in agent.sessions() if files.session_id != name)
    again = Cast(
        main=[[call("input_subagent", id="f", session_id=child, text="and five?")], [say("Five.")]],
        count=[[say("Five it is.")]],
    )
    async with await agent.resume_session(name, model=again) as session:
        seen = [message async for message in session.run([user_text("more")], approve=allow)]
        assert_conforms(check(seen, "stream", finished=True))
    assert outputs(of(seen))["f"][0].startswith("Five it is.")
    said = [payload.text for payload in again.parts["count"].requests[0].messages if isinstance(payload, Text)]
    assert said == ["count", "Three.", "and five?"]


@pytest.mark.parametrize("cap", [2])
async def test_more_than_the_cap_is_refused(tmp_path: Path, cap: int) -> None:
    gate = asyncio.Event()
    model = Cast(
        main=[
            [spawn("a", f"s{n}", run_in_background=True) for n in range(cap + 1)],
            [call("open", id="o")],
            [say("x")],
        ],
        a=[[gate, say("done")]] * (cap + 1),
    )

    def open() -> str:  # noqa: A001
        """Open the gate."""
        gate.set()
        return "open"

    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=model, tools=[open], subagents=SubagentLimits(cap=cap)) as session:
        seen = [message async for message in session.run([user_text("main")], approve=allow)]
    refused = [text for text, stop in outputs(of(seen)).values() if stop == "fatal"]
    assert len(refused) == 1
    assert f"{cap} subagents are at work" in refused[0]


async def test_b155_a_childs_calls_are_asked_of_the_parents_person(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(one: ToolCall) -> Decision:
        asked.append(one.name)
        return "deny" if one.name == "exec_command" else "allow"

    model = Cast(
        main=[[spawn("work")], [say("Fine.")]],
        work=[[call("exec_command", id="x", command="touch made")], [say("I was refused.")]],
    )
    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=model) as session:
        seen = [message async for message in session.run([user_text("main")], approve=ask)]
        assert not (session.workspace / "made").exists()
    assert asked == ["run_subagent", "exec_command"]
    (child,) = {message.origin[0] for message in seen if message.origin}
    assert outputs(of(seen, child))["x"] == ("Tool call denied by user.", "aborted")


async def test_its_cost_is_in_the_parents_tree(tmp_path: Path) -> None:
    model = Cast(main=[[spawn("count")], [say("Fine.")]], count=[[say("Three.")]])
    _, session, _ = await ran(tmp_path, model)
    found = session_cost([session.trace_path])
    assert (found.own.counts.total, found.total.counts.total) == (22, 33)


async def test_a_childs_fragments_stream_live(tmp_path: Path) -> None:
    model = Cast(main=[[spawn("count")], [say("Fine.")]], count=[[say("A long answer of several pieces, live.")]])
    _, _, seen = await ran(tmp_path, model)
    pieces = [m.payload.text for m in seen if m.origin and isinstance(m.payload, PartialText) and m.payload.text]
    assert len(pieces) > 1
    assert "".join(pieces) == "A long answer of several pieces, live."
    assert [m for m in seen if isinstance(m.payload, ToolCallOutput)]


async def test_a_child_may_have_another_model(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=Script([[say("As recorded.")]])) as session:
        async for _ in session.run([user_text("count")]):
            pass
        recording = str(session.trace_path)
    calls = [
        spawn("count", "other", provider="replay", model_id=recording),
        spawn("count", "half", provider="replay"),
        spawn("count", "none", provider="nobody", model_id="m"),
    ]
    model = Cast(main=[calls, [say("Heard.")]])
    async with await agent.create_session(model=model) as session:
        async with asyncio.timeout(LIMIT):
            seen = [message async for message in session.run([user_text("main")], approve=allow)]
    assert_conforms(check(seen, "stream", finished=True))
    ran = outputs(of(seen))
    assert ran["other"][0].startswith("As recorded.")
    assert "together" in ran["half"][0]
    assert "nobody" in ran["none"][0]
    (child,) = {message.origin[0] for message in seen if message.origin}
    head = of(seen, child)[0]
    assert isinstance(head, SessionMetaMessage)
    assert (head.payload.provider, head.payload.model_id) == ("replay", recording)
