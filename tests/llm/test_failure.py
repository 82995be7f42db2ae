"""Failures are classified by whether another try can help, and told in the provider's words."""

from __future__ import annotations

import asyncio

import pytest

from penguin_harness.llm.failure import (
    MESSAGE_LIMIT,
    classify,
    explain,
    innermost_cause,
    of_event,
    of_exception,
    of_status,
    read_loosely,
    retry_after_ms,
)


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (400, "", ("fatal", "rejected")),
        (401, "too many requests", ("fatal", "auth")),
        (402, "", ("fatal", "rejected")),
        (403, "country not supported", ("fatal", "auth")),
        (403, "Your quota is used up", ("retryable", "network")),
        (403, "rate limited", ("retryable", "network")),
        (404, "", ("fatal", "rejected")),
        (408, "", ("retryable", "network")),
        (409, "", ("retryable", "network")),
        (413, "", ("fatal", "rejected")),
        (425, "", ("retryable", "network")),
        (429, "", ("retryable", "network")),
        (500, "", ("retryable", "network")),
        (529, "", ("retryable", "network")),
        (599, "Upstream stream failed", ("retryable", "network")),
        (204, "", ("retryable", "network")),
    ],
)
def test_b084_a_status_stands_for_retry_or_not(status: int, text: str, expected: tuple[str, str]) -> None:
    assert classify(status, text) == expected


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"message":"Bad model"}}', "Bad model"),
        (b'{"error":{"message":"Too long","code":"context_length_exceeded"}}', "Too long (context_length_exceeded)"),
        (b'{"error":{"code":"context_length_exceeded"}}', '{"code":"context_length_exceeded"}'),
        (b'{"error":"Overloaded"}', "Overloaded"),
        (b'{"message":"nope"}', "nope"),
        (b'{"detail":"Not Found"}', "Not Found"),
        (b'{"detail":[{"msg":"field required"}]}', '{"detail":[{"msg":"field required"}]}'),
        (b'[{"error":{"message":"in a list"}}]', "in a list"),
        (
            b'{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream sank"}}}',
            "Provider returned error: upstream sank",
        ),
        (b"<html>\n <b>502</b>\n</html>", "<html> <b>502</b> </html>"),
        (b"\xff", "\ufffd"),
        (b"", ""),
        (b"null", ""),
        (b"[]", ""),
        (b"{}", ""),
        (b"[" * 100_000, "[" * 100_000),
    ],
)
def test_the_providers_own_words_are_found(body: bytes, text: str) -> None:
    assert explain(read_loosely(body)) == text


def test_a_refusal_names_status_text_and_request_id() -> None:
    headers = {"x-request-id": "req_7", "retry-after": "2"}
    failure = of_status(429, b'{"error":{"message":"Slow down"}}', headers)
    assert failure.message == "HTTP 429 (request id req_7): Slow down"
    assert (failure.status, failure.code, failure.retry_after_ms) == ("retryable", "network", 2000)
    assert of_status(500, b"x" * 5000, {}).outcome().error_message == "HTTP 500: " + "x" * (MESSAGE_LIMIT - 10)
    assert of_status(503, b"", {}, reason="Service Unavailable").message == "HTTP 503: Service Unavailable"


@pytest.mark.parametrize(
    ("headers", "milliseconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3000),
        ({"retry-after": "0.25"}, 250),
        ({"retry-after": "-1"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9", "retry-after-ms": "120"}, 120),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:07 GMT", "date": "Tue, 01 Dec 2026 09:00:00 GMT"}, 7000),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:07 GMT", "date": "Tue, 01 Dec 2026 09:01:00 GMT"}, 0),
        ({"retry-after": "Tue, 01 Dec 1998 09:00:07 GMT"}, 0),
        ({"retry-after": "Tue, 01 Dec 99999999 09:00:07 GMT"}, None),
    ],
)
def test_b081_the_servers_wait_is_read(headers: dict[str, str], milliseconds: int | None) -> None:
    assert retry_after_ms(headers) == milliseconds


