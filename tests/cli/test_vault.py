"""`penguin vault`: a secret goes in by a pipe or a hidden prompt, and never comes out."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.process import Home

VALUE = "s3cret-0123456789"


def vault_of(home: Home, agent: str = "default_agent") -> Path:
    return home.data / f"default_project/agents/{agent}/agent_state/.vault.toml"


def test_a_secret_is_stored_listed_and_removed(home: Home) -> None:
    stored = home.penguin("vault", "set", "TOKEN", "--stdin", given=f"{VALUE}\n")
    assert (stored.code, stored.out.split(";")[0]) == (0, "TOKEN is stored")
    assert stat.S_IMODE(vault_of(home).stat().st_mode) == 0o600
    assert tomllib.loads(vault_of(home).read_text()) == {"TOKEN": VALUE}
    changed = home.penguin("vault", "set", "TOKEN", "--stdin", given=f"{VALUE}-new\r\n")
    assert "TOKEN is changed" in changed.out
    assert home.penguin("vault", "set", "ANOTHER", "--stdin", given=VALUE).code == 0
    assert home.penguin("vault", "list").out == "ANOTHER\nTOKEN\n"
    assert json.loads(home.penguin("vault", "list", "--json").out) == ["ANOTHER", "TOKEN"]
    assert home.penguin("vault", "remove", "ANOTHER").out == "ANOTHER is removed\n"
    assert tomllib.loads(vault_of(home).read_text()) == {"TOKEN": f"{VALUE}-new"}


def test_a_value_of_several_lines_is_kept_as_it_is(home: Home) -> None:
    home.penguin("vault", "set", "KEY", "--stdin", given="-----BEGIN\nabc def\n-----END\n\n")
    assert tomllib.loads(vault_of(home).read_text()) == {"KEY": "-----BEGIN\nabc def\n-----END\n"}


def test_on_a_terminal_it_is_asked_for_and_not_shown(home: Home) -> None:
    with home.on_terminal("vault", "set", "TOKEN") as terminal:
        terminal.expect("Value of TOKEN (not shown):")
        terminal.send(f"{VALUE}\r")
        terminal.expect("TOKEN is stored")
        assert terminal.ended() == 0
        assert VALUE not in terminal.text
    assert tomllib.loads(vault_of(home).read_text()) == {"TOKEN": VALUE}


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["interrupted", "ended"])
def test_a_question_that_is_left_stores_nothing(home: Home, key: str) -> None:
    with home.on_terminal("vault", "set", "TOKEN") as terminal:
        terminal.expect("(not shown):")
        terminal.send(key)
        assert terminal.ended() == (130 if key == "\x03" else 2)
    assert not vault_of(home).exists()


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["set", "TOKEN", VALUE], "", "a value on the command line can be read by others"),
        (["set", "TOKEN"], VALUE, "there is no terminal to ask"),
        (["set", "TOKEN", "--stdin"], "", "the value of TOKEN has less than 6 characters"),
        (["set", "TOKEN", "--stdin"], "x" * 40_000, "the value of TOKEN has more than 32768 bytes"),
        (["set", "TO-KEN", "--stdin"], VALUE, "'TO-KEN' is no name of a variable"),
        (["set", "TOKEN", "--stdin", "--agent", "nobody"], VALUE, "there is no agent 'nobody'"),
        (["set", "TOKEN", "--stdin", "--agent", "../x"], VALUE, "there is no agent '../x'"),
        (["remove", "TOKEN"], "", "the vault has no 'TOKEN'"),
    ],
)
def test_what_is_wrong_is_one_line_without_the_value(home: Home, arguments: list[str], given: str, said: str) -> None:
    done = home.penguin("vault", *arguments, given=given)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert VALUE not in done.err
    assert not vault_of(home).exists()


def test_a_value_in_no_utf8_is_refused(home: Home) -> None:
    done = home.penguin("vault", "set", "TOKEN", "--stdin", given=b"caf\xe9-0123456")
    assert (done.code, done.err) == (2, "penguin: --stdin: the value is not in UTF-8\n")


def test_an_open_vault_is_refused(home: Home) -> None:
    home.penguin("vault", "set", "TOKEN", "--stdin", given=VALUE)
    vault_of(home).chmod(0o644)
    for arguments in (["list"], ["remove", "TOKEN"], ["set", "OTHER", "--stdin"]):
        done = home.penguin("vault", *arguments, given=VALUE)
        assert done.code == 2
        assert "chmod 600" in done.err
    assert tomllib.loads(vault_of(home).read_text()) == {"TOKEN": VALUE}


def test_an_empty_vault_says_how_to_fill_it(home: Home) -> None:
    done = home.penguin("vault", "list")
    assert (done.code, done.out) == (0, "")
    assert "penguin vault set NAME" in done.err


def test_each_agent_has_its_own(home: Home) -> None:
    assert home.penguin("agent", "new", "other").code == 0
    home.penguin("vault", "set", "TOKEN", "--stdin", "--agent", "other", given=VALUE)
    assert home.penguin("vault", "list", "--agent", "other").out == "TOKEN\n"
    assert home.penguin("vault", "list").out == ""
    assert not vault_of(home).exists()


def test_listing_needs_nothing_heavy(home: Home) -> None:
    code = "import sys; from penguin_harness.cli.app import main; main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "vault", "list"],
        env=home.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"prompt_toolkit", "aiohttp", "tomlkit", "getpass"} & set(done.stdout.split())
