"""A raw server, and models that talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import pytest

from penguin_harness.contracts import Model, ModelRef
from penguin_harness.llm import create_model
from tests.llm.server import RawServer

ModelFactory: TypeAlias = Callable[..., Model]


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    raw = RawServer()
    listening = await raw.start()
    yield raw
    listening.close()
    await raw.stop()


@pytest.fixture
async def model_at(server: RawServer) -> AsyncIterator[ModelFactory]:
    """Models of the raw server, closed at the end of the test."""
    models: list[Model] = []

    def make(**options: Any) -> Model:
        settings: dict[str, Any] = {"base_url": server.url, "environ": {}, **options}
        models.append(create_model(ModelRef("custom", "m"), **settings))
        return models[-1]

    yield make
    for model in models:
        await model.aclose()
