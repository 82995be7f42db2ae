"""Connecting: all at once, within limits, one result each, and one stable list of tools whatever happens."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from penguin_harness.omnimessage import McpConnectEnd
from penguin_harness.tools.mcp import McpServer
from tests.tools.mcp.support import odd, serving, session, workshop
from tests.tools.support import until

SHORT = {"connect_timeout_s": 0.7}


async def test_b157_servers_that_hang_end_within_the_limit_and_the_others_work(tmp_path: Path) -> None:
    with serving("drip.py") as drip:
        servers = (
            workshop(),
            odd("asleep", silent=["initialize"], options=SHORT),
            odd("mute", silent=["tools/list"], options=SHORT),
            McpServer(name="drip", url=f"{drip.url}/drip", connect_timeout_s=0.7),
        )
        async with session(tmp_path, *servers) as here:
            await here.connect()  # the first one imports the SDK
            begun = time.monotonic()
            results = await here.connect()
            assert time.monotonic() - begun < 2
            assert {name: result.error_message for name, result in results.items()} == {
                "asleep": "no answer to the handshake within 0.7 s",
                "mute": "no list of tools within 0.7 s",
                "drip": "no list of tools within 0.7 s",
            }
            assert {(each.status, each.error_code) for each in results.values()} == {("fatal", "connect_failed")}
            assert (await here.call("mcp__workshop__add", a=1, b=2)).output == "3"


async def test_a_round_says_what_became_of_each_server(tmp_path: Path) -> None:
    servers = (
        odd("good", tools=["b", "a"]),
        odd("quits", leaves=True, complaints=["loading", "No module named 'x'"]),
        McpServer(name="missing", command="no-such-command"),
        McpServer(name="unset", command="c", env={"A": "${NO_SUCH_VARIABLE}"}),
        odd("off", options={"enabled": False}),
    )
    async with session(tmp_path, *servers) as here:
        results = await here.connect()
        assert {name: (each.status, each.tools, each.error_message) for name, each in results.items()} == {
            "good": ("completed", 2, None),
            "quits": ("fatal", None, "it ended with exit code 3; its last words: No module named 'x'"),
            "missing": ("fatal", None, "FileNotFoundError: [Errno 2] No such file or directory: 'no-such-command'"),
            "unset": (
                "fatal",
                None,
                "there is no variable NO_SUCH_VARIABLE: put it into the vault or the environment",
            ),
        }
        end = here.events[-1]
        assert isinstance(end, McpConnectEnd)
        assert (end.status, end.error_code) == ("fatal", "connect_failed")
        assert end.error_message == "3 of 4 MCP servers are not connected: quits, missing, unset"
        assert here.names == ["mcp__good__a", "mcp__good__b"]


async def test_connected_servers_are_not_connected_again(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"])) as here:
        await here.connect()
        await here.mcp.connect(here.events.append)
        assert len(here.events) == 2


async def test_without_servers_nothing_is_said(tmp_path: Path) -> None:
    async with session(tmp_path, odd(options={"enabled": False})) as here:
        await here.mcp.connect(here.events.append)
        assert here.events == []
        assert here.names == []


async def test_what_http_servers_refuse_is_said_with_its_status(tmp_path: Path) -> None:
    with serving("drip.py") as drip, serving("workshop.py", "http") as work:
        servers = (
            McpServer(name="locked", url=f"{drip.url}/locked"),
            McpServer(name="locked-sse", transport="sse", url=f"{drip.url}/locked"),
            McpServer(name="elsewhere", url=f"{work.url}/elsewhere"),
            McpServer(name="nobody", url="http://127.0.0.1:9/mcp"),
        )
        async with session(tmp_path, *servers) as here:
            found = {name: each.error_message for name, each in (await here.connect()).items()}
    assert found == {
        "locked": "Server returned an error response (HTTP 401 Unauthorized)",
        "locked-sse": "HTTP 401 Unauthorized",
        "elsewhere": "Not Found (HTTP 404 Not Found)",
        "nobody": "ConnectError: All connection attempts failed",
    }


async def test_b090_an_interrupted_round_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    servers = (odd("quick", tools=["a"]), odd("asleep", silent=["initialize"], complaints=["here"]))
    async with session(tmp_path, *servers) as here:
        task = asyncio.create_task(here.mcp.connect(here.events.append))
        await until(lambda: "mcp__quick__a" in here.names and (here.context.scratchpad / "mcp-asleep.log").exists())
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - begun < 1
        results = here.results()
        assert (results["quick"].status, results["quick"].tools) == ("completed", 1)
        assert (results["asleep"].status, results["asleep"].error_code) == ("aborted", "user_abort")
        end = here.events[-1]
        assert isinstance(end, McpConnectEnd)
        assert (end.status, end.error_code) == ("aborted", "user_abort")
        assert (await here.call("mcp__quick__a")).output == "a in quick"


async def test_b159_noise_is_skipped_and_told_once(tmp_path: Path) -> None:
    noise = ["Server started", "", '{"level": "info"}', "[1, 2]", "\x1b[31mred\x1b[0m"]
    async with session(tmp_path, odd("noisy", tools=["a"], noise=noise)) as here:
        assert (await here.connect())["noisy"].status == "completed"
        for _ in range(3):
            assert (await here.call("mcp__noisy__a")).output == "a in noisy"
        assert here.mcp.notes() == {"noisy": ("skipped output that is no message, as 'Server started'",)}
        assert here.log("noisy").count("skipped output") == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_b160_two_servers_with_the_same_tool(tmp_path: Path, order: tuple[int, int]) -> None:
    both = (odd("one", tools=["search"]), odd("two", tools=["search"]))
    async with session(tmp_path, *(both[place] for place in order)) as here:
        await here.connect()
        assert sorted(here.names) == ["mcp__one__search", "mcp__two__search"]
        assert (await here.call("mcp__one__search")).output == "search in one"
        assert (await here.call("mcp__two__search")).output == "search in two"


async def test_b161_odd_names_reach_the_server_as_it_knows_them(tmp_path: Path) -> None:
    long = [f"{'tool_with_a_name_of_fifty_characters_but_for_one'}_{end}" for end in "ab"]
    server = odd("a server with forty characters in a name", tools=[*long, "a.b/c ü"])
    async with session(tmp_path, server) as here:
        await here.connect()
        assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in here.names)
        said = [(await here.call(name)).output for name in here.names]
        assert said == [f"{tool} in {server.name}" for tool in ("a.b/c ü", *long)]


async def test_b162_a_tool_that_cannot_be_offered_is_left_out_alone(tmp_path: Path) -> None:
    def with_schema(name: str, schema: object) -> dict[str, Any]:
        return {"name": name, "inputSchema": schema}

    recursive = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"$ref": "#"}}}
    tools: list[Any] = [
        with_schema("array", {"type": "array"}),
        with_schema("text", "object"),
        with_schema("properties", {"type": "object", "properties": []}),
        {"description": "no name", "inputSchema": {"type": "object"}},
        "twice",
        "twice",
        None,
        with_schema("none", None),
        with_schema("empty", {}),
        with_schema("untyped", {"properties": {"a": {"type": ["string", "null"]}}}),
        with_schema("nullable", {"type": ["object", "null"], "additionalProperties": False}),
        with_schema("recursive", recursive),
        {"name": "strange", "inputSchema": {"type": "object"}, "annotations": 7, "outputSchema": [], "icons": "x"},
    ]
    async with session(tmp_path, odd(tools=tools)) as here:
        assert (await here.connect())["odd"].tools == 7
        offered = ("empty", "none", "nullable", "recursive", "strange", "twice", "untyped")
        assert here.names == [f"mcp__odd__{name}" for name in offered]
        schemas = {tool.name: tool.parameters for tool in here.mcp.tools}
        assert schemas["mcp__odd__none"] == schemas["mcp__odd__empty"] == b'{"type":"object","properties":{}}'
        assert schemas["mcp__odd__nullable"] == b'{"type":"object","additionalProperties":false}'
        assert schemas["mcp__odd__untyped"].startswith(b'{"type":"object","properties"')
        assert here.mcp.notes()["odd"] == (
            "left out its tool 'array': its input schema describes something else than an object",
            "left out its tool 'text': its input schema is no object",
            "left out its tool 'properties': the properties of its input schema are no object",
            "left out its tool 4: it has no name",
            "left out its tool 7: it has no name",
            "left out its tool 'twice': it has two of that name",
        )
        assert (await here.call("mcp__odd__strange")).output == "strange in odd"


async def test_a_tool_without_a_description_gets_one(tmp_path: Path) -> None:
    tools = [{"name": "a", "title": "Title"}, {"name": "b", "description": "  "}]
    async with session(tmp_path, odd(tools=tools)) as here:
        await here.connect()
        described = {tool.name: tool.description for tool in here.mcp.tools}
        assert described == {"mcp__odd__a": "Title", "mcp__odd__b": "b, a tool of the MCP server odd."}


async def test_a_list_in_pages_is_read_to_its_end(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["c", "b", "a"], pages=True)) as here:
        assert (await here.connect())["odd"].tools == 3
        assert here.names == ["mcp__odd__a", "mcp__odd__b", "mcp__odd__c"]


@pytest.mark.parametrize("code", [-32022, -32601])
async def test_a_server_that_knows_only_the_newer_handshake_is_connected(tmp_path: Path, code: int) -> None:
    async with session(tmp_path, odd(tools=["a"], refuse={"initialize": code})) as here:
        assert (await here.connect())["odd"].error_message is None
        assert (await here.call("mcp__odd__a")).output == "a in odd"


async def test_another_refusal_of_the_handshake_is_final(tmp_path: Path) -> None:
    async with session(tmp_path, odd(refuse={"initialize": -32000})) as here:
        assert (await here.connect())["odd"].error_message == "refused"


@pytest.mark.parametrize(("permission", "wanted"), [("auto", "r"), ("r", "r"), ("rw", "rw")])
async def test_permissions_follow_the_server_or_the_configuration(tmp_path: Path, permission: Any, wanted: str) -> None:
    async with session(tmp_path, workshop(permission=permission)) as here:
        await here.connect()
        found = {tool.name: tool.permission for tool in here.mcp.tools}
        assert found["mcp__workshop__add"] == wanted
        assert found["mcp__workshop__where"] == ("rw" if permission == "auto" else permission)


async def test_b182_the_list_stays_the_same_however_servers_come_and_go(tmp_path: Path) -> None:
    servers = (odd("slow", tools=["b", "a"]), workshop("quick"))
    async with session(tmp_path, *servers) as here:
        await here.connect()
        schemas = here.toolbox.schemas
        for _ in range(2):
            await here.call("mcp__quick__die", code=1)
            assert here.toolbox.schemas == schemas
            assert list(await here.connect()) == ["quick"]
            assert here.toolbox.schemas == schemas


async def test_a_list_that_the_server_changes_is_read_again_at_the_next_run(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"], later_tools=["b", "a"])) as here:
        await here.connect()
        await here.call("mcp__odd__a")
        assert here.names == ["mcp__odd__a"]
        before = here.pids()
        assert (await here.connect())["odd"].tools == 2
        assert here.names == ["mcp__odd__a", "mcp__odd__b"]
        assert here.pids() == before


async def test_a_line_without_end_breaks_the_connection_and_not_the_memory(tmp_path: Path) -> None:
    async with session(tmp_path, odd(loud=65 * 1024 * 1024)) as here:
        message = (await here.connect())["odd"].error_message
        assert message == "it sent more than 67108864 bytes without an end of line"


async def test_the_folder_to_start_in_is_seen_from_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "sub").mkdir(parents=True)
    async with session(tmp_path, workshop("top"), workshop("sub", cwd="sub"), workshop("no", cwd="no")) as here:
        results = await here.connect()
        assert (await here.call("mcp__top__where")).output == str(tmp_path / "workspace")
        assert (await here.call("mcp__sub__where")).output == str(tmp_path / "workspace" / "sub")
        assert "No such file or directory" in (results["no"].error_message or "")


def test_the_sdk_is_not_imported_before_a_server_is_connected() -> None:
    code = "import sys, penguin_harness.tools.mcp; print('mcp' in sys.modules, 'pydantic' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]
