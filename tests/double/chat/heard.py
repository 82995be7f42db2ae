"""The message that a client puts together of an answer's chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.double.protocol import Answer
from tests.double.refusal import as_list, as_object


def heard(answer: Answer) -> dict[str, object] | None:
    """The whole message; None when the answer did not come to its end, or the output limit or an error cut it."""
    choices = [choice for chunk in answer.sent for choice in _objects(chunk.get("choices"))]
    reason = next((reason for choice in reversed(choices) if (reason := choice.get("finish_reason"))), None)
    if not answer.whole or reason not in ("stop", "tool_calls") or any("error" in chunk for chunk in answer.sent):
        return None
    message: dict[str, object] = {}
    calls: dict[object, dict[str, object]] = {}
    for choice in choices:
        delta = as_object(choice.get("delta")) or {}
        _add(message, {key: value for key, value in delta.items() if key not in ("role", "tool_calls")})
        for place, part in enumerate(_objects(delta.get("tool_calls"))):
            call = calls.setdefault(part.get("index", place), {"arguments": ""})
            _add(call, {key: value for key, value in part.items() if key not in ("index", "type", "function")})
            _add(call, as_object(part.get("function")) or {})
    return message | {"tool_calls": list(calls.values())}


def joined(details: object) -> object:
    """Structured reasoning with the fragments of each block put together; any other value as it is."""
    blocks: list[dict[str, object]] = []
    for fragment in _objects(details):
        last = blocks[-1] if blocks else {}
        same = all(fragment.get(key) == last.get(key) for key in ("type", "index"))
        if blocks and same and fragment.get("type") != "reasoning.encrypted":
            _add(last, {key: value for key, value in fragment.items() if key not in ("type", "index")})
        else:
            blocks.append(dict(fragment))
    return blocks or details


def _objects(value: object) -> Iterable[dict[str, object]]:
    return (item for each in as_list(value) or () if (item := as_object(each)) is not None)


def _add(whole: dict[str, object], part: Mapping[str, object]) -> None:
    """Texts and lists go on, a label is said anew; null says nothing."""
    for key, value in part.items():
        before = whole.get(key)
        olds, news = as_list(before), as_list(value)
        if isinstance(value, str) and isinstance(before, str) and key not in ("id", "name", "format", "signature"):
            whole[key] = before + value
        elif olds is not None and news is not None:
            whole[key] = [*olds, *news]
        elif value is not None:
            whole[key] = value
