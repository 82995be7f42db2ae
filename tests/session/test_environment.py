"""A session as its agent's files set it up: everything at once in one run, and nothing of it left afterwards."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penguin_harness import ApprovalDecision, ConfigError, Hook, McpConnectEnd, Text, ToolCall, user_text
from penguin_harness.agent import Agent
from penguin_harness.hooks import Answer, TaskEnded, in_process
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import Decision, OmniMessage
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_lines, read_messages
from tests.session.test_subagents import Cast, of, spawn
from tests.support import LIMIT, assert_conforms, new_agent, outputs, texts, until, watched
from tests.tools.mcp.support import HERE
from tests.tools.support import open_files, own_zombies, processes_with
from tests.tools.test_sandbox import needs_sandbox

SERVER = """
mcp_servers:
  - name: workshop
    command: {python}
    args: [{script}, stdio]
"""


async def configured(folder: Path, config: str) -> Agent:
    agent = await new_agent(folder)
    agent.paths.state.mkdir(parents=True, exist_ok=True)
    agent.paths.system_config.write_text(config, encoding="utf-8")
    return agent


def quoted(text: object) -> str:
    return msgspec.json.encode(str(text)).decode()


async def test_everything_at_once_leaves_conforming_records_and_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parallel subagents, a server in the background, an MCP server that dies, a denied and a forbidden call, an
    oversized output, and a hook that goes on.
    """
    mark = f"mark-{uuid4().hex}"
    monkeypatch.setenv("MARKED_BY_TEST", mark)
    files_before = open_files()
    config = SERVER.format(python=quoted(sys.executable), script=quoted(HERE / "workshop.py"))
    agent = await configured(tmp_path, config)
    work = tmp_path / "work"
    work.mkdir()
    serve = f"{quoted(sys.executable)} -u -m http.server 0 --bind 127.0.0.1"
    model = Cast(
        main=[
            [
                spawn("left", "left", yield_time_ms=60_000),
                spawn("right", "right", yield_time_ms=60_000),
                call("exec_command", id="server", command=serve, run_in_background=True),
            ],
            [
                call("mcp__workshop__add", id="add", a=20, b=22),
                call("exec_command", id="denied", command="touch refused"),
                call("exec_command", id="forbidden", command="cd / && sudo rm -rf /"),
                call("exec_command", id="long", command="seq 200000"),
            ],
            [call("mcp__workshop__die", id="die", code=3)],
            [call("mcp__workshop__add", id="dead", a=1, b=1)],
            [say("That is all.")],
            [say("Now it is.")],
        ],
        left=[[call("exec_command", id="same", command="echo left")], [say("Left.")]],
        right=[[call("exec_command", id="same", command="echo right; sleep 1000 & disown")], [say("Right.")]],
        again=[[call("mcp__workshop__add", id="back", a=2, b=3)], [say("Back.")]],
    )
    model.parts["main"] = Sequel(model.parts["main"], model.parts.pop("again"))
    rounds: list[TaskEnded] = []

    def once(ended: TaskEnded) -> Answer | None:
        rounds.append(ended)
        return Answer(decision="continue", text="Look again.") if ended.round == 0 and len(rounds) == 1 else None

    def approve(proposed: ToolCall) -> Decision:
        return "deny" if proposed.tool_call_id == "denied" else "allow"

    seen: list[OmniMessage] = []
    async with await agent.create_session(
        workspace=work, model=model, hooks=[in_process("stop", once, name="persist")]
    ) as session:
        async with asyncio.timeout(LIMIT):
            seen += [message async for message in session.run([user_text("main")], approve=approve)]
            seen += [message async for message in session.run([user_text("once more")], approve=approve)]
        (server,) = session.processes
        assert (server.command, server.exit) == (serve, None), "it is at work as long as the session"
        assert processes_with(mark)
    assert processes_with(mark) == []
    assert own_zombies() == []
    await until(lambda: open_files() <= files_before)  # idle threads, also of before, go within seconds

    assert_conforms(check(seen, "stream", finished=True))
    traces = [path for files in agent.sessions() for path in files.paths]
    assert len(traces) == 3
    for path in traces:
        assert_conforms(check([*read_lines(path)], "trace", finished=True))

    ran = outputs(of(seen))
    assert "Serving HTTP" in ran["server"][0]
    assert ran["left"][0].startswith("Left.")
    assert ran["right"][0].startswith("Right.")
    assert ran["add"] == ("42", "completed")
    assert ran["denied"][0].startswith("Tool call denied by user")
    assert ran["forbidden"][0].startswith("Tool call denied by policy. The command policy forbids")
    assert len(ran["long"][0]) < 20_000
    assert "199999\n200000" in ran["long"][0]
    assert ran["die"][1] == ran["dead"][1] == "fatal"
    assert ran["back"] == ("5", "completed")
    assert not (work / "refused").exists()
    ended = [m.payload for m in of(seen) if isinstance(m.payload, McpConnectEnd)]
    assert [[(r.server, r.status) for r in each.results] for each in ended] == [[("workshop", "completed")]] * 2
    decided = {p.tool_call_id: p.decision for m in of(seen) if isinstance(p := m.payload, ApprovalDecision)}
    assert {each: decided[each] for each in ("denied", "forbidden", "long")} == {
        "denied": "deny",
        "forbidden": "forbidden",
        "long": "allow",
    }
    assert [m.payload.decision for m in of(seen) if isinstance(m.payload, Hook)] == ["continue"]
    assert texts(of(seen)) == ["That is all.", "Now it is.", "Back."]


