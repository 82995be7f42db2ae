"""The harness beside others, in one run:  python -m benchmarks.peers.compare FOLDER [--rounds 3]

FOLDER holds a virtual environment for each peer that is to take part:

    python -m venv FOLDER/openai_agents && FOLDER/openai_agents/bin/pip install openai-agents
    python -m venv FOLDER/pydantic_ai && FOLDER/pydantic_ai/bin/pip install 'pydantic-ai-slim[openai]'
    python -m venv FOLDER/langgraph && FOLDER/langgraph/bin/pip install langgraph langchain langchain-openai
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.measures import BASELINE, PENGUIN, PROTOCOLS, Measure
from benchmarks.player import Player, Round, server

MEASURES = (
    Measure("burst", "a streamed delta", "stream-2000", "stream-20", 1980, ""),
    Measure("tools", "a tool turn, of 50", "tools-50", "tools-2", 48, ""),
)
PEERS = {"openai_agents": "openai-agents", "pydantic_ai": "pydantic-ai-slim", "langgraph": "langgraph"}
"""Each peer's driver and its distribution."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the virtual environments of the peers")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder: Path = options.folder.absolute()
    programs = {BASELINE: sys.executable, PENGUIN: sys.executable}
    programs |= {peer: str(python) for peer in PEERS if (python := folder / peer / "bin" / "python").exists()}
    figures: dict[tuple[str, str], list[float]] = {}
    with server() as url:
        for number in range(options.rounds + 1):
            played = Round(url)
            for name, python in programs.items():
                player = Player(name, PROTOCOLS[0], python)
                for measure in MEASURES:
                    cost = played.slope(player, measure.scenario, measure.small, measure.units) * 1e6
                    figures.setdefault((name, measure.name), []).extend([cost] if number else [])
            sys.stderr.write(f"round {number} of {options.rounds} done\n")
    sys.stdout.write(table({name: titled(name, python) for name, python in programs.items()}, figures))


def titled(name: str, python: str) -> str:
    """The peer's name with its version."""
    if name not in PEERS:
        return "PenguinHarness" if name == PENGUIN else "httpx + json"
    code = f"from importlib.metadata import version; print(version({PEERS[name]!r}))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{PEERS[name]} {found.stdout.strip()}"


def table(titles: dict[str, str], figures: dict[tuple[str, str], list[float]]) -> str:
    head = " | ".join(f"{measure.title} | × baseline" for measure in MEASURES)
    lines = [f"| CPU time of … | {head} |", "| --- |" + " ---: | ---: |" * len(MEASURES)]
    for name, title in titles.items():
        cells: list[str] = []
        for measure in MEASURES:
            mine, base = figures[name, measure.name], figures[BASELINE, measure.name]
            ratio = median(a / b for a, b in zip(mine, base, strict=True))
            cells += [f"{median(mine):.1f} µs", f"{ratio:.2f}"]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
