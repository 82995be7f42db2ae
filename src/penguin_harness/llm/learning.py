"""What an endpoint's refusal teaches: how to ask it differently, once for each lesson.

Endpoints that speak one protocol take different parts of it, and no table knows them all. A refusal that names such a
part is answered by one more request without it; any other refusal is final.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import Request
from penguin_harness.llm.endpoint import Endpoint, Thinking
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.opacity import is_signed
from penguin_harness.omnimessage import CompletePayload, ImageUrl, InlineData, ToolCallOutput

_UNTAKEN = (
    r"(?:not (?:currently )?(?:support|permit|allow|accept|enable|recogni[sz])\w*|does(?: not|n't) support|cannot|can't"
    r"|only supported|unsupported|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs?|fields?|forbidden)|no endpoints?"
    r"|invalid (?:type|param|arg))"
)


def _both(part: str, other: str = _UNTAKEN) -> re.Pattern[str]:
    """The two patterns in one text, in either order."""
    return re.compile(rf"(?=.*{part})(?=.*{other})", re.IGNORECASE | re.DOTALL)


_IMAGES = _both(r"(?:image|vision|multi-?modal)", rf"(?:{_UNTAKEN}|process|exceed|too (?:large|big)|corrupt)")
"""Also an image that cannot be read: it would stand in every later request."""
_REASONING = r"reasoning(?:_content|_details)?\b"
_REASONING_MISSING = _both(
    _REASONING, r"(?:passed back|missing|must (?:be|have|contain)|required|cannot be (?:empty|bl))"
)
_REASONING_REFUSED = _both(r"(?:messages|reasoning_content|reasoning_details|input)\b.*reasoning")
_SIGNATURES = _both(
    r"(?:thought.{0,3}signature|signature`? in|encrypted.?content|redacted_thinking|thinking`? (?:or|blocks))",
    r"(?:invalid|verif|corrupt|missing|cannot be modified|not found)",
)
_NOTHING_SEALED = re.compile(r"encrypted content is not supported", re.IGNORECASE)
_SUMMARIES = re.compile(r"verified to generate reasoning summar", re.IGNORECASE)
_ROLES = re.compile(
    r"roles? must alternate|alternat\w+ (?:between )?(?:user|role)|consecutive (?:user|messages)"
    r"|user and assistant roles|system message must be (?:at the beginning|first)",
    re.IGNORECASE,
)
_EFFORT = _both(
    r"(?:reasoning_effort|reasoning\.effort|output_config|thinking(?:config|_budget|\b)|\breasoning\b|include_thoughts)",
    rf"(?:{_UNTAKEN}|\binvalid\b|only enabled|only works)",
)
_ADAPTIVE = re.compile(r"adaptive", re.IGNORECASE)
_COMPLETION_TOKENS = re.compile(r"max_tokens\b.*max_completion_tokens", re.IGNORECASE | re.DOTALL)
_TOKENS = _both(r"max_completion_tokens")
_USAGE = _both(r"(?:stream_options|include_usage)")
_CACHE = _both(r"cache_control")
_LIMIT = re.compile(
    r"max\w*tokens\W.*?(?:from 1 \(inclusive\) to|>|<=|less than or equal to|at most|maximum(?: \w+){0,6}|up to"
    r"|\[1, ?)\W*(\d[\d,]*)",
    re.IGNORECASE | re.DOTALL,
)


class Lesson(Struct, frozen=True):
    """The endpoint as it is known now, and what changes in the next request, in words."""

    endpoint: Endpoint
    note: str
    unsigned: bool = False
    """Whether all that the conversation holds so far goes out without what its model signed."""


Teach: TypeAlias = Callable[[Endpoint, str, Request], Lesson | None]


def learn(endpoint: Endpoint, failure: TransportError, request: Request, learnt: Collection[str] = ()) -> Lesson | None:
    """The lesson of a definitive refusal; None when it has none, or its note is among those `learnt` before."""
    if failure.status != "fatal" or failure.code != "rejected" or failure.overflow:
        return None
    lessons = (teach(endpoint, failure.message, request) for teach in _TEACHERS)
    fresh = (lesson for lesson in lessons if lesson and (lesson.unsigned or lesson.note not in learnt))
    return next(fresh, None)


def _taught(endpoint: Endpoint, note: str, **quirks: object) -> Lesson:
    return Lesson(replace(endpoint, quirks=replace(endpoint.quirks, **quirks)), note)


def _images(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    if not endpoint.quirks.images or not _IMAGES.search(text) or not any(map(_shows_image, request.messages)):
        return None
    return _taught(endpoint, "sent again with notes in place of the images", images=False)


def _roles(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    if endpoint.quirks.strict_roles or not _ROLES.search(text):
        return None
    return _taught(endpoint, "sent again with neighbouring messages merged", strict_roles=True)


def _reasoning(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    known = endpoint.quirks.reasoning
    if known == "sent" and _REASONING_MISSING.search(text):
        return _taught(endpoint, "sent again with reasoning on every call", reasoning="required")
    if known == "sent" and _REASONING_REFUSED.search(text):
        return _taught(endpoint, "sent again without reasoning", reasoning="never")
    return None


def _signatures(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    """Another key's account, or a changed model behind the same name: what was signed before is worth nothing now."""
    if not _SIGNATURES.search(text) or not any(map(is_signed, request.messages)):
        return None
    return Lesson(endpoint, "sent again without what earlier answers signed", unsigned=True)


