"""A clean home for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import Home
from tests.double.client import Double


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def home_with_model(home: Home, double: Double) -> Home:
    home.add_model(double.url)
    return home
