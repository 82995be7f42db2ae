"""Signatures of thinking: bound to the model, to what the block says, and to the place at which it was said."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.raw import parts_of
from tests.double.anthropic.turns import Block, Turn, messages_of, turns_of
from tests.double.anthropic.wording import invalid
from tests.double.refusal import Refusal
from tests.double.strict_json import loads

_KEY = b"the double's own"
_SIZE = hashlib.sha256().digest_size


def place_in(body: bytes, turn: Turn, before: Iterable[Block]) -> bytes:
    """A digest of the conversation up to this assistant turn, and of the blocks before in the turn itself."""
    earlier = parts_of(body).messages[: turn.first]
    return _digest(*earlier, json.dumps([_essence(block) for block in before if not block.is_blank]).encode())


def place_of_answer(body: bytes, before: Iterable[Block]) -> bytes:
    """The place of the next block of the answer to this request."""
    messages = messages_of(loads(body))
    last = turns_of(messages)[-1]
    going_on = last if last.role == "assistant" else Turn("assistant", len(messages), [])
    return place_in(body, going_on, [*going_on.blocks, *before])


def sign(content: str, *, model: str, place: bytes) -> str:
    """The signature of a thinking block."""
    return base64.b64encode(_marks(content, model=model, place=place)).decode()


def seal(hidden: str, *, model: str, place: bytes) -> str:
    """The data of a redacted block."""
    return base64.b64encode(_marks(hidden, model=model, place=place) + hidden.encode()).decode()


def check_signatures(body: bytes, model: str, endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """Each block of thinking is one that this model has said, at this place."""
    turns = [turn for turn in turns_of(messages_of(loads(body))) if turn.role == "assistant"]
    for turn in turns:
        for number, block in enumerate(turn.blocks):
            if block.is_thinking:
                place = place_in(body, turn, turn.blocks[:number])
                verdict = _verdict(block, model=model, place=place)
                if verdict == "false" or (verdict == "moved" and endpoint.expect_prefix):
                    yield _refusal(block, verdict, is_latest=turn is turns[-1])


def _refusal(block: Block, verdict: Literal["false", "moved"], *, is_latest: bool) -> Refusal:
    if verdict == "moved" and is_latest:
        text = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
        return invalid(block.at, f"{text} These blocks must remain as they were in the original response.", "moved")
    if verdict == "moved":
        text = f"the {block.kind} block's prefix binding does not match this request (prefix_binding_mismatch)"
        return invalid(block.at, text, "moved")
    field = "signature" if block.kind == "thinking" else "data"
    return invalid(block.at, f"Invalid `{field}` in `{block.kind}` block", "invalid_signature")


def _verdict(block: Block, *, model: str, place: bytes) -> Literal["true", "false", "moved"]:
    given = _decoded(block.text("signature" if block.kind == "thinking" else "data"))
    marks, rest = given[: 2 * _SIZE], given[2 * _SIZE :]
    content = block.text("thinking") if block.kind == "thinking" else rest.decode(errors="replace")
    expected = _marks(content, model=model, place=place)
    if marks[:_SIZE] != expected[:_SIZE] or (block.kind == "thinking" and rest):
        return "false"
    return "true" if marks == expected else "moved"


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _marks(content: str, *, model: str, place: bytes) -> bytes:
    bound = _digest(model.encode(), content.encode())
    return bound + _digest(bound, place)


def _essence(block: Block) -> Sequence[str]:
    """What of a block a later one is bound to; a call's arguments are compared elsewhere."""
    keys = {"text": ("text",), "thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}
    return [block.kind, *(block.text(key) for key in keys.get(block.kind, ("id", "name")))]


def _digest(*parts: bytes) -> bytes:
    whole = b"".join(len(part).to_bytes(8) + part for part in parts)
    return hmac.digest(_KEY, whole, "sha256")
