"""Talking with `penguin chat` on a terminal."""

from __future__ import annotations

from penguin_harness.omnimessage import ModelMessage, Text
from penguin_harness.trace import read_messages
from tests.cli.process import Home, Terminal

ENTER, ESCAPE = "\r", "\x1b"
ALT_ENTER = "\x1b\r"
CTRL_C, CTRL_D = "\x03", "\x04"


def ready(terminal: Terminal) -> None:
    """Wait for the prompt: its line about the session comes with it."""
    terminal.expect("of 128.0k")
    terminal.expect("› ")


def say(terminal: Terminal, line: str, *shown: str) -> None:
    """Send a line at the prompt, see what it brings, and wait for the next prompt."""
    terminal.send(f"{line}{ENTER}")
    for words in shown:
        terminal.expect(words)
    ready(terminal)


def leave(terminal: Terminal) -> None:
    """End the conversation; the terminal is as it was."""
    terminal.send(CTRL_D)
    assert terminal.ended() == 0
    assert terminal.is_echoing()


def asked(home: Home) -> list[str]:
    """What was said on the user's side, in all sessions."""
    payloads = [m.payload for path in home.traces for m in read_messages(path) if isinstance(m, ModelMessage)]
    return [payload.text for payload in payloads if isinstance(payload, Text) and payload.role == "user"]
