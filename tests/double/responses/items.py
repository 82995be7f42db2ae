"""What is refused in the items of the input, each by itself."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double import strict_json
from tests.double.refusal import Refusal, as_list, as_object, invalid, missing, unknown, wrong_type
from tests.double.responses.content import check_input, check_output, check_string
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.tools import check_name
from tests.double.responses.wording import not_one_of, too_long, too_many

KEYS = {
    "message": frozenset({"type", "role", "content", "status"}),
    "function_call": frozenset({
        "type", "id", "call_id", "name", "arguments", "status", "namespace", "caller", "async"
    }),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status", "name", "namespace", "caller"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content", "status"}),
    "item_reference": frozenset({"type", "id"}),
}  # fmt: skip
OF_ASSISTANT = KEYS["message"] | {"id", "phase"}
ROLES = ("user", "assistant", "system", "developer")
PREFIX = {"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}
STATUSES = ("in_progress", "completed", "incomplete")
PHASES = ("commentary", "final_answer")
MOST_ID = 64


def kind_of_item(item: dict[str, object]) -> object:
    """An item with a role and no type is a message."""
    return item.get("type", "message" if "role" in item else None)


def check_items(items: list[object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """Each item of the input."""
    for number, value in enumerate(items):
        at, item = f"input[{number}]", as_object(value)
        if item is None:
            yield wrong_type(at, "an input item", value)
            continue
        kind = kind_of_item(item)
        if not isinstance(kind, str) or kind not in KEYS:
            yield missing(f"{at}.type") if kind is None else not_one_of(at, kind, tuple(KEYS))
            continue
        keys = OF_ASSISTANT if kind == "message" and item.get("role") == "assistant" else KEYS[kind]
        yield from (unknown(f"{at}.{key}") for key in item if key not in keys)
        if "status" in item and item["status"] not in STATUSES:
            null = item["status"] is None
            yield unknown(f"{at}.status") if null else not_one_of(f"{at}.status", item["status"], STATUSES)
        yield from check_id(at, kind, item)
        yield from check_item(at, kind, item, endpoint)


def check_id(at: str, kind: str, item: dict[str, object]) -> Iterator[Refusal]:
    if "id" not in item:
        return
    item_id, prefix = item["id"], PREFIX.get(kind, "")
    if not isinstance(item_id, str):
        yield wrong_type(f"{at}.id", "a string", item_id)
    elif len(item_id) > MOST_ID:
        yield too_long(f"{at}.id", item_id, MOST_ID)
    elif not item_id.startswith(prefix):
        text = f"Invalid '{at}.id': '{item_id}'. Expected an ID that begins with '{prefix}'."
        yield Refusal(text, f"{at}.id", "invalid_value")


def check_item(at: str, kind: str, item: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    match kind:
        case "message":
            yield from check_message(at, item, endpoint)
        case "function_call":
            yield from check_call_id(at, item)
            yield from check_name(f"{at}.name", item["name"]) if "name" in item else (missing(f"{at}.name"),)
            yield from check_arguments(f"{at}.arguments", item.get("arguments"))
        case "function_call_output":
            yield from check_call_id(at, item)
            missed = "output" not in item
            found = check_input(f"{at}.output", item.get("output"), images=endpoint.images)
            yield from (missing(f"{at}.output"),) if missed else found
        case "reasoning":
            yield from check_reasoning(at, item, endpoint)
        case _:
            yield from () if "id" in item else (missing(f"{at}.id"),)


def check_message(at: str, item: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    role = item.get("role")
    if not isinstance(role, str) or role not in ROLES:
        yield missing(f"{at}.role") if role is None else not_one_of(f"{at}.role", role, ROLES)
    elif "content" not in item:
        yield missing(f"{at}.content")
    elif role == "assistant":
        yield from check_output(f"{at}.content", item["content"])
        if item.get("phase") not in (None, *PHASES):
            yield not_one_of(f"{at}.phase", item["phase"], PHASES)
    else:
        yield from check_input(f"{at}.content", item["content"], images=endpoint.images)


def check_call_id(at: str, item: dict[str, object]) -> Iterator[Refusal]:
    call_id = item.get("call_id")
    yield from check_string(f"{at}.call_id", call_id)
    if isinstance(call_id, str) and len(call_id) > MOST_ID:
        yield too_long(f"{at}.call_id", call_id, MOST_ID)
    if call_id == "":
        yield invalid(f"{at}.call_id", "empty string. Expected a string with minimum length 1.", "empty_string")


def check_arguments(at: str, arguments: object) -> Iterator[Refusal]:
    yield from check_string(at, arguments)
    if isinstance(arguments, str) and not is_json_object(arguments):
        yield invalid(at, "expected a JSON object as a string.", "invalid_arguments")


def is_json_object(text: object) -> bool:
    """Whether this is the text of a JSON object."""
    try:
        return isinstance(text, str) and as_object(strict_json.loads(text)) is not None
    except ValueError:
        return False


def check_reasoning(at: str, item: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    if "summary" not in item:
        yield missing(f"{at}.summary")
    for key, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
        parts = as_list(item.get(key, []))
        if parts is None:
            yield wrong_type(f"{at}.{key}", "an array of objects", item[key])
        elif key == "content" and parts and not endpoint.open_reasoning:
            yield too_many(f"{at}.content", len(parts), 0)
        for number, part in enumerate(parts or ()):
            yield from check_thought(f"{at}.{key}[{number}]", part, kind)
    if not isinstance(item.get("encrypted_content"), str | None):
        yield wrong_type(f"{at}.encrypted_content", "a string", item["encrypted_content"])


def check_thought(at: str, value: object, kind: str) -> Iterator[Refusal]:
    part = as_object(value)
    if part is None or part.get("type") != kind:
        yield not_one_of(f"{at}.type", None if part is None else part.get("type"), (kind,))
        return
    yield from (unknown(f"{at}.{key}") for key in part if key not in ("type", "text"))
    yield from check_string(f"{at}.text", part.get("text"))
