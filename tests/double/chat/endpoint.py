"""What an endpoint of Chat Completions demands and takes."""

from __future__ import annotations

from tests.double.value import Demands


class Endpoint(Demands, frozen=True, tag="openai_chat"):
    """What this endpoint demands and takes. The defaults are the vendor's, and a stable prefix."""

    require_usage: bool = True
    """Streams must ask for usage (`stream_options.include_usage`)."""
    reasoning_fields: tuple[str, ...] = ()
    """Keys of an assistant message under which reasoning may come back; what was said under them must."""
    require_reasoning: str | None = None
    """Assistant messages with calls must bring visible reasoning back under this key."""
    assistant_keys: tuple[str, ...] = ()
    """Further keys of assistant messages, opaque; what was said under them must come back."""
    call_keys: tuple[str, ...] = ()
    """Further keys of tool calls, opaque; what was said under them must come back."""
    forbidden_keys: tuple[str, ...] = ()
    """Documented keys of the request that this endpoint does not know."""
    strict_roles: bool = False
    """User and assistant must take turns, as local chat templates want it."""
    max_call_id: int = 40
