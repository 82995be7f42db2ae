"""The encrypted content of reasoning: made when an item is sent, verified when it comes back.

It holds for one model, for the conversation that the item was said in, and for what the item shows of itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Sequence

import msgspec

from tests.double.refusal import Refusal, as_object
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import head_of, value_of
from tests.double.responses.said import Item, agrees, meanings, thought

_KEY = b"only the double knows"
_VERSION = b"\x80\x00\x00\x00\x00"


class _Sealed(msgspec.Struct, frozen=True):
    model: str
    items: int
    """How many items the conversation had when the answer began."""
    history: str
    """The digest of these items and of the instructions."""
    before: list[list[object]]
    """What the same answer said before."""
    mark: str = ""


def seal(item: Item, *, model: str, body: bytes, before: Sequence[Item]) -> str:
    """The encrypted content of an item that is said in answer to this body, behind these of the same answer."""
    count = len(head_of(body).items)
    sealed = _Sealed(model, count, _history(body, count), meanings(before))
    whole = msgspec.structs.replace(sealed, mark=_mark(sealed, item))
    return base64.urlsafe_b64encode(_VERSION + msgspec.json.encode(whole)).decode()


def check_seals(body: bytes, items: Sequence[object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """Each reasoning item that is not what the model said, or not where."""
    for number, value in enumerate(items):
        item = as_object(value) or {}
        if item.get("type") == "reasoning" and item.get("encrypted_content") is not None:
            reason = _fault(item, body=body, items=items, number=number, endpoint=endpoint)
            if reason is not None:
                name = f"for item {item['id']}" if "id" in item else f"{str(item['encrypted_content'])[:4]}..."
                text = f"The encrypted content {name} could not be verified. Reason: {reason}"
                yield Refusal(text, None, "invalid_encrypted_content")


def _fault(item: Item, *, body: bytes, items: Sequence[object], number: int, endpoint: ResponsesEndpoint) -> str | None:
    sealed = _opened(str(item["encrypted_content"]))
    if sealed is None or not hmac.compare_digest(sealed.mark, _mark(sealed, item)):
        return "Encrypted content could not be decrypted or parsed."
    if sealed.model != value_of(body).get("model"):
        return "Encrypted content model did not match the target model."
    before = meanings(items[sealed.items : number])
    said = len(before) == len(sealed.before) and all(map(agrees, sealed.before, before))
    if endpoint.expect_prefix and not (said and sealed.history == _history(body, sealed.items)):
        return "Encrypted content prefix did not match the input."
    return None


def _opened(text: str) -> _Sealed | None:
    try:
        data = base64.b64decode(text, altchars=b"-_", validate=True)
        return msgspec.json.decode(data.removeprefix(_VERSION), type=_Sealed)
    except (ValueError, msgspec.MsgspecError):
        return None


def _mark(sealed: _Sealed, item: Item) -> str:
    said = [sealed.model, sealed.items, sealed.history, sealed.before, thought(item)]
    return hmac.new(_KEY, msgspec.json.encode(said), hashlib.sha256).hexdigest()


def _history(body: bytes, count: int) -> str:
    head = head_of(body)
    return hashlib.sha256(b"\n".join([bytes(head.instructions), *head.items[:count]])).hexdigest()
