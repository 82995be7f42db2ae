"""A sample of the kills; `python -m tests.matrix.kill` does as many as you like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_a_run_that_is_killed_at_random_moments_does_everything_once() -> None:
    command = [sys.executable, "-m", "tests.matrix.kill", "--points", "8"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kill: 8 points tried, 0 failures" in done.stdout
