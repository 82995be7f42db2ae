"""What an endpoint of generateContent demands and takes."""

from __future__ import annotations

from tests.double.value import Demands


class GeminiEndpoint(Demands, frozen=True, tag="gemini"):
    """What this model demands and takes. The defaults are a Gemini 3 model's, and a stable prefix."""

    enforce_signatures: bool = True
    """The first call of each step of the current turn must carry its signature; Gemini 2.5 does not demand it."""
    thinking_levels: tuple[str, ...] = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
    """Levels of thinking that the model takes; Gemini 2.5 takes none, only budgets."""
    thinking_budget: tuple[int, int] = (128, 32_768)
    """The smallest and the largest budget of thinking, in tokens; -1 lets the model decide."""
    thinks_always: bool = True
    """A budget of 0 is refused."""
    system_instruction: bool = True
    media_in_responses: bool = True
    """Function responses may carry media in parts of their own; older models refuse them."""
    ends_with_user: bool = True
    """The last content must be the user's or hold function responses."""
    strict_roles: bool = False
    """User and model must take turns, as older models want it."""
    max_name: int = 64
    max_output: int = 65_536
    max_payload_bytes: int = 20_971_520
