"""How long an answer may be: what the caller wants, what the model can, what its window leaves."""

from __future__ import annotations

from penguin_harness.contracts import Request
from penguin_harness.llm.endpoint import Endpoint

MARGIN = 1024
"""Tokens of the window that stay free, since the size of the input is an estimate."""

LEAST = 16
"""The smallest limit that every vendor takes."""


def output_limit(request: Request, endpoint: Endpoint, *, default: int | None = None) -> int | None:
    """Tokens that this answer may have; None leaves it to the vendor, which `default` rules out.

    The default yields to what is known of the model; nothing exceeds the window minus the estimated input.
    """
    wanted = request.max_output_tokens
    if wanted is None:
        if default is None:
            return None
        wanted = endpoint.output_limit or default
    room = endpoint.context_window - request.input_tokens - MARGIN
    return min(wanted, endpoint.output_limit or wanted, max(room, LEAST))
