"""What differs between generations of models, where nothing else is known of a model: its name has to tell."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from penguin_harness.contracts import ThinkingLevel
from penguin_harness.llm.endpoint import Endpoint

Wire: TypeAlias = dict[str, Any]

LEVELS: dict[ThinkingLevel, str] = {"none": "low", "low": "low", "medium": "medium", "high": "high", "max": "high"}
"""Words that every model since Gemini 3 takes; none of these models can do without thinking."""

BUDGETS: dict[ThinkingLevel, int] = {"none": 0, "low": 2_048, "medium": 8_192, "high": 16_384, "max": 24_576}
"""Tokens that every Gemini 2.5 takes, but for the 0 that the Pro refuses."""

_OLDER = re.compile(r"gemini-[12](?!\d)|gemma|learnlm", re.IGNORECASE)


def is_older(endpoint: Endpoint) -> bool:
    """Whether the model is older than Gemini 3: demands no signatures, takes no images inside function responses."""
    if endpoint.thinking.kind in ("budget", "level"):
        return endpoint.thinking.kind == "budget"
    return _OLDER.search(endpoint.ref.model_id) is not None


def thinking_config(level: ThinkingLevel, endpoint: Endpoint) -> Wire:
    """How much to think, and that the thoughts are to be shown; {} where it cannot be said."""
    match endpoint.thinking.kind:
        case "budget" | "level":
            value = endpoint.thinking.levels.get(level)
        case None:
            value = _usual(level, endpoint)
        case _:
            value = None
    if value is None:
        return {}
    chosen: Wire = {"thinkingBudget" if isinstance(value, int) else "thinkingLevel": value}
    return chosen if level == "none" else {"includeThoughts": True, **chosen}


def _usual(level: ThinkingLevel, endpoint: Endpoint) -> str | int | None:
    if not is_older(endpoint):
        return LEVELS[level]
    model = endpoint.ref.model_id
    thinks = "gemini-2.5" in model and not (level == "none" and "pro" in model)
    return BUDGETS[level] if thinks else None
