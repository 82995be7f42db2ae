"""What a strict endpoint refuses in the list of messages."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from tests.double import strict_json
from tests.double.chat.endpoint import Endpoint
from tests.double.refusal import Refusal, as_list, as_object, invalid, missing, unknown, wrong_type

KEYS = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal"},
    "tool": {"role", "content", "tool_call_id"},
}
PARTS = {
    "system": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,(.+)", re.DOTALL)


def check_messages(messages: list[object], endpoint: Endpoint) -> Iterator[Refusal]:
    """Each message by itself."""
    for number, value in enumerate(messages):
        at = f"messages[{number}]"
        message = as_object(value)
        if message is None:
            yield wrong_type(at, "an object", value)
            continue
        role = message.get("role")
        if not isinstance(role, str) or role not in KEYS:
            yield invalid(f"{at}.role", f"{role!r} is not one of {', '.join(KEYS)}.")
        else:
            yield from check_message(at, role, message, endpoint)


def check_message(at: str, role: str, message: dict[str, object], endpoint: Endpoint) -> Iterator[Refusal]:
    taken = {*endpoint.reasoning_fields, *endpoint.assistant_keys} if role == "assistant" else set[str]()
    for key in message:
        if key not in KEYS[role] | taken:
            yield unknown(f"{at}.{key}")
    if not isinstance(message.get("name", ""), str):
        yield wrong_type(f"{at}.name", "a string", message["name"])
    if role == "assistant":
        yield from check_assistant(at, message, endpoint)
    elif "content" not in message:
        yield missing(f"{at}.content")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield missing(f"{at}.tool_call_id")
    content = message.get("content")
    if content is not None or (role != "assistant" and "content" in message):
        yield from check_content(f"{at}.content", role, content, endpoint)


def check_content(at: str, role: str, content: object, endpoint: Endpoint) -> Iterator[Refusal]:
    parts = as_list(content)
    if isinstance(content, str):
        yield from check_text(at, content)
    elif parts is None:
        yield wrong_type(at, "a string or an array of parts", content)
    elif not parts:
        yield invalid(at, "empty array. Expected an array with minimum length 1.", "empty_array")
    for number, part in enumerate(parts or ()):
        yield from check_part(f"{at}[{number}]", role, as_object(part) or {}, endpoint)


def check_part(at: str, role: str, part: dict[str, object], endpoint: Endpoint) -> Iterator[Refusal]:
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in PARTS[role]:
        yield invalid(f"{at}.type", f"{kind!r} is not a content part of a message with role '{role}'.")
        return
    for key in set(part) - {"type", kind}:
        yield unknown(f"{at}.{key}")
    if kind in ("text", "refusal"):
        yield from check_text(f"{at}.{kind}", part.get(kind))
    elif kind == "image_url":
        yield from check_image(f"{at}.image_url", part.get(kind), endpoint)
    elif as_object(part.get(kind)) is None:
        yield wrong_type(f"{at}.{kind}", "an object", part.get(kind))


def check_text(at: str, text: object) -> Iterator[Refusal]:
    if not isinstance(text, str):
        yield wrong_type(at, "a string", text)
    elif not strict_json.is_visible(text):
        yield invalid(at, "text content must contain a visible character.", "blank_text")


def check_image(at: str, value: object, endpoint: Endpoint) -> Iterator[Refusal]:
    if not endpoint.images:
        yield Refusal("No endpoints found that support image input.", at, "unsupported_image", 404)
    image = as_object(value)
    url = None if image is None else image.get("url")
    if image is None or not isinstance(url, str):
        yield missing(f"{at}.url")
        return
    for key in set(image) - {"url", "detail"}:
        yield unknown(f"{at}.{key}")
    if image.get("detail", "auto") not in ("auto", "low", "high"):
        yield invalid(f"{at}.detail", "expected 'auto', 'low' or 'high'.")
    if not url.startswith(("https://", "http://")) and not is_image_data(url):
        yield invalid(f"{at}.url", "expected a web URL or a base64 data URL of a png, jpeg, gif or webp image.")


def is_image_data(url: str) -> bool:
    match = DATA_URL.fullmatch(url)
    try:
        return match is not None and bool(base64.b64decode(match[1], validate=True))
    except (binascii.Error, ValueError):
        return False


def check_assistant(at: str, message: dict[str, object], endpoint: Endpoint) -> Iterator[Refusal]:
    calls = as_list(message.get("tool_calls"))
    if "tool_calls" in message and not calls:
        yield invalid(f"{at}.tool_calls", "expected an array with minimum length 1.", "empty_array")
    if message.get("content") is None and not calls and message.get("refusal") is None:
        yield invalid(at, "an assistant message needs content or tool_calls.", "empty_message")
    for field in endpoint.reasoning_fields:
        if not isinstance(message.get(field, ""), str):
            yield wrong_type(f"{at}.{field}", "a string", message[field])
    needed = endpoint.require_reasoning
    if calls and needed is not None:
        reasoning = message.get(needed)
        if not isinstance(reasoning, str) or not strict_json.is_visible(reasoning):
            yield Refusal(f"The `{needed}` in the thinking mode must be passed back to the API. ({at})", at)
    seen: set[str] = set()
    for number, call in enumerate(calls or ()):
        yield from check_call(f"{at}.tool_calls[{number}]", as_object(call) or {}, seen, endpoint)


def check_call(at: str, call: dict[str, object], seen: set[str], endpoint: Endpoint) -> Iterator[Refusal]:
    for key in set(call) - {"id", "type", "function", *endpoint.call_keys}:
        yield unknown(f"{at}.{key}")
    if call.get("type") != "function":
        yield invalid(f"{at}.type", "expected 'function'.")
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        yield missing(f"{at}.id")
    elif len(call_id) > endpoint.max_call_id:
        yield invalid(f"{at}.id", f"string longer than {endpoint.max_call_id} characters.", "string_above_max_length")
    elif call_id in seen:
        yield invalid(f"{at}.id", f"duplicate id '{call_id}' in one message.", "duplicate_id")
    if isinstance(call_id, str):
        seen.add(call_id)
    function = as_object(call.get("function"))
    if function is None:
        yield missing(f"{at}.function")
        return
    for key in set(function) - {"name", "arguments"}:
        yield unknown(f"{at}.function.{key}")
    name = function.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield invalid(f"{at}.function.name", "string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'.")
    yield from check_arguments(f"{at}.function.arguments", function.get("arguments"))


def check_arguments(at: str, arguments: object) -> Iterator[Refusal]:
    if not isinstance(arguments, str):
        yield wrong_type(at, "a string", arguments)
        return
    try:
        value = strict_json.loads(arguments)
    except ValueError as error:
        yield invalid(at, f"expected a JSON object as a string. ({error})", "invalid_arguments")
        return
    if as_object(value) is None:
        yield invalid(at, "expected a JSON object as a string.", "invalid_arguments")


def call_ids(message: dict[str, object]) -> list[str]:
    """The ids of a message's calls."""
    calls = [as_object(call) or {} for call in as_list(message.get("tool_calls")) or ()]
    return [str(call["id"]) for call in calls if "id" in call]


