"""What a strict endpoint refuses in a content block."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.double.anthropic.cache import check_marker
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.media import check_source
from tests.double.anthropic.turns import Block, blocks_of
from tests.double.anthropic.wording import (
    check_flag,
    check_keys,
    check_string,
    extra,
    invalid,
    required,
    should_be,
    wrong_tag,
)
from tests.double.refusal import Refusal, as_list, as_object

KEYS = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control"},
    "document": {"source", "title", "context", "citations", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control", "toolset_name"},
}
ROLES = {
    "image": "user",
    "document": "user",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
}
RESULT_KINDS = ("text", "image", "document")
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_block(block: Block, role: str, endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """One block of a message."""
    kind = block.value.get("type")
    if not isinstance(kind, str) or kind not in KEYS:
        yield required(f"{block.at}.type") if "type" not in block.value else wrong_tag(block.at, kind, KEYS)
        return
    if ROLES.get(kind, role) != role:
        at = f"messages.{block.message}"
        yield invalid(at, f"`{kind}` blocks can only be in `{ROLES[kind]}` messages", "wrong_role")
    at = f"{block.at}.{kind}"
    yield from check_keys(at, block.value, KEYS[kind] | {"type"})
    yield from check_marker(at, block.value)
    match kind:
        case "text":
            yield from check_text(block, where="messages")
            if role == "user" and block.value.get("citations"):
                yield extra(f"{at}.citations")
        case "image" | "document":
            yield from _check_media(block, endpoint)
        case "tool_use":
            yield from _check_call(at, block.value)
        case "tool_result":
            yield from _check_result(at, block, endpoint)
        case "thinking":
            yield from _check_thinking(at, block.value)
        case _:
            yield from check_string(at, block.value, "data")


def check_text(block: Block, *, where: str) -> Iterator[Refusal]:
    """Text in which a reader can see something."""
    text = block.value.get("text")
    if not isinstance(text, str):
        yield from check_string(block.at, block.value, "text")
    elif block.is_blank and block.value.get("cache_control") is not None:
        yield invalid(f"{block.at}.text", "cache_control cannot be set for empty text blocks", "blank_text")
    elif block.is_blank:
        what = "contain non-whitespace text" if text else "be non-empty"
        yield Refusal(f"{where}: text content blocks must {what}", f"{block.at}.text", "blank_text")


def _check_media(block: Block, endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    if block.kind == "image" and not endpoint.images:
        yield invalid(block.at, "image input is not supported for this model", "unsupported_image")
    if "source" not in block.value:
        yield required(f"{block.at}.{block.kind}.source")
    else:
        yield from check_source(f"{block.at}.{block.kind}.source", block.kind, block.value["source"])


def _check_call(at: str, call: dict[str, object]) -> Iterator[Refusal]:
    for key, pattern in (("id", ID), ("name", NAME)):
        value = call.get(key)
        if not isinstance(value, str):
            yield from check_string(at, call, key)
        elif not pattern.fullmatch(value):
            yield invalid(f"{at}.{key}", f"String should match pattern '^{pattern.pattern}$'")
    if "input" not in call:
        yield required(f"{at}.input")
    elif as_object(call["input"]) is None:
        yield invalid(f"{at}.input", "Input should be a valid dictionary", "invalid_arguments")
    if "caller" in call and call["caller"] != {"type": "direct"}:
        yield wrong_tag(f"{at}.caller", (as_object(call["caller"]) or {}).get("type"), ["direct"])


def _check_result(at: str, block: Block, endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    result = block.value
    yield from check_string(at, result, "tool_use_id")
    yield from check_flag(at, result, "is_error")
    content = result.get("content", [])
    if not isinstance(content, str) and as_list(content) is None:
        yield should_be(f"{at}.content", "a valid string or a valid list")
    parts = blocks_of(f"{at}.content", content, message=block.message)
    for part in parts:
        if part.kind in RESULT_KINDS:
            yield from check_block(part, "user", endpoint)
        else:
            yield wrong_tag(part.at, part.kind, RESULT_KINDS)
    if result.get("is_error") is True and any(part.kind != "text" for part in parts):
        yield invalid(at, 'all content must be type "text" if `is_error` is true')


def _check_thinking(at: str, thinking: dict[str, object]) -> Iterator[Refusal]:
    """The text may be empty, as it is when a request asks that it be left out; the signature may not."""
    for key in ("thinking", "signature"):
        yield from check_string(at, thinking, key)
    if thinking.get("signature") == "":
        yield invalid(at, "each thinking block must contain thinking", "invalid_signature")
