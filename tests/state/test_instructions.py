"""`AGENTS.md` of a workspace: which files count, in which order, and what is left out."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from penguin_harness.state.instructions import LONGEST, agent_instructions, workspace_instructions


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def put(folder: Path, text: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "AGENTS.md").write_text(text or f"of {folder.name}", encoding="utf-8")
    return folder


def order(section: str) -> list[str]:
    return re.findall(r"^of (\w+)$", section, re.MULTILINE)


def test_they_are_read_up_to_the_root_of_the_repository_the_nearest_last(home: Path) -> None:
    put(home)
    repository = put(home / "repository")
    (repository / ".git").mkdir()
    nearest = put(put(repository / "package") / "module")
    section = workspace_instructions(nearest)
    assert order(section) == ["repository", "package", "module"]
    assert f'<instructions path="{repository}/AGENTS.md">\nof repository\n</instructions>' in section


def test_a_worktree_is_a_repository_too(home: Path) -> None:
    put(home)
    worktree = put(home / "worktree")
    (worktree / ".git").write_text("gitdir: /elsewhere", encoding="utf-8")
    assert order(workspace_instructions(worktree)) == ["worktree"]


def test_without_a_repository_they_are_read_up_to_the_home_folder(home: Path) -> None:
    put(home.parent)
    put(home)
    (home / "between").mkdir()
    assert order(workspace_instructions(put(home / "between" / "deep"))) == ["home", "deep"]
    assert order(workspace_instructions(home)) == ["home"]


def test_outside_of_both_only_the_folder_itself_counts(home: Path) -> None:
    elsewhere = put(home.parent / "shared")
    put(home.parent)
    assert order(workspace_instructions(put(elsewhere / "mine"))) == ["mine"]
    (elsewhere / "empty").mkdir()
    assert workspace_instructions(elsewhere / "empty") == ""


def test_the_workspace_is_where_it_really_is(home: Path) -> None:
    """B175: a link into a repository belongs to that repository."""
    repository = put(home.parent / "repository")
    (repository / ".git").mkdir()
    (home / "link").symlink_to(put(repository / "inner"))
    assert order(workspace_instructions(home / "link")) == ["repository", "inner"]


def test_b175_a_link_that_leads_out_of_the_repository_is_not_followed(home: Path) -> None:
    (home / "secret").write_text("hunter2", encoding="utf-8")
    repository = home / "repository"
    (repository / "inner").mkdir(parents=True)
    (repository / ".git").mkdir()
    (repository / "AGENTS.md").symlink_to(home / "secret")
    section = workspace_instructions(repository)
    assert "hunter2" not in section
    assert f"[left out: it is a link to {home}/secret, outside of {repository}]" in section
    (repository / "AGENTS.md").unlink()
    put(repository)
    (repository / "inner" / "AGENTS.md").symlink_to("../AGENTS.md")
    assert order(workspace_instructions(repository / "inner")) == ["repository", "repository"]


def test_b175_outside_of_a_repository_a_link_stays_in_its_folder(home: Path) -> None:
    (home / "secret").write_text("hunter2", encoding="utf-8")
    (home / "work").mkdir()
    (home / "work" / "AGENTS.md").symlink_to("../secret")
    assert "hunter2" not in workspace_instructions(home / "work")
    (home / "work" / "AGENTS.md").unlink()
    (home / "work" / "CLAUDE.md").write_text("of work", encoding="utf-8")
    (home / "work" / "AGENTS.md").symlink_to("CLAUDE.md")
    assert order(workspace_instructions(home / "work")) == ["work"]


def test_what_cannot_be_read_is_named_with_the_reason(home: Path) -> None:
    (home / "AGENTS.md").mkdir()
    work = home / "work"
    work.mkdir()
    os.mkfifo(work / "AGENTS.md")
    section = workspace_instructions(work)
    assert f"[left out: cannot read {home}/AGENTS.md: Is a directory]" in section
    assert f"[left out: cannot read {work}/AGENTS.md: it is a folder, pipe or device" in section
    (work / "AGENTS.md").unlink()
    (work / "AGENTS.md").symlink_to("AGENTS.md")
    assert "[left out: " in workspace_instructions(work)
    (work / "AGENTS.md").unlink()
    (work / "AGENTS.md").symlink_to("gone")
    assert str(work) not in workspace_instructions(work)


def test_the_farthest_are_cut_first_and_it_is_said(home: Path) -> None:
    put(home, "h" * LONGEST)
    near = put(home / "near", "n" * (LONGEST - 10))
    section = workspace_instructions(near)
    assert section.count("n" * (LONGEST - 10)) == 1
    assert f"\n{'h' * 10}\n[cut here; the whole is in {home}/AGENTS.md]\n" in section
    put(near, "n" * LONGEST)
    assert (
        f'<instructions path="{home}/AGENTS.md">\n[cut here; the whole is in {home}/AGENTS.md]'
        in workspace_instructions(near)
    )


def test_a_huge_file_is_cut_between_characters(tmp_path: Path) -> None:
    put(tmp_path, "🐧" * (LONGEST + 1))
    section = agent_instructions(tmp_path)
    assert section.count("🐧") == LONGEST
    assert "\ufffd" not in section
    put(tmp_path, "🐧" * LONGEST)
    assert agent_instructions(tmp_path) == f"# Instructions of this agent\n\n{'🐧' * LONGEST}"
