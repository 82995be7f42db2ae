"""Hooks as files: what `hook.toml` may say, and what is said about one that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.hooks import load_hooks
from tests.hooks.support import host, loaded, write_hook

MINIMAL = 'points = ["stop"]\ncommand = ["true"]\n'


def test_a_folder_is_a_hook(tmp_path: Path) -> None:
    toml = """
points = ["pre_tool_use", "stop"]
command = ["python3", "-u", "guard.py"]
order = 7
timeout_s = 5
on_failure = "deny"
tools = ["exec_command"]
"""
    write_hook(tmp_path, "guard", toml)
    write_hook(tmp_path, "another", MINIMAL)
    another, guard = loaded(tmp_path)
    assert (another.name, another.points, another.order) == ("another", ("stop",), 0)
    assert (another.timeout_s, another.on_failure, another.tools) == (30.0, "ignore", ())
    assert (guard.name, guard.points, guard.order) == ("guard", ("pre_tool_use", "stop"), 7)
    assert (guard.timeout_s, guard.on_failure, guard.tools) == (5.0, "deny", ("exec_command",))


def test_without_a_folder_there_are_none(tmp_path: Path) -> None:
    assert loaded(tmp_path) == []


def test_what_is_no_hook_is_passed_over(tmp_path: Path) -> None:
    write_hook(tmp_path, "guard", MINIMAL)
    (tmp_path / "hooks/README.md").write_text("These are mine.")
    (tmp_path / "hooks/.git").mkdir()
    (tmp_path / "hooks/__pycache__").mkdir()
    assert [hook.name for hook in loaded(tmp_path)] == ["guard"]


def test_a_hook_that_is_off_is_not_even_read(tmp_path: Path) -> None:
    write_hook(tmp_path, "guard", MINIMAL)
    write_hook(tmp_path, "broken", "points = ")
    hooks = load_hooks(tmp_path / "hooks", host(tmp_path), off=["broken"])
    assert [hook.name for hook in hooks] == ["guard"]
    with pytest.raises(ConfigError, match=r"hooks\.off names 'gaurd', which is no hook in .*did you mean 'guard'\?"):
        load_hooks(tmp_path / "hooks", host(tmp_path), off=["gaurd"])


FAULTS = {
    "points =": r"hook\.toml: Invalid value \(at end of document\)",
    "\ufffe": r"hook\.toml: ",
    'command = ["true"]': "missing required field `points`",
    'points = []\ncommand = ["true"]': r"length >= 1 - at `\$\.points`",
    'points = ["stop"]\ncommand = []': r"length >= 1 - at `\$\.command`",
    'points = ["stop"]\ncommand = "true"': r"Expected `array`, got `str` - at `\$\.command`",
    'points = ["pre_tool"]\ncommand = ["true"]': "did you mean 'pre_tool_use'",
    'points = ["before"]\ncommand = ["true"]': "there are user_prompt, pre_tool_use, stop",
    f"{MINIMAL}timout_s = 3": "unknown key 'timout_s'; did you mean 'timeout_s'",
    f"{MINIMAL}env = 3": "unknown key 'env'; there are points, command, order, timeout_s, on_failure, tools",
    f"{MINIMAL}timeout_s = 0": r"hook\.toml: timeout_s of the hook guard is 0; it is above 0",
    f"{MINIMAL}timeout_s = nan": "it is above 0",
    f'{MINIMAL}on_failure = "Deny"': "did you mean 'deny'",
    f'{MINIMAL}on_failure = "deny"': "on_failure of the hook guard is for the point pre_tool_use",
    f'{MINIMAL}tools = ["x"]': "tools of the hook guard is for the point pre_tool_use",
    f"{MINIMAL}# {'x' * 100_000}": "longer than 100,000 bytes",
}


@pytest.mark.parametrize("toml", FAULTS, ids=lambda toml: ascii(toml[-40:]))
def test_a_fault_names_the_file_and_the_place(toml: str, tmp_path: Path) -> None:
    write_hook(tmp_path, "guard", toml)
    with pytest.raises(ConfigError, match=FAULTS[toml]) as raised:
        loaded(tmp_path)
    assert str(tmp_path / "hooks/guard/hook.toml") in str(raised.value)


def test_b151_a_gate_that_lost_its_file_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "hooks/guard").mkdir(parents=True)
    with pytest.raises(ConfigError, match="the hook 'guard' has no file"):
        loaded(tmp_path)
    os.mkfifo(tmp_path / "hooks/guard/hook.toml")
    with pytest.raises(ConfigError, match="the hook 'guard' has no file"):
        loaded(tmp_path)


def test_a_file_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    write_hook(tmp_path, "guard", MINIMAL)
    (tmp_path / "hooks/guard/hook.toml").write_bytes(b"# \xff\n")
    with pytest.raises(ConfigError, match="cannot read"):
        loaded(tmp_path)


def test_a_name_that_no_record_could_hold_is_refused(tmp_path: Path) -> None:
    write_hook(tmp_path, "a b\n", MINIMAL)
    with pytest.raises(ConfigError, match="is no name for a hook"):
        loaded(tmp_path)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hooks").write_text("mine")
    with pytest.raises(ConfigError, match="cannot read the hooks in"):
        loaded(tmp_path)
