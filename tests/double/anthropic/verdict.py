"""What the rules say of a request, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from tests.double.anthropic.conversation import Json, asked
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.rules import check
from tests.double.protocol import Answer
from tests.double.refusal import Refusal


def refusals(
    body: Json | bytes, endpoint: AnthropicEndpoint | None = None, past: Sequence[Answer] = (), **headers: str
) -> list[Refusal]:
    return check(asked(body, **headers), endpoint or AnthropicEndpoint(), past)


def codes(
    body: Json | bytes, endpoint: AnthropicEndpoint | None = None, past: Sequence[Answer] = (), **headers: str
) -> list[str | None]:
    return [refusal.code for refusal in refusals(body, endpoint, past, **headers)]


def texts(body: Json | bytes, endpoint: AnthropicEndpoint | None = None, past: Sequence[Answer] = ()) -> list[str]:
    return [refusal.message for refusal in refusals(body, endpoint, past)]