def check_pairing(messages: list[object]) -> Iterator[Refusal]:
    """Each call is answered once, right behind the message that made it."""
    waiting: set[str] = set()
    answered: set[str] = set()
    for number, value in enumerate([*messages, None]):
        message = as_object(value) or {}
        if message.get("role") == "tool":
            yield from check_answer(f"messages[{number}]", str(message.get("tool_call_id")), waiting, answered)
            continue
        if waiting:
            ids = ", ".join(sorted(waiting))
            text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            text = f"{text} 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
            yield Refusal(text, f"messages[{number}]", "unanswered_call")
        is_assistant = message.get("role") == "assistant"
        waiting, answered = set(call_ids(message)) if is_assistant else set[str](), set[str]()


def check_answer(at: str, call_id: str, waiting: set[str], answered: set[str]) -> Iterator[Refusal]:
    if call_id in answered:
        yield invalid(at, f"duplicate response to tool_call_id '{call_id}'.", "duplicate_output")
    elif call_id not in waiting:
        text = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
        yield Refusal(f"{text} (tool_call_id '{call_id}')", f"{at}.role", "orphan_output")
    waiting.discard(call_id)
    answered.add(call_id)


def check_roles(messages: list[object], *, strict: bool) -> Iterator[Refusal]:
    """System only first; where templates are strict, user and assistant take turns."""
    roles = [(as_object(message) or {}).get("role") for message in messages]
    for number, role in enumerate(roles):
        if role == "system" and number:
            yield invalid(f"messages[{number}].role", "a system message must be the first.", "system_not_first")
    if not strict:
        return
    for number, (before, role) in enumerate(zip(["system", *roles], roles, strict=False)):
        first_is_not_user = before == "system" and role not in ("user", "system")
        if first_is_not_user or (role == before and role in ("user", "assistant")):
            text = "Conversation roles must alternate user/assistant/user/assistant/..."
            yield Refusal(text, f"messages[{number}].role", "roles_must_alternate")
    if roles[-1] == "assistant":
        yield Refusal("Expected last role user or tool, got assistant.", "messages", "roles_must_alternate")
