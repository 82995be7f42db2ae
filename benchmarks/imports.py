"""What `import penguin_harness` costs, and which of its heavy parts it loads."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

from benchmarks.measures import PROTOCOLS
from benchmarks.player import ROOT, pinned

CODE = """
import json, sys, time
started = time.process_time()
import penguin_harness
print(json.dumps([time.process_time() - started, sorted(sys.modules)]))
"""


class ImportCost(NamedTuple):
    """CPU seconds, and the adapters that were loaded on the way."""

    seconds: float
    adapters: list[str]


def import_cost() -> ImportCost:
    """Import the package in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=ROOT, preexec_fn=pinned(1)
    )
    seconds, modules = json.loads(run.stdout)
    adapters = [p.name for p in PROTOCOLS if f"penguin_harness.llm.{p.name}" in modules]
    return ImportCost(seconds, adapters)
