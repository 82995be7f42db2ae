"""Memory: one folder for each agent and workspace, its index in the prompt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.state.memory import LONGEST, memory_folder, memory_section


def test_each_workspace_has_its_own_folder_whatever_path_leads_there(tmp_path: Path) -> None:
    for name in ("a/work", "b/work"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/work")
    one = memory_folder(tmp_path, tmp_path / "a" / "work")
    assert memory_folder(tmp_path, tmp_path / "link") == one
    assert memory_folder(tmp_path, tmp_path / "a" / ".." / "a" / "work") == one
    assert memory_folder(tmp_path, tmp_path / "b" / "work") != one
    assert one.parent == tmp_path / "memory"
    assert one.name.startswith("work-")
    assert not one.parent.exists(), "it is made when something goes in"


@pytest.mark.parametrize("name", ["..x", "ünï 🐧", "x" * 200, "a\nb", os.fsdecode(b"caf\xe9"), "-"])
def test_an_odd_name_makes_a_plain_folder(tmp_path: Path, name: str) -> None:
    folder = memory_folder(tmp_path, tmp_path / name)
    assert folder.parent == tmp_path / "memory"
    assert folder.name.isascii()
    assert folder.name.replace("-", "").isalnum()
    assert len(folder.name) < 60
    assert memory_folder(tmp_path, Path("/")).name.startswith("workspace-")


def test_the_index_is_shown_and_a_long_one_is_cut(tmp_path: Path) -> None:
    assert "[MEMORY.md is empty so far]" in memory_section(tmp_path)
    index = tmp_path / "MEMORY.md"
    index.write_text("- the port is 8080\n", encoding="utf-8")
    assert memory_section(tmp_path).endswith("\n\n- the port is 8080")
    assert f"The folder {tmp_path} is yours" in memory_section(tmp_path)
    index.write_text("x" * (LONGEST + 1), encoding="utf-8")
    assert memory_section(tmp_path).endswith(f"{'x' * LONGEST}\n[cut here; the whole is in {index}: make it shorter]")


def test_an_index_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    with pytest.raises(ConfigError, match=r"cannot read .*MEMORY\.md"):
        memory_section(tmp_path)
