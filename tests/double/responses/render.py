"""An event as it is sent: numbers, ids and encrypted content filled in."""

from __future__ import annotations

import hashlib
from typing import Any, cast

from tests.double.protocol import Answer
from tests.double.refusal import as_list, as_object
from tests.double.responses.history import value_of
from tests.double.responses.identity import item_id
from tests.double.responses.items import PREFIX
from tests.double.responses.parameters import ENCRYPTED
from tests.double.responses.said import done_items
from tests.double.responses.seal import seal

Json = dict[str, Any]

CREATED = 1_700_000_000
OF_RESPONSE = ("created", "in_progress", "completed", "incomplete", "failed")
ECHOED: Json = {
    "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "metadata": {},
    "parallel_tool_calls": True, "prompt_cache_key": None, "prompt_cache_retention": None, "safety_identifier": None,
    "store": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 1.0,
    "truncation": "disabled", "user": None,
}  # fmt: skip
"""What a response repeats of its request, and what stands there when the request does not say it."""


def render(data: Json, answer: Answer) -> Json:
    """The event's data; what a script says of ids and numbers itself stays."""
    kind = str(data.get("type"))
    numbered: Json = {"type": kind, "sequence_number": _number(answer)}
    match kind.removeprefix("response."):
        case name if name in OF_RESPONSE:
            return numbered | data | {"response": response(name, answer) | data.get("response", {})}
        case "output_item.added":
            index = len(_added(answer))
            item = _named(data["item"], answer, index) | _encrypted(data["item"], answer, whole=False)
            return numbered | {"output_index": index} | data | {"item": item}
        case "output_item.done":
            index = data.get("output_index", len(_added(answer)) - 1)
            item = _named(data["item"], answer, index) | _encrypted(data["item"], answer, whole=True)
            return numbered | {"output_index": index} | data | {"item": item}
        case "error":
            return numbered | data
        case name if name != kind:
            return numbered | _place(data, answer) | _extras(name, numbered, answer) | data
        case _:
            return numbered | data


def response(name: str, answer: Answer) -> Json:
    """The response that an event brings, as far as it is known then."""
    body = value_of(answer.asked.body)
    status = "in_progress" if name == "created" else name
    ended = status != "in_progress"
    reasoning, text = as_object(body.get("reasoning")) or {}, as_object(body.get("text")) or {}
    whole: Json = {"id": f"resp_{answer.number:048x}", "object": "response", "created_at": CREATED, "status": status}
    whole |= {"background": False, "error": None, "incomplete_details": None, "model": answer.model}
    whole |= {key: body.get(key, default) for key, default in ECHOED.items()}
    whole |= {"previous_response_id": None, "reasoning": {"effort": None, "summary": None} | reasoning}
    whole |= {"text": {"format": {"type": "text"}, "verbosity": "medium"} | text}
    whole |= {"service_tier": "default" if ended else "auto", "usage": None}
    whole |= {"output": done_items(answer) if ended else []}
    return whole | ({"completed_at": CREATED} if status == "completed" else {})


def _added(answer: Answer) -> list[Json]:
    return [event for event in answer.sent if event.get("type") == "response.output_item.added"]


def _named(item: Json, answer: Answer, index: int) -> Json:
    """The item with its id, which tells the reasoning that stands directly before it."""
    if "id" in item:
        return dict(item)
    kinds = {event.get("output_index"): event["item"].get("type") for event in _added(answer)}
    led = item.get("type") != "reasoning" and kinds.get(index - 1) == "reasoning"
    prefix = PREFIX.get(str(item.get("type")), "item")
    return {"id": item_id(prefix, answer=answer.number, index=index, needs=index - 1 if led else None), **item}


def _encrypted(item: Json, answer: Answer, *, whole: bool) -> Json:
    """The encrypted content, if the request asked for it and the reasoning cannot be read; half of it at first."""
    wanted = ENCRYPTED in (as_list(value_of(answer.asked.body).get("include")) or ())
    if item.get("type") != "reasoning" or not wanted or "content" in item or "encrypted_content" in item:
        return {}
    before = done_items(answer)
    sealed = seal(cast("dict[str, object]", item), model=answer.model, body=answer.asked.body, before=before)
    return {"encrypted_content": sealed if whole else sealed[: len(sealed) // 2]}


def _place(data: Json, answer: Answer) -> Json:
    """Which item an event belongs to: the last one, unless it says another index."""
    index = data.get("output_index")
    for event in reversed(answer.sent):
        if ("item" in event or "item_id" in event) and index in (None, event.get("output_index")):
            named = event.get("item_id") or event["item"].get("id")
            return {"item_id": named, "output_index": event.get("output_index")}
    return {"item_id": item_id("msg", answer=answer.number, index=index or 0), "output_index": index or 0}


def _number(answer: Answer) -> int:
    """Of the next event: those of gateways have none."""
    before = (event["sequence_number"] for event in reversed(answer.sent) if "sequence_number" in event)
    return int(next(before, -1)) + 1


def _extras(name: str, numbered: Json, answer: Answer) -> Json:
    extras: Json = {"logprobs": []} if name in ("output_text.delta", "output_text.done") else {}
    options = as_object(value_of(answer.asked.body).get("stream_options")) or {}
    if name.endswith(".delta") and options.get("include_obfuscation") is not False:
        digest = hashlib.sha256(f"{answer.number}/{numbered['sequence_number']}".encode()).hexdigest()
        extras["obfuscation"] = digest[: 1 + int(digest[0], 16)]
    return extras
