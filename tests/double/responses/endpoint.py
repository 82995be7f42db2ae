"""What an endpoint of the Responses API demands and takes."""

from __future__ import annotations

from tests.double.value import Demands

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All that are documented; no model takes every one."""


class ResponsesEndpoint(Demands, frozen=True, tag="openai_responses"):
    """What this endpoint demands and takes. The defaults are a reasoning model, and a server that keeps nothing."""

    stored: bool = False
    """The server keeps items: `store` may be true, and an item of an earlier answer may be named by its id alone."""
    efforts: tuple[str, ...] = EFFORTS
    """What the model takes as `reasoning.effort`; () is a model that does not reason."""
    open_reasoning: bool = False
    """The model's reasoning is readable: its items have `reasoning_text` in them, and come back with it."""
    forbidden_keys: tuple[str, ...] = ()
    """Documented keys of the request that this endpoint does not know."""
