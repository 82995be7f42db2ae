"""Ways to an endpoint: a certificate authority of one's own, proxies, IPv6. Each in a process with its environment."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from tests.llm.server import RawServer, answer

ROOT = Path(__file__).parents[2]
HOST = "api.vendor.example"
KEY = "sk-test-1234567"

ASK = """
import asyncio, sys
from penguin_harness.contracts import ModelRef, Request
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import Text

async def main():
    model = create_model(ModelRef("custom", "m"), base_url=sys.argv[1], api_key=sys.argv[2])
    async for item in model.stream(Request("", (Text("user", "hi"),))):
        last = item
    await model.aclose()
    print(last.status, last.error_code, last.error_message)

asyncio.run(main())
"""


async def asked(url: str, **environment: str) -> str:
    """What comes of a request in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", ASK, url, KEY,
        cwd=ROOT, env={**kept, "PYTHONPATH": str(ROOT / "src"), **environment},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(30):
        out, errors = await process.communicate()
    assert errors == b""
    return out.decode().strip()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@asynccontextmanager
async def https(authority: trustme.CA) -> AsyncGenerator[tuple[RawServer, int]]:
    """The raw server behind TLS, and its port."""
    raw = RawServer()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", HOST).configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    listening = await asyncio.start_server(raw._connected, "127.0.0.1", 0, ssl=context)  # pyright: ignore[reportPrivateUsage]
    try:
        yield raw, listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        await raw.stop()


async def test_a_certificate_authority_of_ones_own(authority: trustme.CA, tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))
    async with https(authority) as (raw, port):
        raw.answers(*answer("ok"))
        refused = await asked(f"https://localhost:{port}/v1")
        assert refused.startswith("fatal network")
        assert "SSL_CERT_FILE" in refused
        assert raw.requests == []
        assert await asked(f"https://localhost:{port}/v1", SSL_CERT_FILE=str(pem)) == "completed None None"


class Proxy:
    """A proxy that takes every host to one port, and remembers what it was asked."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.split(b"\r\n")[0].decode())
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        if head.startswith(b"CONNECT"):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            back.write(head)
        await asyncio.gather(pump(reader, back), pump(there, writer))


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except ConnectionError:
        pass
    finally:
        sink.close()


@asynccontextmanager
async def proxy(target: int) -> AsyncGenerator[tuple[Proxy, str]]:
    one = Proxy(target)
    listening = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    try:
        yield one, f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()


async def test_a_proxy_carries_https_without_seeing_the_key(authority: trustme.CA, tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))
    async with https(authority) as (raw, port), proxy(port) as (between, url):
        raw.answers(*answer("ok"))
        told = await asked(f"https://{HOST}/v1", HTTPS_PROXY=url, SSL_CERT_FILE=str(pem))
    assert told == "completed None None"
    assert between.asked == [f"CONNECT {HOST}:443 HTTP/1.1"]
    assert KEY in raw.requests[0].head


async def test_no_proxy_goes_straight(authority: trustme.CA) -> None:
    async with https(authority) as (_, port), proxy(port) as (between, url):
        told = await asked(f"https://{HOST}/v1", HTTPS_PROXY=url, NO_PROXY=HOST)
    assert told.startswith("retryable network")
    assert between.asked == []


async def test_a_proxy_carries_http_and_one_that_is_not_there_is_named() -> None:
    raw = RawServer()
    listening = await raw.start()
    raw.answers(*answer("ok"))
    async with proxy(raw.port) as (between, url):
        assert await asked(f"http://{HOST}/v1", HTTP_PROXY=url) == "completed None None"
    assert between.asked == [f"POST http://{HOST}/v1/chat/completions HTTP/1.1"]
    listening.close()
    await raw.stop()
    told = await asked(f"http://{HOST}/v1", HTTP_PROXY="http://127.0.0.1:9")
    assert told.startswith("retryable network cannot connect to the proxy 127.0.0.1:9")


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
async def test_an_ipv6_address() -> None:
    raw = RawServer()
    try:
        listening = await asyncio.start_server(raw._connected, "::1", 0)  # pyright: ignore[reportPrivateUsage]
    except OSError as error:
        pytest.skip(f"this machine has no IPv6 loopback: {error}")
    raw.answers(*answer("ok"))
    port = listening.sockets[0].getsockname()[1]
    assert await asked(f"http://[::1]:{port}/v1") == "completed None None"
    assert raw.requests[0].head.splitlines()[1] == f"Host: [::1]:{port}"
    listening.close()
    await raw.stop()
