"""What an endpoint of Messages demands and takes."""

from __future__ import annotations

from tests.double.value import Demands


class AnthropicEndpoint(Demands, frozen=True, tag="anthropic"):
    """What this endpoint demands and takes. The defaults are those of a model that knows every kind of thinking."""

    require_key: bool = True
    """A key must come, in one of the two headers; False is a local server that asks for none."""
    require_cache: bool = True
    """The request must ask for a prompt cache: by the top-level field or by a marker."""
    betas: tuple[str, ...] = ()
    """Values that the `anthropic-beta` header may have."""
    output_limit: int = 64_000
    """The most that `max_tokens` may be."""
    thinking: tuple[str, ...] = ("adaptive", "enabled", "disabled")
    """The types that the `thinking` parameter may have: older models lack `adaptive`, newer ones `enabled`."""
    efforts: tuple[str, ...] = ("low", "medium", "high", "max")
    """The levels of `output_config.effort`; () is a model without effort, newer ones add `xhigh`."""
    sampling: bool = True
    """Takes temperature, top_p and top_k, which newer models have dropped."""
    forced_tools: bool = True
    """Takes a `tool_choice` that forces a call, which the newest models have dropped."""
    prefill: bool = False
    """The conversation may end with an assistant message, as older models let it."""