class Sequel(Script):
    """One script, and behind its last turn another one."""

    def __init__(self, first: Script, then: Script) -> None:
        super().__init__([*first._turns, *then._turns])  # pyright: ignore[reportPrivateUsage]


async def test_the_files_of_an_agent_set_up_its_sessions(tmp_path: Path) -> None:
    agent = await configured(
        tmp_path,
        "tools: {only: [read_file, exec_command]}\nlimits: {output: 1000}\ncompaction: {mode: discard, turns: 1}\n"
        "system_prompt: In {{workspace}}. {{agent_instructions}}\n",
    )
    (agent.paths.state / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    script = Script([[call("exec_command", command="seq 1000")], [say("Done.")], [say("Again.")]])
    async with watched(tmp_path, script) as watcher:
        messages = await watcher.run()
        await watcher.run()
        watcher.forget_stream()
        prompt = watcher.session.meta.system_prompt
    assert prompt.startswith(f"In {tmp_path / 'work'}.")
    assert prompt.endswith("Be brief.")
    assert [tool.name for tool in script.requests[0].tools] == ["exec_command", "read_file"]
    assert len(outputs(messages)["call_1_1"][0]) < 1_500
    assert len(script.requests[2].messages) == 1, "the context was replaced"


async def test_a_prompt_that_cannot_be_made_anew_stays_and_is_news(tmp_path: Path) -> None:
    agent = await configured(tmp_path, "compaction: {mode: discard, turns: 1}\n")

    def spoil() -> str:
        """Break the configuration."""
        agent.paths.system_config.write_text("compcation: {}\n", encoding="utf-8")
        return "spoilt"

    script = Script([[call("spoil")], [say("Done.")], [say("Again.")], [say("I see.")]])
    async with watched(tmp_path, script, tools=[spoil]) as watcher:
        await watcher.run()
        messages = await watcher.run()
        assert not watcher.session.trace_path.stem.endswith("_001")
        watcher.forget_stream()
        (prompt,) = {request.system_prompt for request in script.requests}
        assert watcher.session.meta.system_prompt == prompt
    (told,) = [m.payload.text for m in messages if isinstance(m.payload, Text) and m.payload.sender == "harness"]
    assert "compaction" in told
    assert "stays" in told


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("tools: {off: [read_fil]}\n", "did you mean 'read_file'"),
        ("hooks: {off: [goal]}\n", "no hook in"),
        ("compcation: {}\n", "did you mean 'compaction'"),
        ("mcp_servers: [{name: a, command: x}, {name: a, command: y}]\n", "two MCP servers"),
    ],
)
async def test_a_file_that_cannot_be_used_opens_no_session_and_leaves_nothing(
    tmp_path: Path, config: str, named: str
) -> None:
    agent = await configured(tmp_path, config)
    with pytest.raises(ConfigError, match=named):
        await agent.create_session(model=Script([]))
    assert not [path for path in agent.paths.traces.rglob("*") if path.is_file()]


