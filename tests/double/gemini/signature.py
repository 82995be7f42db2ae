"""Thought signatures: made when an answer is rendered, verified when they come back."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Sequence

from tests.double.gemini.contents import parts_of
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json, decoded
from tests.double.gemini.said import Item, item_of, merged
from tests.double.refusal import Refusal, as_object

PLACEHOLDERS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""For calls that another model made; as they are, or as the base64 of their letters."""
_KEY = b"the double's signatures"
_HEAD = b"\x12\xfb\xff"
_MARK = 16


def sign(item: Item, before: Sequence[Item], *, model: str, conversation: Sequence[bytes]) -> str:
    """The signature of one item of an answer, given what the conversation and the answer said before it."""
    hashes = [_hash(content) for content in conversation]
    content = _HEAD + b"".join(_marks(item, before, model=model, conversation=hashes))
    return base64.b64encode(content + _mac(content)).decode()


def check_signatures(
    contents: Sequence[Json], raw: Sequence[bytes], *, model: str, endpoint: GeminiEndpoint
) -> Iterator[Refusal]:
    """Each signature belongs to its part; the calls of the current turn have theirs.

    An answer may come back as several contents in a row: the vendor's own client keeps one for each chunk.
    """
    hashes = [_hash(content) for content in raw]
    start, before = 0, list[Item]()
    for number, content in enumerate(contents):
        if not number or content.get("role") != contents[number - 1].get("role"):
            start, before = number, []
        for place, part in enumerate(parts_of(content)):
            signature, item = part.get("thought_signature"), item_of(part)
            if isinstance(signature, bytes) and not _is_placeholder(signature):
                marks = _marks(item, before, model=model, conversation=hashes[:start])
                at = f"contents[{number}].parts[{place}].thought_signature"
                yield from _check(at, signature, marks, endpoint)
            before.append(item)
    if endpoint.enforce_signatures:
        yield from _check_current_turn(contents)


def _check(at: str, signature: bytes, marks: Sequence[bytes], endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    content, mac = signature[:-_MARK], signature[-_MARK:]
    if not content.startswith(_HEAD) or not hmac.compare_digest(mac, _mac(content)):
        yield Refusal("Corrupted thought signature.", at, "signature_corrupted")
        return
    given = [content[start : start + _MARK] for start in range(len(_HEAD), len(content), _MARK)]
    reasons = ["signature_of_model", "signature_of_conversation", "signature_of_part"]
    for mark, expected, reason in zip(given, marks, reasons, strict=True):
        if mark != expected and (endpoint.expect_prefix or reason != "signature_of_conversation"):
            yield Refusal("Invalid thought signature.", at, reason)
            return


def _check_current_turn(contents: Sequence[Json]) -> Iterator[Refusal]:
    """Behind the last content of the user that is not of responses, the first call of each step is signed."""
    start = max((number for number, content in enumerate(contents) if _opens_turn(content)), default=0)
    for number, content in enumerate(contents):
        first = next((part for part in parts_of(content) if "function_call" in part), None)
        if number > start and first is not None and not first.get("thought_signature"):
            name = (as_object(first["function_call"]) or {}).get("name")
            text = "Function call is missing a thought_signature in functionCall parts. This is required for tools to"
            text = f"{text} work correctly, and missing thought_signature may lead to degraded model performance."
            text = f"{text} Additional data, function call `default_api:{name}` , position {number + 1}. Please refer"
            text = f"{text} to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            yield Refusal(text, f"contents[{number}]", "signature_missing")


def _opens_turn(content: Json) -> bool:
    return content.get("role", "user") == "user" and not any("function_response" in part for part in parts_of(content))


def _is_placeholder(signature: bytes) -> bool:
    return signature in [form for text in PLACEHOLDERS for form in (text.encode(), decoded(text))]


def _marks(item: Item, before: Sequence[Item], *, model: str, conversation: Sequence[bytes]) -> list[bytes]:
    said = [_hash(text.encode()) for one in merged(before) for text in (one.kind, one.content)]
    own = [_hash(text.encode()) for text in (item.kind, item.content)]
    return [_hash(b"".join(hashes))[:_MARK] for hashes in ([model.encode()], [*conversation, *said], own)]


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _mac(content: bytes) -> bytes:
    return hmac.digest(_KEY, content, "sha256")[:_MARK]
