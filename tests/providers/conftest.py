"""Every test of this folder that takes `dialect` runs once for each wire protocol."""

from __future__ import annotations

import pytest

from tests.double.fixtures import double, double_process
from tests.llm.conftest import server
from tests.providers.dialects import DIALECTS, Dialect

__all__ = ["dialect", "double", "double_process", "server"]


@pytest.fixture(params=DIALECTS, ids=lambda one: one.client_type)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """The protocol under test."""
    return request.param
