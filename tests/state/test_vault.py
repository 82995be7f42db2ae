"""The vault: readable by its owner only, written in one step, and never shown."""

from __future__ import annotations

import os
import resource
import stat
import tomllib
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.errors import ConfigError
from penguin_harness.state.vault import LONGEST, Vault, load_vault, save_vault

VALUE = "s3cret-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent_state" / ".vault.toml"


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_vault(path)
    assert VALUE not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_what_is_stored_is_found_again(path: Path) -> None:
    assert load_vault(path).names == ()
    save_vault(path, load_vault(path).with_secret("B", VALUE))
    save_vault(path, load_vault(path).with_secret("A_1", "two\nlines 'and' \"quotes\" \\ ö"))
    vault = load_vault(path)
    assert vault.names == ("A_1", "B")
    assert vault.variables == {"B": VALUE, "A_1": "two\nlines 'and' \"quotes\" \\ ö"}
    assert vault.secrets == set(vault.variables.values())
    save_vault(path, vault.without("A_1"))
    assert load_vault(path).variables == {"B": VALUE}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=6, max_size=50))
def test_any_value_survives_the_file(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    path = tmp_path_factory.mktemp("vault") / ".vault.toml"
    if len(value.strip()) >= 6:
        save_vault(path, Vault().with_secret("NAME", value))
        assert load_vault(path).variables == {"NAME": value}


def test_comments_and_order_stay(path: Path) -> None:
    written(path, f'# for the build\nZ = "{VALUE}"  # expires in May\n\nA = "{VALUE}-a"\n')
    save_vault(path, load_vault(path).with_secret("A", f"{VALUE}-b"))
    assert path.read_text() == f'# for the build\nZ = "{VALUE}"  # expires in May\n\nA = "{VALUE}-b"\n'


def test_the_file_is_of_its_owner_alone_whatever_the_mask(path: Path) -> None:
    mask = os.umask(0)
    try:
        save_vault(path, Vault().with_secret("A", VALUE))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [".vault.toml"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o601])
def test_a_file_that_others_may_open_is_refused(path: Path, mode: int) -> None:
    written(path, f'A = "{VALUE}"', mode)
    said = refusal(path)
    assert f"(mode {mode:03o})" in said
    assert f"chmod 600 {path}" in said
    with pytest.raises(ConfigError, match="open to others"):
        save_vault(path, Vault())
    assert path.read_text() == f'A = "{VALUE}"'


def test_a_linked_file_stays_linked_and_is_judged_by_its_own_mode(path: Path, tmp_path: Path) -> None:
    real = written(tmp_path / "elsewhere" / "vault", f'A = "{VALUE}"')
    path.parent.mkdir()
    path.symlink_to(real)
    save_vault(path, load_vault(path).with_secret("B", VALUE))
    assert path.is_symlink()
    assert tomllib.loads(real.read_text()) == {"A": VALUE, "B": VALUE}
    real.chmod(0o644)
    assert "open to others" in refusal(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"A = {VALUE}", "it is no TOML (at line 1, column"),
        (f'A = "{VALUE}\n', "it is no TOML"),
        (f'A = "{VALUE}"\nA = "{VALUE}"', "it is no TOML"),
        ("A = 12345678", "the value of A is no text"),
        (f'[A]\nB = "{VALUE}"', "the value of A is no text"),
        (f'"A-B" = "{VALUE}"', "'A-B' is no name of a variable"),
        (f'PENGUIN_TOKEN = "{VALUE}"', "begins with PENGUIN_"),
        ('A = "short"', "the value of A has less than 6 characters"),
        ('A = "          "', "the value of A has less than 6 characters"),
        ('A = "\\u0000abcdefgh"', "the value of A has characters that no variable can have"),
    ],
)
def test_a_fault_is_told_by_its_place_and_without_the_value(path: Path, text: str, said: str) -> None:
    assert said in refusal(written(path, text))


def test_what_is_no_file_is_told_and_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path, 0o600)
    assert "pipe" in refusal(path)
    path.unlink()
    path.mkdir()
    assert "cannot read" in refusal(path)
    path.rmdir()
    path.write_bytes(b'A = "\xff"')
    path.chmod(0o600)
    assert "not in UTF-8" in refusal(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A", "short"),
        ("A", "x" * (LONGEST + 1)),
        ("A", f"{VALUE}\0"),
        ("A", f"{VALUE}\ud800"),
        ("1A", VALUE),
        ("", VALUE),
    ],
)
def test_what_could_not_be_used_is_not_stored(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="nothing was stored") as caught:
        Vault().with_secret(name, value)
    assert value not in str(caught.value)


def test_a_missing_name_is_told_with_the_closest(path: Path) -> None:
    vault = Vault({"GITHUB_TOKEN": VALUE})
    with pytest.raises(ConfigError, match="did you mean GITHUB_TOKEN"):
        vault.without("GITHUB_TOKN")
    with pytest.raises(ConfigError, match="see `penguin vault list`"):
        vault.without("X")


def test_a_vault_does_not_show_its_values() -> None:
    vault = Vault({"B": VALUE, "A": VALUE})
    assert f"{vault!r} {vault}" == "Vault(A, B) Vault(A, B)"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    save_vault(path, Vault().with_secret("A", VALUE))
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"cannot write .*: File too large"):
            save_vault(path, load_vault(path).with_secret("B", "x" * 1_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [".vault.toml"]
