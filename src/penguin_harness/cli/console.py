"""The process's streams and how it ends: plain words on stderr, a code that scripts can rely on."""

from __future__ import annotations

import io
import os
import sys

from penguin_harness.cli.terminal.neutral import one_line

DONE = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141


def prepare_streams() -> None:
    """Make sure that there are streams and that they take any text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - for good
        elif isinstance(stream, io.TextIOWrapper) and mode == "w":
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """One line for the person, beside the output."""
    sys.stderr.write(f"penguin: {one_line(text)}\n")
    sys.stderr.flush()


def write_line(line: bytes) -> None:
    """One line of output for programs."""
    sys.stdout.buffer.write(line + b"\n")


def forget_output() -> None:
    """Nobody reads stdout any more: let nothing try to write to it at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_input() -> str:
    """Everything on standard input as UTF-8, line ends as they are."""
    return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline="").read()
