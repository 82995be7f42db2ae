"""Whether a request brings back what the whole answers of its context said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.double import strict_json
from tests.double.chat.endpoint import Endpoint
from tests.double.chat.heard import heard, joined
from tests.double.chat.messages import NAME
from tests.double.protocol import Answer
from tests.double.refusal import Refusal, as_list, as_object


def check_replay(body: bytes, past: Sequence[Answer], endpoint: Endpoint) -> Iterator[Refusal]:
    """What is missing or changed of each whole answer; one of reasoning alone has no message to come back in."""
    messages = _messages(body)
    start = 0
    for number, answer in enumerate(past if endpoint.expect_replay else ()):
        said = heard(answer)
        if said is None or not (_text(said) or said["tool_calls"]):
            continue
        places = _places(messages, answer, start=start, endpoint=endpoint)
        lacks = {place: list(_lacks(said, messages[place], endpoint)) for place in places}
        place = next((place for place in lacks if not lacks[place]), next(iter(lacks), None))
        if place is None:
            yield Refusal(f"The message of answer {number} is missing: {said!r}.", "messages", "answer_missing")
            continue
        for key, what in lacks[place]:
            text = f"Answer {number} does not come back as it was said"
            yield Refusal(f"{text}: {key} was {what!r}.", f"messages[{place}].{key}", "answer_changed")
        start = place + 1


def _places(messages: list[dict[str, object]], answer: Answer, *, start: int, endpoint: Endpoint) -> list[int]:
    """Where the answer may stand: behind its request; where the prefix may change, behind the answer before it."""
    behind = len(_messages(answer.asked.body))
    places = range(behind, min(behind + 1, len(messages))) if endpoint.expect_prefix else range(start, len(messages))
    return [place for place in places if messages[place].get("role") == "assistant"]


def _lacks(said: dict[str, object], given: dict[str, object], endpoint: Endpoint) -> Iterator[tuple[str, object]]:
    if _text(said) and _text(said) != _text(given):
        yield "content", _text(said)
    for key in (*endpoint.reasoning_fields, *endpoint.assistant_keys):
        if _says(said.get(key)) and joined(said[key]) != joined(given.get(key)):
            yield key, said[key]
    olds, news = as_list(said["tool_calls"]) or [], as_list(given.get("tool_calls")) or []
    for number, old in enumerate(olds):
        new = as_object(news[number]) if number < len(news) else None
        yield from _call_lacks(f"tool_calls[{number}]", as_object(old) or {}, new or {}, endpoint)


def _call_lacks(
    at: str, said: dict[str, object], given: dict[str, object], endpoint: Endpoint
) -> Iterator[tuple[str, object]]:
    function = as_object(given.get("function")) or {}
    name, arguments = said.get("name"), said.get("arguments")
    if isinstance(name, str) and NAME.fullmatch(name) and function.get("name") != name:
        yield f"{at}.function.name", name
    if _is_object(arguments) and function.get("arguments") != arguments:
        yield f"{at}.function.arguments", arguments
    for key in endpoint.call_keys:
        if key in said and given.get(key) != said[key]:
            yield f"{at}.{key}", said[key]


def _messages(body: bytes) -> list[dict[str, object]]:
    value = as_object(strict_json.loads(body)) or {}
    return [as_object(message) or {} for message in as_list(value.get("messages")) or ()]


def _text(message: dict[str, object]) -> str:
    """Content and refusal; nothing when a reader could see nothing in it."""
    content = message.get("content")
    parts = [as_object(part) or {} for part in as_list(content) or ()]
    texts = [content, *(part.get(str(part.get("type"))) for part in parts), message.get("refusal")]
    text = "".join(text for text in texts if isinstance(text, str))
    return text if strict_json.is_visible(text) else ""


def _says(value: object) -> bool:
    return strict_json.is_visible(value) if isinstance(value, str) else bool(value)


def _is_object(arguments: object) -> bool:
    try:
        return isinstance(arguments, str) and as_object(strict_json.loads(arguments)) is not None
    except ValueError:
        return False
