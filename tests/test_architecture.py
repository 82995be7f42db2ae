"""The layout is the architecture: imports point inward, and importing the package does no work."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "penguin_harness"

CORE = {"omnimessage", "errors", "contracts", "invoke"}
COMPOSITION = {"agent", "session", "models", "laws", "verify", "cost", "opening", "assembly", "subagents"}
PARTS = {"engine", "llm", "tools", "trace", "state", "hooks", "policy"}
MAY_IMPORT: dict[str, set[str]] = {
    "omnimessage": set(),
    "errors": set(),
    "invoke": set(),
    "contracts": {"omnimessage"},
    **dict.fromkeys(PARTS, CORE),
    **dict.fromkeys(COMPOSITION, CORE | PARTS | COMPOSITION),
    "": CORE | PARTS | COMPOSITION,
    "cli": CORE | PARTS | COMPOSITION | {""},
}


def layer_of(module: str) -> str:
    return f"{module}.".split(".")[1]


def wrong_imports(source: str, layer: str) -> list[str]:
    """The imports of a module in this layer that do not point inward."""
    targets: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            targets.append((node.lineno, f"{'.' * node.level}{node.module or ''}"))
        elif isinstance(node, ast.Import):
            targets += [(node.lineno, alias.name) for alias in node.names]
    wrong = [f"line {line}: relative import {module}" for line, module in targets if module.startswith(".")]
    for line, module in targets:
        if module.split(".")[0] == "penguin_harness":
            target = layer_of(module)
            if target != layer and target not in MAY_IMPORT[layer]:
                wrong.append(f"line {line}: {layer or 'the package'} must not know {target or 'the package'}")
    return wrong


def layer_of_file(path: Path) -> str:
    first = path.relative_to(SRC).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: str(path.relative_to(SRC)))
def test_imports_point_inward(path: Path) -> None:
    assert wrong_imports(path.read_text(encoding="utf-8"), layer_of_file(path)) == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("engine", "from penguin_harness.llm.gateway import create_model"),
        ("engine", "def late():\n    import penguin_harness.trace.writer"),
        ("omnimessage", "from penguin_harness.errors import PenguinError"),
        ("tools", "from penguin_harness.session import Session"),
        ("trace", "from penguin_harness import Session"),
        ("llm", "from ..engine import loop"),
    ],
)
def test_a_wrong_import_is_found(layer: str, source: str) -> None:
    assert wrong_imports(source, layer)


def test_omnimessage_knows_msgspec_and_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"msgspec", "penguin_harness", "typing_extensions"}
    for path in (SRC / "omnimessage").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] in allowed, path


def test_importing_the_package_warns_of_nothing_and_loads_no_transport() -> None:
    heavy = {"mcp", "pydantic", "httpx2", "ruamel", "aiohttp", "rich", "prompt_toolkit", "tomlkit", "cyclopts"}
    code = f"import sys, penguin_harness; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip(), found.stderr) == (0, "[]", "")
