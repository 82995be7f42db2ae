"""What goes wrong between us and a provider, classified: is it worth another try, and in whose words."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
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
_REQUEST_ID = ("x-request-id", "request-id", "x-goog-request-id", "cf-ray")
_TRANSIENT = ("ratelimit", "toomany", "overload", "quota", "capacity", "throttl", "timeout", "unavailable", "server")
_CREDENTIALS = ("auth", "apikey", "permission", "forbidden", "accessdenied")
_DEFINITIVE = (
    *("invalid", "badrequest", "contextlength", "notfound", "unsupported", "policy", "residency"),
    *("toolarge", "toosmall", "imageparse", "emptyimage"),
)


class TransportError(Exception):
    """A request that failed, as its Outcome will say it."""

    def __init__(self, status: StopReason, code: ErrorCode, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.status: StopReason = status
        self.code: ErrorCode = code
        self.message = message
        self.retry_after_ms = retry_after_ms

    @property
    def overflow(self) -> bool:
        """Whether the request was refused because it does not fit into the model's window."""
        return self.code == "rejected" and _OVERFLOW.search(self.message) is not None

    def outcome(self, usage: TokenCounts | None = None) -> Outcome:
        """The last item of the stream that it ends; the message is cut here, when nothing secret is left in it."""
        message = self.message[:MESSAGE_LIMIT]
        return Outcome(self.status, self.code, message, usage, self.retry_after_ms, self.overflow)


def malformed(message: str) -> TransportError:
    """An answer that cannot be read, or that broke off."""
    return TransportError("retryable", "malformed", message)


def of_status(status: int, body: bytes, headers: Mapping[str, str], *, reason: str = "") -> TransportError:
    """An HTTP answer that is no success."""
    told = read_loosely(body)
    text = explain(told) or reason
    retry, code = ("fatal", "auth") if _is_about_key(told) else classify(status, text)
    named = next((headers[name] for name in _REQUEST_ID if name in headers), None) or _request_id(told)
    message = f"HTTP {status}" + (f" (request id {named})" if named else "") + (f": {text}" if text else "")
    wait = retry_after_ms(headers)
    return TransportError(retry, code, message, retry_after_ms=_asked_wait(told) if wait is None else wait)


def of_event(error: object) -> TransportError:
    """An error inside a stream that began well, classified like the status it stands for."""
    text = explain(error) or "the provider reported an error without a text"
    if named := _request_id(error):
        text = f"(request id {named}) {text}"
    wait = _asked_wait(error)
    labels = _labels(error)
    status = next((int(label) for label in labels if label.isdigit() and 400 <= int(label) < 600), None)
    if _is_about_key(error):
        return TransportError("fatal", "auth", text)
    if status is not None:
        return TransportError(*classify(status, text), text, retry_after_ms=wait)
    words = re.sub(r"[^a-z]", "", "".join(labels).lower())
    return TransportError(*_classify_words(words), text, retry_after_ms=wait)


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
    from email.utils import parsedate_to_datetime  # hardly any server says it as a date

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


def _request_id(error: object) -> str | None:
    match error:
        case {"request_id": str(named)} | {"error": {"request_id": str(named)}}:
            return named
        case _:
            return None


def _details(error: object) -> list[dict[str, object]]:
    """The typed details of a Google error."""
    match error:
        case list() if error:
            return _details(cast(list[object], error)[0])
        case dict():
            fields = cast(dict[str, object], error)
        case _:
            return []
    if "error" in fields:
        return _details(fields["error"])
    details = fields.get("details")
    found = cast(list[object], details) if isinstance(details, list) else []
    return [cast(dict[str, object], detail) for detail in found if isinstance(detail, dict)]


def _is_about_key(error: object) -> bool:
    """Google answers 400 to a wrong key."""
    return any(detail.get("reason") == "API_KEY_INVALID" for detail in _details(error))


def _asked_wait(error: object) -> int | None:
    """Google says in the body how long to wait, as `"17.5s"`."""
    delays = (detail.get("retryDelay") for detail in _details(error))
    delay = next((delay for delay in delays if isinstance(delay, str)), None)
    return None if delay is None else _number(delay.removesuffix("s"), scale=1000)


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
