"""What a session needs of a model, asked for one after the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Raw, Struct
from msgspec.structs import replace

from penguin_harness.cli.explain import explain
from penguin_harness.cli.model_talk import Heard, hear
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.contracts import Model, Request
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineThinking,
    Text,
    Thinking,
    ToolCallOutput,
    ToolSchema,
)

STEPS = ("reachable", "authorised", "answers", "streams", "usage", "tools", "images", "thinking", "output limit")

Mark: TypeAlias = Literal["✓", "✗", "-"]

SYSTEM = "You are being tried out. Do what you are asked, in few words."
TOOL = ToolSchema(
    "note_word",
    "Notes a word down.",
    Raw(b'{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}'),
)
LIMIT = 4096
"""Tokens of an answer that are asked for where nothing is known of the model."""

RED = (
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKUlEQVR42u3NMQEAAAgDINc/9Mzg5QcFSNPeSiQSiUQikUgkEolEInm0"
)
"""A red square as a PNG."""


class Step(Struct, frozen=True, omit_defaults=True):
    """One thing, and how it went."""

    name: str
    mark: Mark = "-"
    note: str = ""
    words: str = ""
    """The provider's, of a failure."""
    way_out: str = ""
    learnt: tuple[str, ...] = ()
    needed: bool = False
    """No session works as long as this fails."""

    @property
    def failed(self) -> bool:
        """Whether it does not work."""
        return self.mark == "✗"


class Tried(Struct, frozen=True):
    """A model, and what is known of it beforehand."""

    model: Model
    vision: bool | None = None
    thinks: bool = True
    output_limit: int | None = None
