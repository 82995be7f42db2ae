"""The transport that all adapters share: a POST whose answer is read as it arrives, whole answers,
failures classified.

Two clocks watch an answer. The idle limit runs while nothing at all arrives; the content limit runs through
heartbeats too. Both count only time spent waiting for the server, never the time that a slow consumer takes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from yarl import URL

from penguin_harness.llm.failure import TransportError, innermost_cause, malformed, of_exception, of_status
from penguin_harness.llm.proxy import proxy_for
from penguin_harness.llm.sse import Event, SseReader, WholeBody

CONNECT_TIMEOUT = 30.0
ERROR_BODY_TIMEOUT = 10.0
ERROR_BODY_LIMIT = 64 * 1024
WHOLE_LIMIT = 16 * 1024 * 1024
"""Bytes of an answer that is read whole: long lists of models have a few hundred thousand."""
DRAIN_TIMEOUT = 0.25
"""How long an answer that has said everything may take to end, so that its connection can be used again."""

_SHORTEST_SECRET = 7  # shorter keys are placeholders, as `EMPTY`, and ordinary words
_POST = {"Content-Type": "application/json", "Accept": "text/event-stream"}
_GET = {"Accept": "application/json"}


class Answer(Struct, frozen=True):
    """What an endpoint answers, success or not; the key is not in it."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    whole: bool
    """Whether the body came to its end, in time and within the limit."""


