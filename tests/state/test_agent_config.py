"""`system_config.yaml`: what it may say, and how a fault is told."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from penguin_harness.errors import ConfigError
from penguin_harness.state.agent_config import AgentConfig, Limits, PlainConfig, ToolSelection, load_agent_config
from penguin_harness.state.agents import make_agent
from penguin_harness.state.paths import agent_paths
from penguin_harness.state.yaml_text import read_yaml

TOOLS = ("exec_command", "read_file", "edit_file")


class Server(Struct, frozen=True, forbid_unknown_fields=True):
    """As another part would describe it."""

    name: str
    command: str
    env: dict[str, str] = {}


def written(folder: Path, text: str) -> Path:
    path = folder / "system_config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_absent_file_and_an_empty_one_say_nothing(tmp_path: Path) -> None:
    assert load_agent_config(tmp_path / "none.yaml", PlainConfig) == PlainConfig()
    assert load_agent_config(written(tmp_path, "# only words\n"), PlainConfig) == PlainConfig()
    assert load_agent_config(written(tmp_path, "tools:\n  # off: [x]\n"), PlainConfig) == PlainConfig()


def test_everything_that_the_file_may_say(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "description: Speaks 🐧\n"
        "system_prompt: |\n  You are in {{workspace}}.\n"
        "tools: {only: [read_file, exec_command], off: [exec_command]}\n"
        "mcp_servers:\n  - {name: issues, command: issues-mcp, env: {LEVEL: '1'}}\n"
        "hooks: {off: [goal]}\n"
        "compaction: {mode: discard, turns: 7}\n"
        "limits: {timeout: 2.5, output: 100}\n"
        "subagents: {cap: 2, depth: 0}\n"
        "sandbox: {mode: off, network: false}\n",
    )
    config = load_agent_config(path, AgentConfig[Server])
    assert config.description == "Speaks 🐧"
    assert config.system_prompt == "You are in {{workspace}}.\n"
    assert config.tools.of(TOOLS) == ["read_file"]
    assert config.mcp_servers == (Server("issues", "issues-mcp", {"LEVEL": "1"}),)
    assert config.hooks.off == ("goal",)
    assert config.compaction.given() == {"mode": "discard", "turns": 7}
    assert config.limits.given() == {"timeout": 2.5, "output": 100}
    assert config.subagents.given() == {"cap": 2, "depth": 0}
    assert (config.sandbox.mode, config.sandbox.network) == ("off", False), "off is a word here, as in YAML 1.2"


def test_every_example_in_the_file_of_a_new_agent_holds(tmp_path: Path) -> None:
    paths = agent_paths("new", root=tmp_path)
    make_agent(paths, 'says: "hello" # there 🍸')
    text = paths.system_config.read_text(encoding="utf-8")
    config = load_agent_config(paths.system_config, PlainConfig)
    assert config == PlainConfig(description='says: "hello" # there 🍸')
    lively = re.sub(r"^( *)# (?=( |[a-z_]+:|- ))", r"\1", text, flags=re.MULTILINE).replace("#\n", "\n")
    config = load_agent_config(written(tmp_path, lively), PlainConfig)
    assert config.system_prompt is not None
    assert config.mcp_servers[0]["command"] == "issues-mcp"
    assert all(section.given() for section in (config.compaction, config.limits, config.subagents, config.tools))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tols: {}", "line 1: unknown key 'tols'; did you mean 'tools'?"),
        ("a: 1", "line 1: unknown key 'a'; there are description, "),
        ("\ntools:\n  onyl: [x]", "line 3: unknown key 'onyl' in tools; did you mean 'only'?"),
        (
            "mcp_servers:\n- name: x\n  comand: y",
            "line 3: unknown key 'comand' in mcp_servers[0]; did you mean 'command'?",
        ),
        ("mcp_servers:\n- {name: x, command: y}\n- name: z", "line 3: mcp_servers[1]: object missing required field"),
        (
            "mcp_servers:\n- name: x\n  command: y\n  env: {A: 1}",
            "line 4: mcp_servers[0].env.…: expected `str`, got `int`",
        ),
        (
            "compaction:\n  mode: sumarize",
            "line 2: compaction.mode: this is none of its values; did you mean 'summarize'?",
        ),
        ("sandbox: {network: no}", "line 1: sandbox.network: expected `bool`, got `str`"),
        ("limits: {output: 0}", "line 1: limits.output: expected `int` >= 1"),
        ("- 1", ": expected `object`, got `array`"),
        ("1: 2", ": a key is no text"),
        (
            "description: a: b",
            "line 1: this is no YAML: mapping values are not allowed here; a text with a colon in it needs",
        ),
        ("hooks:\n\toff: []", "line 2: this is no YAML: "),
        ("tools: {}\ntools: {}", 'line 2: this is no YAML: found duplicate key "tools"'),
        ("description: \x07", "this is no YAML: unacceptable character #x0007"),
        ("description: !!int x", "this is no YAML that can be read"),
        ("hooks: &a [*a]", "line 1: hooks: expected `object`, got `array`"),
        ("x: " + "[" * 5_000, "this is no YAML that can be read"),
        ("description: |\n" + " x\n" * 200_000, "it is longer than 400,000 characters"),
    ],
)
def test_a_fault_is_told_with_its_place_and_the_way_out(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        load_agent_config(path, AgentConfig[Server])
    assert told in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers:\n- name: x\n  env:\n    A: hunter2-secret\n    A: hunter2-other",
        "mcp_servers:\n- {name: x, command: *hunter2-secret}",
        "mcp_servers:\n- {name: x, command: !hunter2-secret y}",
        "mcp_servers:\n- {name: x, command: y, env: [hunter2-secret]}",
        "mcp_servers: hunter2-secret",
    ],
)
def test_a_fault_repeats_no_value(tmp_path: Path, text: str) -> None:
    """B171: an entry may hold a credential."""
    with pytest.raises(ConfigError) as raised:
        load_agent_config(written(tmp_path, text), AgentConfig[Server])
    assert "hunter2" not in str(raised.value)


PIECES = [
    *("a", "description", "tools", ": ", "\n", "  ", "- ", "[", "]", "{", "}", ",", "&a ", "*a ", "? ", "| ", ">2 "),
    *("'", '"', "#", "<<", "=", "@", "---", "...", "%YAML 1.1\n", "1e5", "0x", "2026-02-30", "\\u", "é", "🍸"),
    *("!!int ", "!!bool ", "!!timestamp ", "!!binary ", "!!set ", "!!omap ", "!!null ", "!x "),
    *("\x85", "\u2028", "\t", "\ufeff", "\x00"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        config = read_yaml(text, PlainConfig, source="system_config.yaml")
    except ConfigError:
        return
    assert isinstance(config, AgentConfig)


def test_what_is_no_text_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "system_config.yaml"
    path.write_bytes("description: x".encode("utf-16"))
    with pytest.raises(ConfigError, match="it is no text in UTF-8; save it as UTF-8"):
        load_agent_config(path, PlainConfig)
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigError, match="Is a directory"):
        load_agent_config(path, PlainConfig)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="it is a folder, pipe or device"):
        load_agent_config(path, PlainConfig)


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text(tmp_path: Path) -> None:
    """B169."""
    path = tmp_path / "system_config.yaml"
    path.write_bytes(b"\xef\xbb\xbfdescription: x\r\nsystem_prompt: |\r\n  a\r\n  b\r\n")
    assert load_agent_config(path, PlainConfig).system_prompt == "a\nb\n"


def test_a_tool_that_is_not_there_is_told() -> None:
    assert ToolSelection().of(TOOLS) == list(TOOLS)
    assert ToolSelection(only=()).of(TOOLS) == []
    assert ToolSelection(off=("exec_command",)).of(TOOLS) == ["read_file", "edit_file"]
    with pytest.raises(ConfigError, match=r"tools\.off names 'exec_comand', .*; did you mean 'exec_command'\?"):
        ToolSelection(off=("exec_comand",)).of(TOOLS)
    with pytest.raises(
        ConfigError, match=r"tools\.only names 'sing', .*; there are exec_command, read_file, edit_file"
    ):
        ToolSelection(only=("sing",)).of(TOOLS)


def test_a_section_gives_what_is_said_only() -> None:
    assert Limits().given() == {}
    assert Limits(file=5).given() == {"file": 5}
