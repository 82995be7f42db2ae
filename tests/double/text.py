"""The text in a request: what scripts are chosen by and what they expect."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.refusal import as_list, as_object


def _messages(body: object) -> list[dict[str, object]]:
    value = (as_object(body) or {}).get("messages")
    return [as_object(message) or {} for message in as_list(value) or ()]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in as_list(value) or (as_object(value) or {}).values():
        yield from _strings(item)


def text_of(body: object) -> str:
    """Every string of the messages."""
    return "\n".join(_strings(_messages(body)))


def user_texts(body: object) -> list[str]:
    """The text of each user message."""
    users = [message for message in _messages(body) if message.get("role") == "user"]
    return ["\n".join(_strings(message.get("content"))) for message in users]


def last_user_text(body: object) -> tuple[str, object]:
    """The last user message's text, and the last message's role."""
    messages = _messages(body)
    texts = user_texts(body)
    return (texts[-1] if texts else ""), (messages[-1].get("role") if messages else None)


def model_of(body: object) -> str:
    """The model that the request names, or nothing."""
    model = (as_object(body) or {}).get("model")
    return model if isinstance(model, str) else ""


def wants_usage(body: object) -> bool:
    """Whether the request asks for usage in its stream."""
    options = as_object((as_object(body) or {}).get("stream_options")) or {}
    return options.get("include_usage") is True


def offered(body: object) -> tuple[str, ...]:
    """The names of the tools on offer, in their order."""
    tools = [as_object(tool) or {} for tool in as_list((as_object(body) or {}).get("tools")) or ()]
    return tuple(str((as_object(tool.get("function")) or {}).get("name")) for tool in tools)
