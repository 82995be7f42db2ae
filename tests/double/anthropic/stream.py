"""The vendor's events: what a script leaves open in them is filled in as they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.double.anthropic.said import said_in
from tests.double.anthropic.signature import place_of_answer, seal, sign
from tests.double.protocol import Answer

REQUEST_ID = "req_011CDouble{:012}"
MESSAGE_ID = "msg_01Double{:012}"


def complete(data: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """The event with its ids, its block's index and its signature."""
    match data.get("type"):
        case "message_start":
            return {**data, "message": _message(answer) | data.get("message", {})}
        case "content_block_start":
            block = data["content_block"]
            if block["type"] == "redacted_thinking":
                block = {**block, "data": _sealed(block["data"], answer)}
            return {"type": data["type"], "index": _last(answer.sent) + 1, **data, "content_block": block}
        case "content_block_delta":
            delta = data["delta"]
            if delta == {"type": "signature_delta"}:
                delta = {**delta, "signature": _signed(answer)}
            return {"type": data["type"], "index": _last(answer.sent), **data, "delta": delta}
        case "content_block_stop":
            return {"type": data["type"], "index": _last(answer.sent), **data}
        case "error":
            return {**data, "request_id": REQUEST_ID.format(answer.number)}
        case _:
            return dict(data)


def _message(answer: Answer) -> dict[str, Any]:
    said = {"id": MESSAGE_ID.format(answer.number), "type": "message", "role": "assistant", "model": answer.model}
    return said | {"content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}


def _last(sent: Sequence[Mapping[str, Any]]) -> int:
    """The index of the block that was spoken of last."""
    return next((index for data in reversed(sent) if isinstance(index := data.get("index"), int)), -1)


def _signed(answer: Answer) -> str:
    *before, block = said_in(answer.sent)
    place = place_of_answer(answer.asked.body, [one.block() for one in before])
    return sign(block.block().text("thinking"), model=answer.model, place=place)


def _sealed(hidden: str, answer: Answer) -> str:
    place = place_of_answer(answer.asked.body, [one.block() for one in said_in(answer.sent)])
    return seal(hidden, model=answer.model, place=place)
