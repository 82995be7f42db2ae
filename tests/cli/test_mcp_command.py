"""`penguin mcp`: servers as they are configured, and whether they can be connected."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.process import Home
from tests.tools.mcp.support import HERE, ROOT
from tests.tools.support import processes_with

SECRET = "hush-0123456789abcdef"


def configure(home: Home, *servers: dict[str, Any]) -> None:
    state = home.data / "default_project/agents/default_agent/agent_state"
    state.mkdir(parents=True)
    text = msgspec.json.encode({"mcp_servers": servers}).decode()  # YAML too
    (state / "system_config.yaml").write_text(text)


def odd(name: str, *, complaint: str = "", **more: Any) -> dict[str, Any]:
    manners = {"tools": ["look"], "noise": ["hello"], "complaints": [complaint], "leaves": bool(complaint)}
    args = [str(HERE / "odd.py"), json.dumps(manners)]
    return {"name": name, "command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}, **more}


def test_the_list_shows_where_servers_are_and_no_credential(home: Home) -> None:
    far = {"name": "far", "url": f"https://example.org/mcp?key={SECRET}", "headers": {"Authorization": SECRET}}
    near = {"name": "near", "command": "server", "args": ["--token", SECRET], "permission": "r", "enabled": False}
    configure(home, far, near)
    done = home.penguin("mcp", "list")
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["server", "transport", "permission", "where"],
        ["far", "http", "auto", "https://example.org/mcp?key=[redacted]"],
        ["near", "stdio", "r", "(not", "enabled)", "server", "--token", "[redacted]"],
    ]
    listed = json.loads(home.penguin("mcp", "list", "--json").out)
    assert [(each["name"], each["transport"], each["enabled"]) for each in listed] == [
        ("far", "http", True),
        ("near", "stdio", False),
    ]
    assert SECRET not in json.dumps(listed)


def test_without_servers_the_way_to_configure_one_is_said(home: Home) -> None:
    for command in ("list", "test"):
        done = home.penguin("mcp", command)
        assert (done.code, done.out) == (0, "")
        assert "no MCP server is configured" in done.err
        assert "system_config.yaml" in done.err
    assert json.loads(home.penguin("mcp", "test", "--json").out) == []


def test_the_trial_lists_tools_and_says_what_fails(home: Home) -> None:
    configure(home, odd("good"), odd("bad", complaint="no licence"), odd("off", enabled=False))
    done = home.penguin("mcp", "test")
    assert done.code == 1
    good, noise, tool, bad, error = done.out.splitlines()
    assert good.startswith("✓ good  stdio, 1 tools, ")
    assert noise == "  skipped output that is no message, as 'hello'"
    assert tool.split() == ["mcp__good__look", "rw", "Does", "look."]
    assert (bad, error) == ("✗ bad  stdio", "  it ended with exit code 3; its last words: no licence")


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("off", 0), ("bad", 1)])
def test_one_server_can_be_tried_alone(home: Home, name: str, code: int) -> None:
    configure(home, odd("good"), odd("bad", complaint="no licence"), odd("off", enabled=False))
    done = home.penguin("mcp", "test", name, "--json")
    assert done.code == code
    (tried,) = json.loads(done.out)
    assert (tried["server"], tried["connected"]) == (name, code == 0)
    assert [tool["name"] for tool in tried["tools"]] == ([f"mcp__{name}__look"] if code == 0 else [])


def test_a_name_that_is_not_there_gets_a_suggestion(home: Home) -> None:
    configure(home, odd("good"))
    done = home.penguin("mcp", "test", "godo")
    assert (done.code, done.out) == (2, "")
    assert "there is no MCP server 'godo'; did you mean 'good'?" in done.err


def test_the_trial_uses_the_vault_and_leaves_nothing(home: Home, tmp_path: Path) -> None:
    home.penguin("vault", "set", "LICENCE", "--stdin", given=SECRET)
    state = home.data / "default_project/agents/default_agent/agent_state"
    configured = odd("good", complaint="${LICENCE}", cwd=str(tmp_path))
    (state / "system_config.yaml").write_text(json.dumps({"mcp_servers": [configured]}))
    done = home.penguin("mcp", "test")
    assert "its last words: [redacted]" in done.out
    assert SECRET not in done.out + done.err
    assert processes_with(str(tmp_path)) == []
