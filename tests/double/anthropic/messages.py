"""What a strict endpoint refuses in the list of messages, in the system prompt, and in the turns that they make."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.anthropic.blocks import check_block, check_text
from tests.double.anthropic.cache import check_marker
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.turns import Turn, blocks_of
from tests.double.anthropic.wording import check_keys, invalid, required, should_be, wrong_tag
from tests.double.refusal import Refusal, as_list, as_object

ROLES = ("user", "assistant")


def check_system(system: object) -> Iterator[Refusal]:
    """A text, or blocks of text."""
    if not isinstance(system, str) and as_list(system) is None:
        yield should_be("system", "a valid array")
    for block in blocks_of("system", system, message=0):
        if block.kind != "text":
            yield wrong_tag(block.at, block.kind, ["text"])
            continue
        yield from check_keys(block.at, block.value, {"type", "text", "cache_control", "citations"})
        yield from check_marker(block.at, block.value)
        yield from check_text(block, where="system")


def check_messages(messages: list[object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """Each message by itself."""
    for number, value in enumerate(messages):
        at = f"messages.{number}"
        message = as_object(value)
        if message is None:
            yield should_be(at, "an object")
            continue
        yield from check_keys(at, message, {"role", "content"})
        yield from _check_role(number, message)
        yield from _check_content(number, message, endpoint)


def _check_role(number: int, message: dict[str, object]) -> Iterator[Refusal]:
    at, role = f"messages.{number}", message.get("role")
    if "role" not in message:
        yield required(f"{at}.role")
    elif role == "system" and not number:
        yield invalid(at, "use the top-level 'system' parameter for the initial system prompt", "wrong_role")
    elif role == "system":
        yield Refusal("role 'system' is not supported on this model", f"{at}.role", "wrong_role")
    elif role not in ROLES:
        text = f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant"'
        yield Refusal(text, f"{at}.role", "wrong_role")


def _check_content(number: int, message: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    at, content = f"messages.{number}", message.get("content")
    if "content" not in message:
        yield required(f"{at}.content")
    elif not isinstance(content, str) and as_list(content) is None:
        yield should_be(f"{at}.content", "a valid array")
    elif not content:
        yield invalid(at, f"{message.get('role')} messages must have non-empty content", "empty_message")
    for block in blocks_of(f"{at}.content", content, message=number):
        yield from check_block(block, str(message.get("role")), endpoint)


def check_sides(turns: list[Turn], endpoint: AnthropicEndpoint, *, paused: bool) -> Iterator[Refusal]:
    """Who begins and who ends; `paused`: the answer before asked to be continued."""
    if turns[0].role == "assistant":
        yield Refusal('messages: first message must use the "user" role', "messages.0.role", "wrong_role")
    for turn in turns:
        if turn.role == "assistant" and turn.blocks and turn.blocks[-1].is_thinking:
            block = turn.blocks[-1]
            text = f"The final block in an assistant message cannot be `{block.kind}`."
            yield invalid(block.at, text, "thinking_last")
    last = turns[-1]
    if last.role != "assistant":
        return
    if not endpoint.prefill and not paused:
        text = "This model does not support assistant message prefill. The conversation must end with a user message."
        yield Refusal(text, "messages", "prefill")
    if last.blocks and last.blocks[-1].text("text").rstrip() != last.blocks[-1].text("text"):
        text = "messages: final assistant content cannot end with trailing whitespace"
        yield Refusal(text, last.blocks[-1].at, "prefill")
