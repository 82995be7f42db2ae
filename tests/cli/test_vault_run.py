"""What a person sees of a run whose commands print a secret of the vault."""

from __future__ import annotations

import pytest

from tests.cli.process import Home
from tests.double.chat.build import call, reply, script, turn
from tests.double.client import Double

VALUE = "pl4nted-S3cret-0123456789"
COMMAND = 'echo "it is $TOKEN"; printf %s "$TOKEN" | base64; echo "$TOKEN" >&2; test ${#TOKEN} = 25 && echo whole'
ENCODED = "cGw0bnRlZC1TM2NyZXQtMDEyMzQ1Njc4"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_b171_no_stream_shows_it_and_no_file_keeps_it(
    home_with_model: Home, double: Double, options: tuple[str, ...]
) -> None:
    home = home_with_model
    home.penguin("vault", "set", "TOKEN", "--stdin", given=VALUE)
    double.load(script(turn(call("exec_command", {"command": COMMAND})), reply("Done.")))
    done = home.penguin("run", "-m", "go", "--approve", "allow-all", *options)
    assert done.code == 0, done.err
    asked = str(double.bodies())
    assert "it is [redacted]" in asked
    assert "whole" in asked
    kept = [path.read_text() for path in home.data.rglob("*") if path.is_file() and path.name != ".vault.toml"]
    for text in (done.out, done.err, asked, *kept):
        assert VALUE not in text
        assert ENCODED not in text


def test_the_terminal_does_not_show_it(home_with_model: Home, double: Double) -> None:
    home = home_with_model
    home.penguin("vault", "set", "TOKEN", "--stdin", given=VALUE)
    double.load(script(turn(call("exec_command", {"command": COMMAND})), reply("Done.")))
    with home.on_terminal("run", "-m", "go", "--approve", "allow-all") as terminal:
        terminal.expect("Done.")
        assert terminal.ended() == 0
        assert "[redacted]" in terminal.text
        assert VALUE not in terminal.text
        assert ENCODED not in terminal.text
