"""Snapshots: a state comes back whole, in one step, and the vault is never part of it."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.state.folder_swap import swap, swap_by_renames
from penguin_harness.state.paths import AgentPaths, agent_paths
from penguin_harness.state.snapshots import list_snapshots, restore_snapshot, take_snapshot

SECRET = b'TOKEN = "hunter2-hunter2"\n'


@pytest.fixture
def paths(tmp_path: Path) -> AgentPaths:
    paths = agent_paths("rev", root=tmp_path)
    skill = paths.state / "skills" / "pdf"
    skill.mkdir(parents=True)
    (paths.state / "AGENTS.md").write_text("one 🐧", encoding="utf-8")
    (skill / "SKILL.md").write_text("---\ndescription: x\n---\n", encoding="utf-8")
    (skill / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (skill / "run.sh").chmod(0o755)
    (paths.state / "skills" / "link").symlink_to("pdf")
    (paths.state / ".vault.toml").write_bytes(SECRET)
    (paths.state / ".vault.toml").chmod(0o600)
    return paths


def content(state: Path) -> dict[str, object]:
    """Everything in a folder, with modes."""
    found: dict[str, object] = {}
    for entry in sorted(state.rglob("*")):
        name = str(entry.relative_to(state))
        if entry.is_symlink():
            found[name] = str(entry.readlink())
        elif entry.is_file():
            found[name] = (entry.read_bytes(), stat.S_IMODE(entry.stat().st_mode))
        else:
            found[name] = stat.S_IMODE(entry.stat().st_mode)
    return found


def names(paths: AgentPaths) -> set[str]:
    return {snapshot.name for snapshot in list_snapshots(paths)}


def test_a_state_comes_back_as_it_was_and_what_it_replaces_is_kept(paths: AgentPaths) -> None:
    before = content(paths.state)
    taken = take_snapshot(paths, "one")
    assert stat.S_IMODE(taken.path.stat().st_mode) == 0o600
    (paths.state / "AGENTS.md").write_text("two", encoding="utf-8")
    (paths.state / "skills" / "pdf" / "run.sh").unlink()
    (paths.state / "new").mkdir()
    changed = content(paths.state)
    replaced = restore_snapshot(paths, "one", keep_as="kept")
    assert content(paths.state) == before
    assert replaced is not None
    assert names(paths) == {"one", "kept"}
    restore_snapshot(paths, "kept", keep_as="again")
    assert content(paths.state) == changed
    assert [entry.name for entry in sorted(paths.agent.iterdir())] == ["agent_state", "snapshots"]


def test_the_vault_is_in_no_archive_whatever_name_leads_to_it(paths: AgentPaths) -> None:
    """B173."""
    os.link(paths.state / ".vault.toml", paths.state / "skills" / "notes.md")
    (paths.state / "vault").symlink_to(".vault.toml")
    (paths.state / ".vault.toml.1234.tmp").write_bytes(SECRET)
    path = take_snapshot(paths, "one").path
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        kept = [archive.extractfile(member) for member in members if member.isreg()]
        assert not any(SECRET in file.read() for file in kept if file is not None)
        assert {"AGENTS.md", "vault"} <= {member.name for member in members}
    assert not {"notes.md", ".vault.toml"} & {Path(member.name).name for member in members}


def test_a_restore_leaves_the_vault_as_it_is(paths: AgentPaths) -> None:
    take_snapshot(paths, "one")
    (paths.state / ".vault.toml").write_bytes(b'TOKEN = "a newer one"\n')
    restore_snapshot(paths, "one", keep_as="kept")
    vault = paths.state / ".vault.toml"
    assert vault.read_bytes() == b'TOKEN = "a newer one"\n'
    assert stat.S_IMODE(vault.stat().st_mode) == 0o600


def test_a_vault_that_is_a_link_into_the_state_survives(paths: AgentPaths) -> None:
    (paths.state / "secrets").mkdir()
    (paths.state / ".vault.toml").rename(paths.state / "secrets" / "vault.toml")
    (paths.state / ".vault.toml").symlink_to("secrets/vault.toml")
    take_snapshot(paths, "one")
    (paths.state / "AGENTS.md").unlink()
    restore_snapshot(paths, "one", keep_as="kept")
    assert (paths.state / "AGENTS.md").exists()
    assert (paths.state / ".vault.toml").is_symlink()
    assert (paths.state / ".vault.toml").read_bytes() == SECRET


def test_a_reader_finds_one_folder_or_the_other_at_any_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "file").touch()
    if not swap(one, other):
        pytest.skip("the file system has no exchange of two folders")
    code = (
        "import os, sys\nmissed = 0\nprint(flush=True)\n"
        "while os.path.exists(sys.argv[2]):\n"
        "    missed += not os.path.exists(sys.argv[1])\n"
        "print(missed)"
    )
    watched, going = one / "file", tmp_path / "going"
    going.touch()
    with subprocess.Popen([sys.executable, "-c", code, watched, going], stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        for _ in range(10_000):
            swap(one, other)
        going.unlink()
        assert reader.communicate(timeout=20)[0].strip() == "0"


def test_a_lost_state_is_put_back(paths: AgentPaths) -> None:
    take_snapshot(paths, "one")
    paths.state.rename(paths.agent / "elsewhere")
    assert restore_snapshot(paths, "one", keep_as="kept") is None
    assert (paths.state / "AGENTS.md").read_text(encoding="utf-8") == "one 🐧"
    assert names(paths) == {"one"}


def test_a_state_that_is_a_link_stays_one(paths: AgentPaths, tmp_path: Path) -> None:
    """B175."""
    real = tmp_path / "dotfiles"
    paths.state.rename(real)
    paths.state.symlink_to(real)
    take_snapshot(paths, "one")
    (real / "AGENTS.md").write_text("two", encoding="utf-8")
    restore_snapshot(paths, "one", keep_as="kept")
    assert paths.state.is_symlink()
    assert (real / "AGENTS.md").read_text(encoding="utf-8") == "one 🐧"


def test_what_is_write_protected_is_kept_and_replaced(paths: AgentPaths) -> None:
    (paths.state / "skills" / "pdf").chmod(0o555)
    before = content(paths.state)
    take_snapshot(paths, "one")
    restore_snapshot(paths, "one", keep_as="kept")
    assert content(paths.state) == before
    assert [entry.name for entry in sorted(paths.agent.iterdir())] == ["agent_state", "snapshots"]


def test_pipes_and_sockets_are_left_out(paths: AgentPaths) -> None:
    os.mkfifo(paths.state / "pipe")
    path = take_snapshot(paths, "one").path
    with tarfile.open(path) as archive:
        assert "pipe" not in archive.getnames()


def test_a_name_is_taken_once(paths: AgentPaths) -> None:
    take_snapshot(paths, "one")
    with pytest.raises(ConfigError, match="there is a snapshot 'one' already"):
        take_snapshot(paths, "one")
    with pytest.raises(ConfigError, match=r"no snapshot 'onw' in .*; did you mean 'one'\?"):
        restore_snapshot(paths, "onw", keep_as="kept")
    with pytest.raises(ConfigError, match="there is nothing to keep"):
        take_snapshot(agent_paths("nobody", root=paths.project.parent), "one")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "a b", "a\0b", "/etc/passwd"])
def test_b174_a_name_never_becomes_another_path(paths: AgentPaths, name: str) -> None:
    with pytest.raises(ConfigError, match="is not a name for a snapshot"):
        take_snapshot(paths, name)
    with pytest.raises(ConfigError, match="there is no snapshot"):
        restore_snapshot(paths, name, keep_as="kept")
    assert not paths.snapshots.exists()


def archive_of(paths: AgentPaths, *members: tuple[tarfile.TarInfo, bytes]) -> None:
    paths.snapshots.mkdir()
    with tarfile.open(paths.snapshots / "one.tar.gz", "w:gz") as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    "members",
    [
        [(tarfile.TarInfo("../out"), b"x")],
        [(tarfile.TarInfo("/tmp/out"), b"x")],
        [(tarfile.TarInfo("a/../../out"), b"x")],
        [(link("dir", "../.."), b""), (tarfile.TarInfo("dir/out"), b"x")],
        [(link("hard", "../../out", tarfile.LNKTYPE), b"")],
        [(tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2")],
        [(tarfile.TarInfo("a"), b"1"), (link("a", "b"), b"")],
    ],
)
def test_b175_an_archive_that_leads_out_is_refused_and_nothing_changes(
    paths: AgentPaths, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    before = content(paths.state)
    archive_of(paths, *members)
    with pytest.raises(ConfigError, match=r"the snapshot .*one\.tar\.gz is damaged"):
        restore_snapshot(paths, "one", keep_as="kept")
    assert content(paths.state) == before
    assert not list(paths.project.rglob("out"))
    assert [entry.name for entry in sorted(paths.agent.iterdir())] == ["agent_state", "snapshots"]


def test_an_archive_with_a_vault_does_not_replace_the_agents(paths: AgentPaths) -> None:
    archive_of(paths, (tarfile.TarInfo(".vault.toml"), b'TOKEN = "planted"\n'))
    restore_snapshot(paths, "one", keep_as="kept")
    assert (paths.state / ".vault.toml").read_bytes() == SECRET


def test_half_an_archive_is_refused(paths: AgentPaths) -> None:
    taken = take_snapshot(paths, "one")
    before = content(paths.state)
    whole = taken.path.read_bytes()
    for data in (whole[: len(whole) // 2], whole[:3], b"", b"no archive"):
        taken.path.write_bytes(data)
        with pytest.raises(ConfigError, match="is damaged"):
            restore_snapshot(paths, "one", keep_as=f"kept-{len(data)}")
        assert content(paths.state) == before


@pytest.mark.parametrize("exchange", [swap, swap_by_renames])
def test_two_folders_change_places(tmp_path: Path, exchange: object) -> None:
    assert callable(exchange)
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).touch()
    exchange(one, other)
    assert (one / "other").exists()
    assert (other / "one").exists()
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(OSError, match="No such file"):
        exchange(one, tmp_path / "none")
    assert (one / "other").exists(), "what failed is undone"
