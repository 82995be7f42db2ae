"""Roles and order: who speaks, and that each turn of calls is answered in the content behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.double.gemini.contents import parts_of
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json
from tests.double.gemini.wording import argument
from tests.double.refusal import Refusal, as_object

COUNT = "number of function response parts is equal to the number of function call parts of the function call turn."
ORDER = "function call turn comes immediately after a user turn or after a function response turn."
MIXED = "contains at least one function_call part which can not be mixed with function_response parts."


def check_turns(contents: Sequence[Json], endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """The contents as a conversation."""
    roles = [role_of(content, alone=len(contents) == 1) for content in contents]
    for number, role in enumerate(roles):
        if role not in ("user", "model"):
            yield Refusal("Please use a valid role: user, model.", f"contents[{number}].role", "invalid_role")
    for number, role in enumerate(roles):
        before = roles[number - 1] if number else "model"
        if role == before and (endpoint.strict_roles or not number):
            text = "multiturn requests alternate between user and model."
            yield please(text, f"contents[{number}].role", "alternate")
    if endpoint.ends_with_user and roles[-1] == "model":
        text = "multiturn requests ends with a user role or a function response."
        yield please(text, f"contents[{len(roles) - 1}].role", "ends_with_model")
    for number, content in enumerate(contents):
        before = contents[number - 1] if number else {}
        yield from check_calls(f"contents[{number}]", roles[number], content, before=before)
    yield from check_unanswered(contents)


def check_calls(at: str, role: str, content: Json, *, before: Json) -> Iterator[Refusal]:
    calls, responses = data_of(content, "function_call"), data_of(content, "function_response")
    asked = data_of(before, "function_call")
    if calls and responses:
        yield please(f"function call turn {MIXED}", at, "mixed")
    elif (calls and role == "user") or (responses and role == "model"):
        yield argument(f"{at}.role", "wrong_role")
    elif calls and before.get("role", "user") != "user":
        yield please(ORDER, at, "call_order")
    elif responses and not asked:
        yield please("function response turn comes immediately after a function call turn.", at, "orphan_response")
    elif responses and len(responses) == len(asked):
        yield from check_pairs(at, asked, responses)


def check_pairs(at: str, calls: Sequence[Json], responses: Sequence[Json]) -> Iterator[Refusal]:
    """By id where the calls have ids, else by place."""
    waiting = list(calls)
    for number, response in enumerate(responses):
        place = f"{at}.parts[{number}].function_response"
        call = next((call for call in waiting if call.get("id") == response.get("id")), None)
        if call is None:
            yield argument(f"{place}.id", "response_id")
            continue
        waiting.remove(call)
        if call.get("name") != response.get("name"):
            yield argument(f"{place}.name", "response_name")


def check_unanswered(contents: Sequence[Json]) -> Iterator[Refusal]:
    for number, content in enumerate(contents):
        behind = contents[number + 1] if number + 1 < len(contents) else {}
        calls, responses = data_of(content, "function_call"), data_of(behind, "function_response")
        if calls and content.get("role") == "model" and len(calls) != len(responses):
            yield please(f"the {COUNT}", f"contents[{number + 1}]", "response_count")


def please(what: str, at: str, code: str) -> Refusal:
    return Refusal(f"Please ensure that {what}", at, code)


def role_of(content: Json, *, alone: bool) -> str:
    """The role; a content that stands alone may leave it out."""
    return str(content.get("role") or ("user" if alone else ""))


def data_of(content: Json, kind: str) -> list[Json]:
    """The calls or the responses in a content."""
    return [as_object(part[kind]) or {} for part in parts_of(content) if kind in part]
