"""How vendors list the models that they serve: an address beside the call, pages, and what they say of each model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from penguin_harness.llm.failure import malformed

T = TypeVar("T")


class Served(Struct, frozen=True, omit_defaults=True):
    """A model as its endpoint lists it; None where that says nothing."""

    model_id: str
    context_window: int | None = None
    output_limit: int | None = None


class Page(Struct, frozen=True):
    """A part of the list."""

    models: tuple[Served, ...]
    following: Mapping[str, str] | None = None
    """What the query must say to get the next part; None at the end."""


class ModelList(Struct, frozen=True):
    """How one protocol lists models."""

    call: str
    """A pattern for what of a request's address is the call, in whose place the list's name stands."""
    page: Callable[[bytes], Page]
    """A page of it. Raises TransportError for what is no such list."""
    query: Mapping[str, str] = {}
    """Of the first page, and of those behind it."""

    def url(self, request_url: str) -> str:
        """The list's address, from where requests go."""
        return re.sub(rf"/(?:{self.call})(?=\?|\Z)", "/models", request_url)


def read_page(page: bytes, kind: type[T]) -> T:
    """The page as what it should be. Raises TransportError."""
    try:
        return msgspec.json.decode(page, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(f"this is no list of models: {error}") from None


class _Entry(Struct):
    """One model of OpenAI's list; only its id is the vendor's, the rest is what servers of that list add."""

    id: str
    context_length: int | None = None
    context_window: int | None = None
    max_model_len: int | None = None
    max_context_length: int | None = None
    max_completion_tokens: int | None = None

    def served(self) -> Served:
        window = self.context_length or self.context_window or self.max_model_len or self.max_context_length
        return Served(self.id, window, self.max_completion_tokens)


class _Entries(Struct):
    data: list[_Entry]
    has_more: bool = False


def _openai_page(page: bytes) -> Page:
    """OpenAI's list is whole; servers that cut it say so as OpenAI's other lists do, and one sends a bare array."""
    if page.lstrip()[:1] == b"[":
        return Page(tuple(entry.served() for entry in read_page(page, list[_Entry])))
    found = read_page(page, _Entries)
    following = {"after": found.data[-1].id} if found.has_more and found.data else None
    return Page(tuple(entry.served() for entry in found.data), following)


OPENAI = ModelList("chat/completions|responses", _openai_page)
"""The list of both of OpenAI's protocols, and of most servers."""
