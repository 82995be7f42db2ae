"""Format, lint and types are part of the tests: one command checks everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["pyright", "--pythonpath", sys.executable],
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CHECKS)
def test_the_tree_passes(name: str) -> None:
    command = [sys.executable, "-m", *CHECKS[name]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