async def test_a_rule_of_the_project_spares_the_question(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    agent.paths.config.parent.mkdir(parents=True)
    agent.paths.config.write_text('[[policy]]\npattern = "git status"\ndecision = "allow"\n', encoding="utf-8")
    async with watched(tmp_path, Script([])) as watcher:
        lines = ("git status", "git status && git push", "git push")
        calls = [call("exec_command", id="c", command=line) for line in lines]
        assert [watcher.session.is_allowed(each) for each in calls] == [True, False, False]


async def test_a_child_is_held_by_the_parents_hooks_and_rules(tmp_path: Path) -> None:
    def guard(_: Any) -> Answer:
        return Answer(decision="deny", reason="not here")

    model = Cast(
        main=[[spawn("job")], [say("So be it.")]],
        job=[[call("exec_command", id="c", command="touch made")], [say("Refused.")]],
    )
    agent = await new_agent(tmp_path)
    hook = in_process("pre_tool_use", guard, name="guard", tools=("exec_command",))
    async with await agent.create_session(model=model, hooks=[hook]) as session:
        async with asyncio.timeout(LIMIT):
            seen = [m async for m in session.run([user_text("main")], approve=lambda _: "allow")]
    (child,) = {m.origin[0] for m in seen if m.origin}
    assert outputs(of(seen, child))["c"][0] == "Tool call denied by the guard hook: not here."
    child_trace = next(f for f in agent.sessions() if f.session_id == child).newest
    assert "hook" in [m.payload.type for m in read_messages(child_trace)]


@needs_sandbox
async def test_a_sandbox_holds_commands_and_file_tools_of_the_session_and_of_its_children(tmp_path: Path) -> None:
    agent = await configured(tmp_path, "sandbox: {mode: workspace-write, network: false}\n")
    agent.paths.config.write_text('[[models]]\nprovider = "p"\nmodel_id = "m"\napi_key = "sk-very-hidden"\n')
    outside = Path("/var/tmp") / f"penguin-{uuid4().hex}"
    calls = [
        call("exec_command", id="in", command="echo made > inside.txt; cat inside.txt"),
        call("exec_command", id="out", command=f"echo made > {outside}"),
        call("exec_command", id="key", command=f"ls {agent.paths.project}"),
        call("write_file", id="file", path=str(outside), content="made"),
        call("exec_command", id="net", command="cat /proc/net/route | wc -l"),
    ]
    work = tmp_path / "work"
    work.mkdir()
    model = Cast(main=[calls, [spawn("child")], [say("Done.")]], child=[calls, [say("Done.")]])
    async with await agent.create_session(workspace=work, model=model) as session:
        async with asyncio.timeout(LIMIT):
            seen = [m async for m in session.run([user_text("main")], approve=lambda _: "allow")]
    (child,) = {m.origin[0] for m in seen if m.origin}
    for ran in (outputs(of(seen)), outputs(of(seen, child))):
        assert ran["in"][0].startswith("made\n")
        assert "Read-only file system" in ran["out"][0]
        assert "config" not in ran["key"][0]
        assert "sandbox" in ran["file"][0]
        assert ran["net"][0].split()[0] in {"0", "1"}, "no route leads out"
    assert not outside.exists()
    assert (work / "inside.txt").read_text() == "made\n"


async def test_a_sandbox_that_cannot_be_had_opens_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = await configured(tmp_path, "sandbox: {mode: read-only}\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="there is no bwrap"):
        await agent.create_session(model=Script([]))
