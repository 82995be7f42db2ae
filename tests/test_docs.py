"""The README and the docs: every Python example runs, every named test exists, every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from scripts.write_reference import GENERATED
from tests.double.chat.build import reply, script
from tests.double.client import Double

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+(?:\.\w+)?))?`")


class Example(NamedTuple):
    name: str
    code: str


EXAMPLES = [
    Example(f"{page.name}-{number}", block)
    for page in PAGES
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_as_it_stands(example: Example, tmp_path: Path, double: Double) -> None:
    double.load(script(*(reply("Here you are.", context="new") for _ in range(5))))
    config = tmp_path / "home" / "default_project" / ".project_config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        'default = { provider = "custom", model_id = "test-model" }\n'
        "[[models]]\n"
        f'provider = "custom"\nmodel_id = "test-model"\nbase_url = "{double.url}"\napi_key = "sk-test-123456"\n',
        encoding="utf-8",
    )
    code = example.code
    if "async def main()" in code and "asyncio.run(" not in code:
        code += "\n\nimport asyncio\n\nasyncio.run(main())\n"
    program = tmp_path / "example.py"
    program.write_text(code, encoding="utf-8")
    environment = {**os.environ, "PENGUIN_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert double.refusals() == []


def test_the_readme_example_is_short() -> None:
    [example] = [example for example in EXAMPLES if example.name.startswith("README")]
    assert len(example.code.rstrip().splitlines()) <= 22


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_named_tests_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target
    for file, name in NAMED_TEST.findall(text):
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not name or re.search(rf"(def|class) {name.split('.')[-1]}\b", source), f"{file}::{name}"


@pytest.mark.parametrize("name", GENERATED)
def test_the_generated_parts_are_current(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert page == GENERATED[name](page), "run `python scripts/write_reference.py`"