def _sealed(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    """A model that cannot reason seals nothing; summaries are for organizations that the vendor has verified."""
    if _NOTHING_SEALED.search(text) and endpoint.thinking.kind != "none":
        known = replace(endpoint, thinking=Thinking("none"))
        return Lesson(known, "sent again without asking for encrypted reasoning")
    if _SUMMARIES.search(text) and endpoint.quirks.summaries:
        return _taught(endpoint, "sent again without asking for summaries", summaries=False)
    return None


def _thinking(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    """Budgets and words exclude each other on some models; else thinking is left to the model."""
    is_about = _EFFORT.search(text) and not _SIGNATURES.search(text)
    if not endpoint.quirks.thinking or request.thinking_level is None or not is_about:
        return None
    if _ADAPTIVE.search(text) and endpoint.thinking.kind in (None, "budget", "adaptive"):
        kind = "budget" if endpoint.thinking.kind == "adaptive" else "adaptive"
        return Lesson(replace(endpoint, thinking=Thinking(kind)), "sent again with the other way to ask for thinking")
    return _taught(endpoint, "sent again without a thinking level", thinking=False)


def _tokens_field(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    known = endpoint.quirks.max_tokens_field
    if known == "max_tokens" and _COMPLETION_TOKENS.search(text):
        return _taught(endpoint, "sent again with max_completion_tokens", max_tokens_field="max_completion_tokens")
    if known == "max_completion_tokens" and _TOKENS.search(text) and not _COMPLETION_TOKENS.search(text):
        return _taught(endpoint, "sent again with max_tokens", max_tokens_field="max_tokens")
    return None


def _output_limit(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    found = _LIMIT.search(text)
    limit = int(found[1].replace(",", "")) if found else 0
    limit -= found is not None and text.startswith(" (exclusive)", found.end())
    if not limit or (endpoint.output_limit is not None and limit >= endpoint.output_limit):
        return None
    return Lesson(replace(endpoint, output_limit=limit), f"sent again with at most {limit} tokens of output")


def _options(endpoint: Endpoint, text: str, request: Request) -> Lesson | None:
    if endpoint.quirks.usage_option and _USAGE.search(text):
        return _taught(endpoint, "sent again without asking for token counts", usage_option=False)
    if endpoint.quirks.cache and _CACHE.search(text):
        return _taught(endpoint, "sent again without asking for a prompt cache", cache=False)
    return None


def _shows_image(payload: CompletePayload) -> bool:
    match payload:
        case ImageUrl() | InlineData():
            return True
        case ToolCallOutput(images=images):
            return bool(images)
        case _:
            return False


_TEACHERS: tuple[Teach, ...] = (
    _tokens_field,
    _output_limit,
    _options,
    _images,
    _roles,
    _sealed,
    _signatures,
    _reasoning,
    _thinking,
)
