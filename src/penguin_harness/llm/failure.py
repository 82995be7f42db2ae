"""What goes wrong between us and a provider, classified: is it worth another try, and in whose words."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import cast

import msgspec

from penguin_harness.contracts import Outcome
from penguin_harness.omnimessage import ErrorCode, StopReason, TokenCounts

MESSAGE_LIMIT = 1000
"""Characters of an error message that are kept."""

_BUSY = re.compile(r"quota|rate.?limit|\blimit|overload|capacity|throttl|too many|unavailable|busy", re.IGNORECASE)
_OVERFLOW = re.compile(
    r"context.?length|context.?window|context.?size|context.?limit|maximum context|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|token limit|tokens? (?:count )?exceeds?|exceeds? the (?:maximum|max)[^.]*tokens"
    r"|reduce the length|request too large|too large for model",
    re.IGNORECASE,
)
"""How providers word that a request does not fit into the model's window."""
_TRANSIENT = ("ratelimit", "toomany", "overload", "quota", "capacity", "throttl", "timeout", "unavailable", "server")
_CREDENTIALS = ("auth", "apikey", "permission", "forbidden", "accessdenied")
_DEFINITIVE = ("invalid", "badrequest", "contextlength", "notfound", "unsupported", "toolarge", "contentpolicy")


class TransportError(Exception):
    """A request that failed, as its Outcome will say it."""

    def __init__(self, status: StopReason, code: ErrorCode, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.status: StopReason = status
        self.code: ErrorCode = code
        self.message = message
        self.retry_after_ms = retry_after_ms

    def outcome(self, usage: TokenCounts | None = None) -> Outcome:
        """The last item of the stream that it ends; the message is cut here, when nothing secret is left in it."""
        overflow = self.code == "rejected" and _OVERFLOW.search(self.message) is not None
        return Outcome(self.status, self.code, self.message[:MESSAGE_LIMIT], usage, self.retry_after_ms, overflow)


def malformed(message: str) -> TransportError:
    """An answer that cannot be read, or that broke off."""
    return TransportError("retryable", "malformed", message)


def of_status(status: int, body: bytes, headers: Mapping[str, str], *, reason: str = "") -> TransportError:
    """An HTTP answer that is no success."""
    text = explain(read_loosely(body)) or reason
    retry, code = classify(status, text)
    message = f"HTTP {status}"
    if request_id := headers.get("x-request-id") or headers.get("request-id"):
        message += f" (request id {request_id})"
    if text:
        message += f": {text}"
    return TransportError(retry, code, message, retry_after_ms=retry_after_ms(headers))


def of_event(error: object) -> TransportError:
    """An error inside a stream that began well, classified like the status it stands for."""
    text = explain(error) or "the provider reported an error without a text"
    labels = _labels(error)
    for label in labels:
        if label.isdigit() and 400 <= int(label) < 600:
            return TransportError(*classify(int(label), text), text)
    return TransportError(*_classify_words(re.sub(r"[^a-z]", "", "".join(labels).lower())), text)


def of_exception(error: BaseException, what: str) -> TransportError:
    """A broken connection, or anything unforeseen: worth another try, told with its innermost cause."""
    return TransportError("retryable", "network", f"{what}: {innermost_cause(error)}")


def classify(status: int, text: str) -> tuple[StopReason, ErrorCode]:
    """What an HTTP status means for a retry; gateways also say 403 when they are only busy."""
    if status == 401 or (status == 403 and not _BUSY.search(text)):
        return "fatal", "auth"
    if status in {403, 408, 409, 425, 429} or not 400 <= status < 500:
        return "retryable", "network"
    return "fatal", "rejected"


def innermost_cause(error: BaseException) -> str:
    """The exception at the end of the chain of causes, by name and text."""
    inner, seen = error, {id(error)}
    while isinstance(cause := inner.__cause__ or inner.__context__, Exception) and id(cause) not in seen:
        seen.add(id(cause))
        inner = cause
    text = str(inner) or str(error)
    return f"{type(inner).__name__}: {text}" if text else type(inner).__name__


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """The wait that the server asks for: `retry-after-ms`, or Retry-After in seconds or as a date."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds
    value = headers.get("retry-after")
    if (seconds := _number(value, scale=1000)) is not None or value is None:
        return seconds
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    try:
        now = parsedate_to_datetime(headers["date"]).timestamp()  # the server's clock, ours may differ
    except (KeyError, ValueError, OverflowError):
        now = time.time()
    return max(0, round((until - now) * 1000))


def read_loosely(body: bytes) -> object:
    """The body as JSON where it is, else as text on one line."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return " ".join(body.decode(errors="replace").split())


def explain(error: object) -> str:
    """The provider's own words, out of the shapes that errors come in."""
    match error:
        case str():
            return error
        case list() if error:
            return explain(cast(list[object], error)[0])
        case dict():
            return _words(cast(dict[str, object], error))
        case _:
            return ""


def _words(error: dict[str, object]) -> str:
    match error:
        case {"message": str(message), "metadata": {"raw": str(raw)}}:  # OpenRouter: what the upstream said
            return f"{message}: {raw}"
        case {"error": inner} if inner:
            return explain(inner)
        case {"message": str(message), "code": str(code)} if message and not code.isdigit() and code not in message:
            return f"{message} ({code})"
        case {"message": str(message)} | {"detail": str(message)} if message:
            return message
        case _:
            return msgspec.json.encode(error).decode() if error else ""


def _labels(error: object) -> list[str]:
    if not isinstance(error, dict):
        return []
    fields = cast(dict[str, object], error)
    if isinstance(inner := fields.get("error"), dict):
        return _labels(cast(object, inner))
    return [str(value) for name in ("code", "status", "type") if isinstance(value := fields.get(name), str | int)]


def _classify_words(words: str) -> tuple[StopReason, ErrorCode]:
    if any(word in words for word in _TRANSIENT):
        return "retryable", "network"
    if any(word in words for word in _CREDENTIALS):
        return "fatal", "auth"
    if any(word in words for word in _DEFINITIVE):
        return "fatal", "rejected"
    return "retryable", "network"


def _number(value: str | None, *, scale: int = 1) -> int | None:
    try:
        return max(0, round(float(value or "") * scale))
    except (ValueError, OverflowError):  # no number, or an infinite one
        return None
