"""Calling: every kind of result, progress, interruption, servers that die, and no secret in sight."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from penguin_harness.tools import Toolbox
from penguin_harness.tools.execution import Limits
from penguin_harness.tools.mcp import McpServer
from penguin_harness.tools.mcp.config import Transport
from penguin_harness.tools.mcp.results import is_said
from tests.tools.mcp.servers.workshop import PNG
from tests.tools.mcp.support import Session, odd, serving, session, workshop
from tests.tools.support import call, run, until

SECRET = "hush-0123456789abcdef"


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_each_transport_carries_calls_progress_and_cancelling(tmp_path: Path, transport: Transport) -> None:
    with reached_by(transport) as server:
        async with session(tmp_path, server) as here:
            result = (await here.connect())["workshop"]
            assert (result.status, result.transport) == ("completed", transport)
            assert (await here.call("mcp__workshop__add", a=1, b=2)).output == "3"
            assert (await here.call("mcp__workshop__picture")).images is not None
            await progress_is_streamed(here, tmp_path / "gate")
            await an_interrupted_call_is_cancelled_in_the_server(here, tmp_path)
            assert (await here.call("mcp__workshop__text", size=300_000)).output.startswith("xxx")


@contextmanager
def reached_by(transport: Transport) -> Generator[McpServer]:
    if transport == "stdio":
        yield workshop()
        return
    with serving("workshop.py", transport) as served:
        path = "sse" if transport == "sse" else "mcp"
        yield McpServer(name="workshop", transport=transport, url=f"{served.url}/{path}")


async def progress_is_streamed(here: Session, gate: Path) -> None:
    async with here.calling("mcp__workshop__build", gate=str(gate)) as running:
        await running.record.says("[1/3] sawing\n")
        gate.touch()
        assert (await running.output()).output == "[1/3] sawing\n[2]\nbuilt"


async def an_interrupted_call_is_cancelled_in_the_server(here: Session, folder: Path) -> None:
    started, ended = folder / "started", folder / "ended"
    async with here.calling("mcp__workshop__wait", started=str(started), ended=str(ended)) as running:
        await until(started.exists)
        running.task.cancel()
        output = await running.output(seconds=0.5)
        assert (output.stop_reason, output.output) == ("aborted", "[interrupted by the user]")
        await until(ended.exists)


async def test_every_kind_of_result_becomes_text_images_or_files(tmp_path: Path) -> None:
    async with session(tmp_path, workshop()) as here:
        await here.connect()
        said: dict[str, Any] = {}
        for name in ("weather", "only_structured", "two_views", "picture", "parcel", "fail", "fail_silently"):
            said[name] = await here.call(f"mcp__workshop__{name}")
    assert json.loads(said["weather"].output) == {"city": "Zürich", "degrees": 21.5}
    assert said["only_structured"].output == '{"rows": [1, 2]}'
    assert said["two_views"].output == '2 rows\n{"rows": [1, 2]}'
    assert said["picture"].output == "A dot."
    assert len(said["picture"].images) == 1
    assert said["picture"].images[0].startswith("data:image/png;base64,iVBORw0KGgo")
    pad = here.context.scratchpad
    audio, image, broken, *note, uri, blob, link = said["parcel"].output.splitlines()
    assert audio.startswith(f"[audio/wav, 4 bytes, in {pad}/mcp-workshop-1.")
    assert image == f"[image/png, 4 bytes, in {pad}/mcp-workshop-1.png]"
    assert broken == "[image/png that is not in base64, left out]"
    assert note == ["[note://1]", "A note."]
    assert uri == "[file:///a.bin]"
    assert blob.startswith(f"[application/octet-stream, 4 bytes, in {pad}/mcp-workshop-")
    assert link == "[resource manual, https://example.org/manual: how it works]"
    assert (pad / "mcp-workshop-1.png").read_bytes() == b"\0\1\2\3"
    assert (said["fail"].stop_reason, said["fail"].output) == ("fatal", "Error executing tool fail")
    assert said["fail_silently"].stop_reason == "fatal"
    assert said["fail_silently"].output == "The tool reported an error and said nothing about it."
    assert PNG.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("structured", "texts", "expected"),
    [
        ({"a": 1}, ['{"a": 1}'], True),
        ({"a": 1}, [], False),
        ({"a": 1}, ["one"], False),
        ({"result": 3}, ["3"], True),
        ({"result": "three"}, ["three"], True),
        ({"result": [{"a": 1}, {"a": 2}]}, ['{"a": 1}', '{"a": 2}'], True),
        ({"result": ["x", "y"]}, ["x", "y"], True),
        ({"result": 3, "more": 1}, ["3"], False),
        ({"a": 1}, ["[" * 100_000], False),
    ],
)
def test_structured_content_is_added_only_when_the_text_does_not_say_it(
    structured: Any, texts: list[str], expected: bool
) -> None:
    assert is_said(structured, texts) is expected


async def test_progress_never_hides_the_result(tmp_path: Path) -> None:
    async with session(tmp_path, workshop()) as here:
        await here.connect()
        output = (await here.call("mcp__workshop__report", times=1000)).output
    assert output.startswith("[0/1000] and on\n[1/1000] and on\n")
    assert output.endswith("[no more progress is shown]\nthe result")
    assert len(output) < 2_100


async def test_b110_a_result_of_3_mb_in_one_line_arrives_whole(tmp_path: Path) -> None:
    with serving("workshop.py", "http") as served:
        async with session(tmp_path, workshop(), McpServer(name="far", url=f"{served.url}/mcp")) as here:
            await here.connect()
            for name in ("workshop", "far"):
                toolbox = Toolbox(here.mcp.tools, context=here.context, limits=Limits(output=4_000_000))
                output = await run(toolbox, call(f"mcp__{name}__text", size=3_000_000))
                assert output.output == "x" * 3_000_000


async def test_b157_a_call_has_a_limit_that_progress_does_not_extend(tmp_path: Path) -> None:
    async with session(tmp_path, workshop(call_timeout_s=0.3)) as here:
        await here.connect()
        begun = time.monotonic()
        output = await here.call("mcp__workshop__build", gate=str(tmp_path / "never"))
        assert time.monotonic() - begun < 1
        assert (output.stop_reason, output.output) == ("fatal", "[1/3] sawing\n[timed out after 0.3 s]")
        assert (await here.call("mcp__workshop__add", a=1, b=2)).output == "3"


async def test_b163_a_server_that_dies_in_a_call_is_an_error_at_once_and_back_at_the_next_run(tmp_path: Path) -> None:
    async with session(tmp_path, workshop(), odd(tools=["a"])) as here:
        await here.connect()
        begun = time.monotonic()
        output = await here.call("mcp__workshop__die", code=7)
        assert time.monotonic() - begun < 1
        gone = "The MCP server is gone (it ended with exit code 7; its last words: a last word)."
        assert output.stop_reason == "fatal"
        assert (
            output.output == f"{gone} The call may have had an effect. The server is connected again at the next run."
        )
        output = await here.call("mcp__workshop__add", a=1, b=2)
        assert output.output == f"{gone} It is connected again at the next run."
        assert (await here.call("mcp__odd__a")).output == "a in odd"
        assert list(await here.connect()) == ["workshop"]
        assert (await here.call("mcp__workshop__add", a=1, b=2)).output == "3"


async def test_b163_a_server_killed_between_calls_is_an_error_at_once(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"])) as here:
        await here.connect()
        for pid in here.pids():
            os.kill(pid, signal.SIGKILL)
        begun = time.monotonic()
        output = await here.call("mcp__odd__a")
        assert time.monotonic() - begun < 1
        assert output.output.startswith("The MCP server is gone (it was killed by SIGKILL)")
        assert (await here.connect())["odd"].status == "completed"
        assert (await here.call("mcp__odd__a")).output == "a in odd"


@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_b163_a_far_server_that_dies_is_an_error_at_once(tmp_path: Path, transport: Transport, path: str) -> None:
    with serving("workshop.py", transport) as served:
        async with session(tmp_path, McpServer(name="w", transport=transport, url=f"{served.url}/{path}")) as here:
            await here.connect()
            started = tmp_path / "started"
            async with here.calling("mcp__w__wait", started=str(started), ended=str(tmp_path / "ended")) as running:
                await until(started.exists)
                served.kill()
                output = await running.output(seconds=1)
                assert output.stop_reason == "fatal"
                assert output.output.startswith("The MCP server is gone (")
            output = await here.call("mcp__w__add", a=1, b=2)
            assert output.output.endswith("It is connected again at the next run.")
            assert (await here.connect())["w"].error_message == "ConnectError: All connection attempts failed"


@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_b163_a_far_server_that_was_started_anew_is_noticed_by_the_next_run(
    tmp_path: Path, transport: Transport, path: str
) -> None:
    with serving("workshop.py", transport) as served:
        port = served.url.rpartition(":")[2]
        async with session(tmp_path, McpServer(name="w", transport=transport, url=f"{served.url}/{path}")) as here:
            await here.connect()
            served.kill()
            with serving("workshop.py", transport, port):
                assert (await here.connect())["w"].status == "completed"
                assert (await here.call("mcp__w__add", a=1, b=2)).output == "3"


async def test_a_call_that_the_server_refuses_is_an_error_in_its_words(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"], refuse={"tools/call": -32602})) as here:
        await here.connect()
        output = await here.call("mcp__odd__a")
        assert (output.stop_reason, output.output) == ("fatal", "The MCP server refused the call: refused")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a \\ud83d b"}]}}', "a \ufffd b"),
        ('{"jsonrpc":"2.0","id":ID,"result":{}}', "[no output]"),
        ('{"jsonrpc":"2.0","id":ID,"result":[]}', "The MCP server refused the call: the answer does not follow the"),
        ('{"jsonrpc":"2.0","id":ID,"error":"no"}', "The MCP server refused the call: the answer does not follow the"),
        ('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"smell"}]}}', "The answer of the MCP server does not"),
        ('{"jsonrpc":"2.0","id":ID,"result":{"content":"x"}}', "The answer of the MCP server does not follow the prot"),
    ],
)
async def test_odd_answers_end_the_call(tmp_path: Path, answer: str, wanted: str) -> None:
    async with session(tmp_path, odd(tools=["a"], answer=answer)) as here:
        await here.connect()
        async with here.calling("mcp__odd__a") as running:
            assert (await running.output()).output.startswith(wanted)


async def test_secrets_of_the_configuration_reach_no_output_log_or_error(tmp_path: Path) -> None:
    servers = (
        workshop(env={"SHOP_TOKEN": SECRET, "MODE": "production"}),
        odd("leaky", leaves=True, complaints=[f"cannot log in with {SECRET}"], options={"env": {"A": SECRET}}),
        McpServer(name="header", url="http://127.0.0.1:9/mcp", headers={"Authorization": f"Bearer {SECRET}\n"}),
        McpServer(name="command", command=f"./{SECRET}", args=("--token", SECRET)),
        structs.replace(odd("vault", leaves=True, complaints=["${KEY}"]), env={"PYTHONPATH": "${PYTHONPATH}"}),
    )
    async with session(tmp_path, *servers, KEY=SECRET, PYTHONPATH=str(Path(__file__).parents[3])) as here:
        results = await here.connect()
        assert [each.status for each in results.values()] == ["completed", "fatal", "fatal", "fatal", "fatal"]
        assert "[redacted]" in (results["leaky"].error_message or "")
        assert SECRET not in repr(here.events)
        assert (await here.call("mcp__workshop__variable", name="SHOP_TOKEN")).output == "[redacted]"
        assert (await here.call("mcp__workshop__variable", name="MODE")).output == "production"
        for file in here.context.scratchpad.iterdir():
            assert SECRET not in file.read_text()
        assert "cannot log in with [redacted]" in here.log("leaky")
        assert "[redacted]" in here.log("vault")


async def test_servers_see_what_commands_see(tmp_path: Path) -> None:
    async with session(tmp_path, workshop(env={"OWN": "1"}), OF_THE_VAULT="2") as here:
        await here.connect()
        values = [
            (await here.call("mcp__workshop__variable", name=name)).output
            for name in ("OWN", "OF_THE_VAULT", "NO_COLOR")
        ]
        assert values == ["1", "2", "1"]


async def test_what_a_server_writes_to_stderr_is_kept_in_its_log_up_to_a_limit(tmp_path: Path) -> None:
    async with session(tmp_path, odd(tools=["a"], complaints=["first"], shouts=6_000_000)) as here:
        await here.connect()
        assert (await here.call("mcp__odd__a")).output == "a in odd"
        await until(lambda: len(here.log("odd")) == 5_000_000)
        assert here.log("odd").startswith("first\nxxx")