def test_b084_the_innermost_cause_is_named() -> None:
    inner = ConnectionResetError(104, "Connection reset by peer")
    outer = RuntimeError("terminated")
    middle = OSError("read failed")
    outer.__cause__, middle.__context__ = middle, inner
    assert innermost_cause(outer) == "ConnectionResetError: [Errno 104] Connection reset by peer"
    assert of_exception(outer, "it broke").message.startswith("it broke: ConnectionResetError")


def test_a_cause_without_words_borrows_them_and_a_circle_ends() -> None:
    outer, inner = RuntimeError("no answer from host"), TimeoutError()
    outer.__cause__, inner.__cause__ = inner, outer
    assert innermost_cause(outer) == "TimeoutError: no answer from host"
    assert innermost_cause(ValueError()) == "ValueError"
    inner.__cause__ = None
    inner.__context__ = asyncio.CancelledError()
    assert innermost_cause(outer) == "TimeoutError: no answer from host"


REFUSALS = (
    *("invalid_prompt", "bio_policy", "misalignment_policy_violation", "data_residency_mismatch", "image_too_small"),
    *("image_parse_error", "empty_image_file", "image_content_policy_violation", "unsupported_image_media_type"),
)
"""Codes in failed responses that no second try changes."""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "m", "code": 401}, ("fatal", "auth")),
        ({"message": "m", "code": "429"}, ("retryable", "network")),
        ({"message": "quota", "code": 403}, ("retryable", "network")),
        ({"message": "m", "type": "BadRequestError", "code": 400}, ("fatal", "rejected")),
        ({"message": "m", "type": "invalid_request_error", "code": "invalid_api_key"}, ("fatal", "auth")),
        ({"message": "m", "type": "authentication_error"}, ("fatal", "auth")),
        ({"message": "m", "type": "invalid_request_error", "code": "context_length_exceeded"}, ("fatal", "rejected")),
        ({"message": "m", "type": "invalid_request_error", "code": "rate_limit_exceeded"}, ("retryable", "network")),
        ({"message": "m", "type": "overloaded_error"}, ("retryable", "network")),
        ({"message": "m", "type": "server_error"}, ("retryable", "network")),
        ({"message": "m", "status": "UNAVAILABLE", "code": 503}, ("retryable", "network")),
        ({"message": "m", "type": "something_new"}, ("retryable", "network")),
        ({"message": "m", "code": "rate_limit_exceeded"}, ("retryable", "network")),
        *(({"message": "m", "code": code}, ("fatal", "rejected")) for code in REFUSALS),
        ("Overloaded", ("retryable", "network")),
        (None, ("retryable", "network")),
    ],
)
def test_b056_an_error_event_counts_as_the_status_it_stands_for(error: object, expected: tuple[str, str]) -> None:
    for shape in (error, {"error": error} if error else error):
        failure = of_event(shape)
        assert (failure.status, failure.code) == expected
        assert failure.message


@pytest.mark.parametrize(
    "words",
    [
        '{"error":{"message":"The maximum context length is 128000 tokens."}}',
        '{"error":{"message":"no","code":"context_length_exceeded"}}',
        '{"error":{"message":"prompt is too long: 214676 tokens > 200000 maximum"}}',
        '{"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}',
        '{"error":{"message":"the request exceeds the available context size, try increasing it"}}',
        '{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens (1048576)."}}',
        '{"error":{"message":"Input is too long for requested model."}}',
        '{"error":{"message":"Please reduce the length of the messages or completion."}}',
        '{"error":{"message":"Your request exceeded model token limit: 131072"}}',
    ],
)
def test_a_request_that_is_too_long_is_recognised_in_its_many_wordings(words: str) -> None:
    """B083."""
    outcome = of_status(400, words.encode(), {}).outcome()
    assert (outcome.error_code, outcome.overflow) == ("rejected", True)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "unknown parameter: temperature"),
        (429, "too many tokens per minute"),
        (400, "max_tokens must be positive"),
    ],
)
def test_other_refusals_are_no_overflow(status: int, words: str) -> None:
    assert not of_status(status, words.encode(), {}).outcome().overflow