class Transport:
    """Asks at one URL, over connections that it keeps."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        secret: str | None = None,
        idle_timeout: float = 120.0,
        content_timeout: float = 600.0,
    ) -> None:
        self.url = url
        self._parsed_url = URL(url)
        self.content_timeout = content_timeout
        self.idle_timeout = idle_timeout
        self._headers = {"User-Agent": "penguin-harness", **headers}
        self._secret = secret if secret and len(secret) >= _SHORTEST_SECRET else None
        self._session: aiohttp.ClientSession | None = None
        self._kept = False
        """Whether a connection may be left over from an earlier answer."""

    def post(self, body: bytes) -> Reply:
        """The answer to this body, to be entered with `async with`."""
        return Reply(self, body)

    async def open(self, body: bytes) -> aiohttp.ClientResponse:
        """Send the request and wait for the head of a successful answer. Raises TransportError."""
        response = await self._begin(body)
        if response.status == 200:
            self._kept = True
            return response
        try:
            raise self.refused(await self._read(response, limit=ERROR_BODY_LIMIT, within=ERROR_BODY_TIMEOUT))
        finally:
            response.close()

    async def ask(
        self,
        body: bytes | None = None,
        *,
        query: Mapping[str, str] | None = None,
        limit: int = ERROR_BODY_LIMIT,
        within: float = ERROR_BODY_TIMEOUT,
    ) -> Answer:
        """The answer to a POST of the body, or to a GET, whatever its status: what comes of it in so many seconds.

        Raises TransportError when nothing answers.
        """
        try:
            async with asyncio.timeout(within):
                response = await self._begin(body, query)
        except TimeoutError:
            raise TransportError("retryable", "timeout", f"nothing arrived for {within:g} s") from None
        try:
            return await self._read(response, limit=limit, within=within)
        finally:
            response.close()

    async def get(self, query: Mapping[str, str] | None = None) -> bytes:
        """The whole body of a successful answer to a GET. Raises TransportError."""
        answer = await self.ask(query=query, limit=WHOLE_LIMIT, within=self.idle_timeout)
        if answer.status != 200:
            raise self.refused(answer)
        if not answer.whole:
            raise malformed("the answer broke off, or is too long")
        return answer.body

    async def _begin(self, body: bytes | None, query: Mapping[str, str] | None = None) -> aiohttp.ClientResponse:
        url = self._parsed_url.update_query(query) if query else self._parsed_url
        try:
            return await self._send(url, body)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            if not self._kept or isinstance(error, aiohttp.ClientConnectorError):
                raise self.failed(error) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self.failed(error) from error
        # A server may close an idle connection just when it is used again; nothing was answered on it.
        self._kept = False
        return await self._begin(body, query)

    async def _send(self, url: URL, body: bytes | None) -> aiohttp.ClientResponse:
        if self._session is None:
            self._session = self._new_session()
        # A redirect is never followed: the key must not go to another host.
        if body is None:
            return await self._session.get(url, headers=_GET, allow_redirects=False)
        return await self._session.post(url, data=body, headers=_POST, allow_redirects=False)

    async def _read(self, response: aiohttp.ClientResponse, *, limit: int, within: float) -> Answer:
        body, whole = b"", False
        try:
            async with asyncio.timeout(within):
                while len(body) < limit and (piece := await response.content.readany()):
                    body += piece
                whole = response.content.at_eof()
        except (aiohttp.ClientError, OSError):  # what arrived has to do
            pass
        if self._secret is not None:
            body = body.replace(self._secret.encode(), b"[redacted]")
        return Answer(response.status, response.reason or "", response.headers, body, whole)

    def refused(self, answer: Answer) -> TransportError:
        """An answer that is no success, as the failure of the request."""
        if 300 <= answer.status < 400:
            target = answer.headers.get("location", "an address it does not name")
            text = f"HTTP {answer.status}: the endpoint redirects to {target}; set that as the base_url if you trust it"
            return self.redacted(TransportError("fatal", "rejected", text))
        return self.redacted(of_status(answer.status, answer.body, answer.headers, reason=answer.reason))

    def failed(self, error: Exception) -> TransportError:
        """A broken connection as the failure of the request."""
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        match error:
            case aiohttp.SocketTimeoutError():
                return TransportError("retryable", "timeout", f"nothing arrived for {self.idle_timeout:g} s")
            case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
                cause = innermost_cause(error)
                text = (
                    f"{parts.hostname}:{port} is not trusted ({cause}); for an authority of your own set SSL_CERT_FILE"
                )
                failure = TransportError("fatal", "network", text)
            case aiohttp.ClientProxyConnectionError():
                failure = of_exception(error, f"cannot connect to the proxy {error.host}:{error.port}")
            case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
                failure = of_exception(error, f"cannot connect to {parts.hostname}:{port}, check the base_url")
            case _:
                failure = of_exception(error, f"the connection to {parts.hostname}:{port} broke")
        return self.redacted(failure)

    def redacted(self, failure: TransportError) -> TransportError:
        """The same failure without the key, whoever put it into the text."""
        if self._secret is None or self._secret not in failure.message:
            return failure
        text = failure.message.replace(self._secret, "[redacted]")
        return TransportError(failure.status, failure.code, text, retry_after_ms=failure.retry_after_ms)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _new_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            headers=self._headers,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_for(self.url),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=self.idle_timeout),
        )


class Reply:
    """One answer: entered when its head is there, left with its connection given back or closed."""

    def __init__(self, transport: Transport, body: bytes) -> None:
        self._transport = transport
        self._body = body
        self._reader: SseReader | WholeBody | None = None
        self._silence = 0.0
        self._ended = False

    async def __aenter__(self) -> Reply:
        self._response = await self._transport.open(self._body)
        self._content = self._response.content
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and not self._content.at_eof():
                async with asyncio.timeout(DRAIN_TIMEOUT):
                    while await self._content.readany():
                        pass
        except (aiohttp.ClientError, OSError):
            pass
        finally:
            self._response.close()  # without effect on a connection whose answer was read to its end

    async def events(self, *, within: float | None = None) -> list[Event] | None:
        """The events that arrive next, perhaps none yet; None at the end. Raises TransportError.

        `within` is a limit for this wait alone, after which the answer counts as ended.
        """
        if self._ended:
            return None
        if self._silence > self._transport.content_timeout:
            raise TransportError("retryable", "timeout", f"only heartbeats arrived for {self._silence:.0f} s")
        chunk = await self._next_chunk(within)
        if self._reader is None:
            self._reader = WholeBody() if chunk.lstrip()[:1] in (b"{", b"[") else SseReader()
        if chunk:
            return self._reader.feed(chunk)
        self._ended = True
        return self._reader.finish()

    def alive(self) -> None:
        """Content came: the content limit starts again."""
        self._silence = 0.0

    async def _next_chunk(self, within: float | None) -> bytes:
        started = time.monotonic()
        try:
            if within is None or self._content.at_eof():
                return await self._content.readany()
            async with asyncio.timeout(within):
                return await self._content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if within is not None and isinstance(error, TimeoutError):
                return b""
            raise self._transport.failed(error) from error
        finally:
            self._silence += time.monotonic() - started
