"""The wire protocols, as the scenarios see them: what builds answers, and what the endpoint demands."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from penguin_harness.contracts import Model, ModelRef
from penguin_harness.llm import create_model
from tests.double.anthropic import build as anthropic
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.chat import build as chat
from tests.double.chat.endpoint import Endpoint
from tests.double.client import Double
from tests.double.gemini import build as gemini
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.responses import build as responses
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.steps import MODEL
from tests.support import Watched, watched

KEY = "sk-test-1234567"


class Dialect(Struct, frozen=True):
    """One protocol."""

    client_type: str
    build: ModuleType
    """Builders of answers: the same names in every protocol."""
    demands: Callable[..., Any]
    """The endpoint's demands, the strictest by default."""
    conversation: str
    """The member of a request that holds the conversation."""

    def script(self, *turns: Any, model: str = MODEL, **demands: Any) -> Any:
        """What the model says, at an endpoint that wants the key."""
        return self.build.script(*turns, model=model, endpoint=self.demands(key=KEY, **demands))

    def reach(self, double: Double, *, model: str = MODEL) -> dict[str, Any]:
        """How a session reaches the double."""
        return {
            "provider": "custom",
            "model_id": model,
            "base_url": double.base_url(self.client_type),
            "api_key": KEY,
            "client_type": self.client_type,
        }

    def model(self, double: Double, *, model: str = MODEL, **options: Any) -> Model:
        """The model itself; the caller closes it, or the session that it is given to."""
        reach: dict[str, Any] = self.reach(double, model=model) | options
        return create_model(ModelRef(reach.pop("provider"), reach.pop("model_id")), **reach, environ={})


def _chat(*, reasoning_fields: tuple[str, ...] = ("reasoning_content",), **demands: Any) -> Endpoint:
    return Endpoint(reasoning_fields=reasoning_fields, **demands)


CHAT = Dialect("openai_chat", chat, _chat, "messages")
RESPONSES = Dialect("openai_responses", responses, ResponsesEndpoint, "input")
ANTHROPIC = Dialect("anthropic", anthropic, AnthropicEndpoint, "messages")
GEMINI = Dialect("gemini", gemini, GeminiEndpoint, "contents")
DIALECTS = (CHAT, RESPONSES, ANTHROPIC, GEMINI)


@asynccontextmanager
async def against(
    dialect: Dialect, double: Double, folder: Path, *turns: Any, tools: Any = (), **demands: Any
) -> AsyncGenerator[Watched]:
    """A session whose model is the double, held to the protocol; the script must be played to its end."""
    double.load(dialect.script(*turns, **demands))
    async with watched(folder, None, tools, **dialect.reach(double)) as session:
        yield session
    assert double.left() == 0, f"{double.left()} turns of the script were not asked for"
