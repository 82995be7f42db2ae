"""The text in a request, as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.protocol import Words
from tests.double.refusal import as_list, as_object


def words(body: object) -> Words:
    """What scripts are chosen by and what they expect."""
    messages = [as_object(message) or {} for message in as_list((as_object(body) or {}).get("messages")) or ()]
    users = [message for message in messages if message.get("role") == "user"]
    texts = tuple("\n".join(_strings(message.get("content"))) for message in users)
    last = messages[-1].get("role") if messages else ""
    return Words("\n".join(_strings(messages)), texts, str(last), _offered(body))


def model_of(body: object) -> str:
    """The model that the request names, or nothing."""
    model = (as_object(body) or {}).get("model")
    return model if isinstance(model, str) else ""


def wants_usage(body: object) -> bool:
    """Whether the request asks for usage in its stream."""
    options = as_object((as_object(body) or {}).get("stream_options")) or {}
    return options.get("include_usage") is True


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in as_list(value) or (as_object(value) or {}).values():
        yield from _strings(item)


def _offered(body: object) -> tuple[str, ...]:
    tools = [as_object(tool) or {} for tool in as_list((as_object(body) or {}).get("tools")) or ()]
    return tuple(str((as_object(tool.get("function")) or {}).get("name")) for tool in tools)
