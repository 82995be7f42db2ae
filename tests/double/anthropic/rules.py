"""What a strict endpoint refuses: a pure function of the request, of the demands, and of the answers before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.double import strict_json
from tests.double.anthropic.cache import check_cache, check_marker
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.messages import check_messages, check_sides, check_system
from tests.double.anthropic.pairing import check_pairing
from tests.double.anthropic.parameters import check_parameters
from tests.double.anthropic.prefix import check_prefix
from tests.double.anthropic.replay import check_replay
from tests.double.anthropic.said import stop_reason
from tests.double.anthropic.signature import check_signatures
from tests.double.anthropic.thinking import check_order, check_thinking, kind_of_thinking
from tests.double.anthropic.tools import check_defined, check_tools
from tests.double.anthropic.turns import turns_of
from tests.double.anthropic.wording import check_keys, invalid, required, should_be
from tests.double.protocol import Answer, Asked
from tests.double.refusal import Refusal, as_list, as_object

KEYS = frozenset({
    "cache_control", "inference_geo", "max_tokens", "messages", "metadata", "model", "output_config", "service_tier",
    "stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_p",
})  # fmt: skip
VERSIONS = ("2023-06-01", "2026-10-21")
DROPPED = {"2026-10-21": frozenset({"temperature", "top_k", "top_p"})}
"""Keys that a version no longer knows."""
MAX_BYTES = 32 * 1024 * 1024


def check(asked: Asked, endpoint: AnthropicEndpoint, past: Sequence[Answer]) -> list[Refusal]:
    """Every reason to refuse this request; the answers before count once it is well-formed."""
    found = list(check_headers(asked.headers, endpoint))
    if len(asked.body) > MAX_BYTES:
        return [*found, Refusal("Request exceeds the maximum size", code="request_too_large", status=413)]
    try:
        body = as_object(strict_json.loads(asked.body))
    except ValueError as error:
        return [*found, Refusal(f"The request body is not valid JSON: {error}", code="invalid_json")]
    if body is None:
        return [*found, Refusal("The request body is not valid JSON: not an object", code="invalid_json")]
    if endpoint.max_body_bytes is not None and len(asked.body) > endpoint.max_body_bytes:
        text = f"prompt is too long: {len(asked.body)} tokens > {endpoint.max_body_bytes} maximum"
        found.append(Refusal(text, "messages", "context_length_exceeded"))
    dropped = DROPPED.get(asked.headers.get("anthropic-version", ""), frozenset[str]())
    found += check_keys("", body, (KEYS - dropped) | set(endpoint.extra_keys))
    found += check_body(body, endpoint, paused=bool(past) and stop_reason(past[-1].sent) == "pause_turn")
    return found or list(_check_history(asked.body, body, endpoint, past))


def check_headers(headers: Mapping[str, str], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """Who asks, in which version, and in which form."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    keys = [key for key in (headers.get("x-api-key"), token if scheme == "Bearer" else None) if key]
    if not keys and (endpoint.require_key or endpoint.key is not None):
        yield Refusal("x-api-key header is required", "x-api-key", "invalid_api_key", 401)
    elif endpoint.key is not None and keys[0] != endpoint.key:
        yield Refusal("invalid x-api-key", "x-api-key", "invalid_api_key", 401)
    version = headers.get("anthropic-version")
    if not version:
        yield Refusal("anthropic-version: header is required", "anthropic-version", "missing_header")
    elif version not in VERSIONS:
        yield invalid("anthropic-version", f'"{version}" is not a valid version')
    for beta in filter(None, (one.strip() for one in headers.get("anthropic-beta", "").split(","))):
        if beta not in endpoint.betas:
            text = f"Unexpected value(s) `{beta}` for the `anthropic-beta` header. Please consult our documentation at"
            text = f"{text} platform.claude.com/docs or try again without the header."
            yield Refusal(text, "anthropic-beta", "invalid_value")
    kind, _, parameters = headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json" or parameters.strip().lower() not in ("", "charset=utf-8"):
        yield Refusal("content-type: Input should be 'application/json'", "content-type", "unsupported_content_type")


def check_body(body: dict[str, object], endpoint: AnthropicEndpoint, *, paused: bool) -> Iterator[Refusal]:
    """Everything that the request shows by itself."""
    yield from check_parameters(body, endpoint)
    yield from check_tools(body, endpoint)
    yield from check_thinking(body, endpoint)
    if "system" in body:
        yield from check_system(body["system"])
    yield from check_marker("", body)
    messages = as_list(body.get("messages"))
    if messages is None:
        yield should_be("messages", "a valid array") if "messages" in body else required("messages")
    elif not messages:
        yield invalid("messages", "at least one message is required", "empty_array")
    else:
        turns = turns_of(messages)
        yield from check_messages(messages, endpoint)
        yield from check_sides(turns, endpoint, paused=paused)
        yield from check_pairing(turns)
        yield from check_defined(turns, body)
        yield from check_order(turns) if kind_of_thinking(body) == "enabled" else ()
    yield from check_cache(body, endpoint)


def _check_history(
    raw: bytes, body: dict[str, object], endpoint: AnthropicEndpoint, past: Sequence[Answer]
) -> Iterator[Refusal]:
    yield from check_signatures(raw, str(body.get("model")), endpoint)
    if past:
        yield from check_prefix(past[-1].asked.body, raw, endpoint)
        yield from check_replay(raw, past, endpoint)
