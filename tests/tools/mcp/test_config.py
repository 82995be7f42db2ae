"""What may be configured, and what is never told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from penguin_harness.errors import ConfigError, ToolFailed
from penguin_harness.tools.mcp import McpServer, McpTools, target
from penguin_harness.tools.mcp.secrets import confidential, credentials, filled_in
from tests.tools.support import make_context


def read(**given: Any) -> McpServer:
    return msgspec.convert({"name": "s", **given}, McpServer)


def test_the_transport_follows_from_what_is_given() -> None:
    assert read(command="npx").kind == "stdio"
    assert read(url="https://example.org/mcp").kind == "http"
    assert read(url="https://example.org/sse", transport="sse").kind == "sse"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "needs a command"),
        ({"transport": "http"}, "needs a url"),
        ({"command": "x", "url": "https://example.org"}, "has no url"),
        ({"url": "https://example.org", "args": ["x"]}, "has no args"),
        ({"command": "x", "headers": {"a": "b"}}, "has no headers"),
        ({"url": "example.org/mcp"}, "begins with http"),
        ({"command": "x", "name": "a\nb"}, "control characters"),
        ({"command": "x", "name": " "}, "a word or two"),
        ({"command": "x", "connect_timeout_s": 0}, "> 0"),
        ({"command": "x", "permission": "rwx"}, "rwx"),
        ({"command": "x", "comand": "y"}, "comand"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        read(**given)


def test_two_servers_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two MCP servers are named 's'"):
        McpTools([read(command="a"), read(command="b")], make_context(tmp_path))


def test_variables_are_filled_in_everywhere_they_may_stand() -> None:
    server = read(url="https://${HOST}/mcp", headers={"Authorization": "Bearer ${TOKEN}"})
    filled = filled_in(server, {"HOST": "example.org", "TOKEN": "t0ken"})
    assert (filled.url, filled.headers) == ("https://example.org/mcp", {"Authorization": "Bearer t0ken"})
    filled = filled_in(read(command="c", args=["--x=${A}"], env={"B": "${A}${A}", "C": "$A {A}"}), {"A": "1"})
    assert (filled.args, filled.env) == (("--x=1",), {"B": "11", "C": "$A {A}"})


def test_a_variable_that_is_not_there_is_named() -> None:
    with pytest.raises(ToolFailed, match="there is no variable TOKEN"):
        filled_in(read(command="c", env={"A": "${TOKEN}"}), {})


def test_credentials_are_known_by_the_name_they_stand_under() -> None:
    server = read(
        command="c",
        args=["--api-key=in-an-option", "--token", "behind-an-option", "--verbose", "plain"],
        env={"DB_PASSWORD": "in-the-environment", "MODE": "production"},
    )
    assert credentials(server) == {"in-an-option", "behind-an-option", "in-the-environment"}
    server = read(
        url="https://e.org/mcp?api_key=in-the-query&page=2", headers={"Authorization": "Bearer behind-a-word"}
    )
    assert credentials(server) == {"in-the-query", "Bearer behind-a-word", "behind-a-word"}


def test_what_errors_must_not_repeat_is_more_than_that() -> None:
    server = read(url="https://me:my-password@e.org/s/a-key-in-the-path-of-it/mcp?page=secret-page")
    found = confidential(server, {})
    assert {"my-password", "a-key-in-the-path-of-it", "secret-page"} <= found
    assert "out-of-the-vault" in confidential(read(command="c", args=["${KEY}"]), {"KEY": "out-of-the-vault"})


def test_where_a_server_is_can_be_told_without_its_credentials() -> None:
    assert target(read(command="c", args=["--token", "behind-an-option", "a b"])) == "c --token [redacted] 'a b'"
    assert target(read(url="https://e.org/mcp?key=0123456789")) == "https://e.org/mcp?key=[redacted]"
