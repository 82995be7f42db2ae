"""The surface that an embedder meets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penguin_harness
from penguin_harness import ConfigError, Text, ToolDefinitionError, create_agent, user_text
from penguin_harness.llm.script import Script, say
from penguin_harness.state.config import Model, ProjectConfig, save_config
from tests.double.client import Double
from tests.double.responses.build import reply, script
from tests.support import new_agent

SURFACE = """
    Abort Agent Approve ApprovalDecision CompactionBegin CompactionEnd ConfigError EventMessage Hook ImageUrl
    InlineData InlineThinking InputError McpConnectBegin McpConnectEnd Model ModelMessage ModelRef OmniMessage
    PartialText PartialThinking PartialToolCall PartialToolCallOutput PenguinError RequestBegin RequestEnd Run
    Session SessionError SessionMeta SessionMetaMessage Subagent Text Thinking TokenCounts TokenUsage Tool
    ToolCall ToolCallOutput ToolContext ToolDefinitionError ToolFailed ToolListReady ToolResult TraceError
    TraceLocked UnknownMessage __version__ create_agent tool user_image user_text
    Budget CompactionPolicy ModelFacts Price Recovery SessionCost model_facts session_cost
"""


def test_the_surface_is_what_it_was_decided_to_be() -> None:
    assert sorted(penguin_harness.__all__) == sorted(SURFACE.split())
    assert all(hasattr(penguin_harness, name) for name in penguin_harness.__all__)


async def test_the_promised_lines_work_as_written(
    tmp_path: Path, double: Double, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PENGUIN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    double.load(script(reply("A folder."), model="gpt-x"))
    config = tmp_path / "home" / "default_project" / ".project_config.toml"
    save_config(
        config,
        ProjectConfig().add(
            Model("openai", "gpt-x", base_url=double.base_url("openai_responses"), api_key="sk-test-123456")
        ),
    )

    agent = await create_agent(agent_id="default_agent")
    async with await agent.create_session(workspace=".", provider="openai", model_id="gpt-x") as session:
        async for message in session.run([user_text("List the files here")], approve=lambda call: "allow"):
            match message.payload:
                case Text(text=text):
                    print(text)
                case _:
                    assert message.payload.type

    assert capsys.readouterr().out == "A folder.\n"
    assert double.refusals() == []


async def test_the_default_agent_and_workspace_need_no_set_up(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    async with await agent.create_session(model=Script([[say("hi")]])) as session:
        assert session.workspace.is_dir()
        assert session.workspace.parent == agent.paths.agent / "workspaces"
        async for _ in session.run([user_text("hi")]):
            pass
    assert [files.session_id for files in agent.sessions()] == [session.session_id]


def without_types() -> Any:
    names: dict[str, Any] = {}
    exec('def no_types(x):\n    """Have a docstring."""\n    return x\n', names)
    return names["no_types"]


def no_docstring(x: int) -> int:
    return x


def read_file(path: str) -> str:
    """Have the name of a built-in tool."""
    return path


UNFIT: list[tuple[Any, str]] = [
    (without_types(), "no_types.*'x'"),
    (no_docstring, "no_docstring.*docstring"),
    (read_file, "'read_file'"),
]


@pytest.mark.parametrize(("function", "told"), UNFIT)
async def test_a_function_that_cannot_be_a_tool_is_named_with_its_fault(
    tmp_path: Path, function: Any, told: str
) -> None:
    agent = await new_agent(tmp_path)
    with pytest.raises(ToolDefinitionError, match=told):
        await agent.create_session(model=Script([]), tools=[function])
    assert not list(tmp_path.rglob("*.lock"))


async def test_no_model_at_all_says_how_to_get_one(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    with pytest.raises(ConfigError, match="penguin model add"):
        await agent.create_session()
    assert agent.sessions() == []


async def test_a_misspelled_argument_and_a_model_named_twice_are_told(tmp_path: Path) -> None:
    agent = await new_agent(tmp_path)
    misspelled: dict[str, Any] = {"modle_id": "m"}
    with pytest.raises(TypeError, match="unknown argument 'modle_id'"):
        await agent.create_session(provider="custom", **misspelled)
    with pytest.raises(ConfigError, match="a ready model is passed, and provider too"):
        await agent.create_session(model=Script([]), provider="custom")
    with pytest.raises(ConfigError, match="a ready model is passed, and modle_id too"):
        await agent.create_session(model=Script([]), **misspelled)
    assert agent.sessions() == []
