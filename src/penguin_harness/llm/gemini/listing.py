"""Gemini's list of models."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.llm.listing import ModelList, Page, Served, read_page

GENERATES = "generateContent"


class _Entry(Struct, rename="camel"):
    name: str
    input_token_limit: int | None = None
    output_token_limit: int | None = None
    supported_generation_methods: tuple[str, ...] = (GENERATES,)


class _Entries(Struct, rename="camel"):
    models: list[_Entry]
    next_page_token: str | None = None


def _page(page: bytes) -> Page:
    """What only embeds or draws is no model for a session and left out."""
    found = read_page(page, _Entries)
    models = tuple(
        Served(entry.name.removeprefix("models/"), entry.input_token_limit, entry.output_token_limit)
        for entry in found.models
        if GENERATES in entry.supported_generation_methods
    )
    return Page(models, {"pageToken": found.next_page_token} if found.next_page_token else None)


MODELS = ModelList(r"(?:models|tunedModels)/[^/]*", _page, {"pageSize": "1000"})
