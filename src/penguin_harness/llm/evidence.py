"""What an answer proves about the protocol of its endpoint: an answer in its events, or a refusal in its words."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

from penguin_harness.llm.failure import TransportError, read_loosely
from penguin_harness.llm.http import Answer
from penguin_harness.llm.sse import SseReader, WholeBody
from penguin_harness.llm.wire import WireProtocol

Proof: TypeAlias = Literal["answers", "refuses", "unclear", "none", "silent"]
"""`unclear`: such a refusal might come from whatever stands before the endpoint, for any path. `silent`: no answer."""


def proof_in(answer: Answer, protocol: WireProtocol, model_id: str) -> Proof:
    """What the answer to a tiny request for this model proves."""
    if answer.status == 200:
        return "answers" if _is_answer(answer.body, protocol) else "none"
    told = read_loosely(answer.body)
    own = _is_own_error(told, protocol.client_type)
    # Gemini's calls have the model in their path, so any other server that quotes the path names it too.
    names = model_id.encode() in answer.body and not isinstance(told, str) and protocol.client_type != "gemini"
    if answer.status in (404, 405):
        return "refuses" if names or (own and protocol.client_type == "gemini") else "none"
    if names or (own and protocol.client_type in ("anthropic", "gemini")):
        return "refuses"
    return "unclear" if own else "none"


def _is_answer(body: bytes, protocol: WireProtocol) -> bool:
    source = WholeBody() if body.lstrip()[:1] == b"{" else SseReader()
    reader = protocol.reader()
    try:
        heard = [*reader.read([*source.feed(body), *source.finish()])]
    except TransportError:
        return False
    return bool(heard) or reader.terminal


def _is_own_error(told: object, client_type: str) -> bool:
    """Whether the error has the shape that the vendor gives it."""
    match client_type:
        case "anthropic":
            return _is_anthropic(told)
        case "gemini":
            return _is_google(told)
        case _:
            return _is_openai(told)


def _is_anthropic(told: object) -> bool:
    match told:
        case {"type": "error", "error": {"type": str(), "message": str()}}:
            return True
        case _:
            return False


def _is_google(told: object) -> bool:
    match told:
        case {"error": {"code": int(), "message": str(), "status": str()}}:
            return True
        case list() if told:
            return _is_google(cast(list[object], told)[0])
        case _:
            return False


def _is_openai(told: object) -> bool:
    match told:
        case {"error": {"message": str()}} | {"object": "error", "message": str()}:
            return not _is_anthropic(told) and not _is_google(told)
        case _:
            return False
