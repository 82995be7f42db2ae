"""Fixtures: one process for each test worker, one clean slate for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.double.client import Double

__all__ = ["double", "double_process"]


@pytest.fixture(scope="session")
def double_process() -> Iterator[Double]:
    """The worker's process."""
    with Double() as process:
        yield process


@pytest.fixture
def double(double_process: Double) -> Iterator[Double]:
    """The provider of one test, which fails if requests were refused and the test did not ask for the refusals."""
    double_process.reset()
    yield double_process
    double_process.assert_checked()
    double_process.reset()
