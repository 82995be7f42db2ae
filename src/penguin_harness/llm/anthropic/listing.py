"""Anthropic's list of models."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.llm.listing import ModelList, Page, Served, read_page


class _Entry(Struct):
    id: str
    max_input_tokens: int | None = None
    max_tokens: int | None = None


class _Entries(Struct):
    data: list[_Entry]
    has_more: bool = False
    last_id: str | None = None


def _page(page: bytes) -> Page:
    found = read_page(page, _Entries)
    models = tuple(Served(entry.id, entry.max_input_tokens, entry.max_tokens) for entry in found.data)
    return Page(models, {"after_id": found.last_id} if found.has_more and found.last_id else None)


MODELS = ModelList("messages", _page, {"limit": "1000"})
