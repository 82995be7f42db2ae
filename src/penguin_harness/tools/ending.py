"""How a command stands, in words for the model."""

from __future__ import annotations

import signal

from penguin_harness.tools.command import Command

_SHOWN = 80


def brief(command: Command) -> str:
    """Its first words."""
    text = " ".join(command.line.text.split())
    return f"`{text}`" if len(text) <= _SHOWN else f"`{text[:_SHOWN]}…`"


def lasted(command: Command) -> str:
    """How long it has run."""
    return f"{command.seconds:.1f} s" if command.seconds < 10 else f"{command.seconds:.0f} s"


def ending(command: Command) -> str:
    """How it ended, once it is over."""
    if command.timed_out:
        return f"timed out after {command.line.timeout:g} s: the command and all it started were ended"
    match command.exit:
        case None:
            return "it did not end when it was killed"
        case code if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            return f"killed by {names.get(-code, f'signal {-code}')}"
        case code:
            return f"exit code {code}"


def closing_note(command: Command, *, is_new: bool) -> str | None:
    """What stands behind the output of a call; a new command that ended well needs no word."""
    if not command.over:
        if not is_new:
            return f"[running for {lasted(command)}]"
        return (
            f"[still running after {lasted(command)}, as process {command.id}: input_command shows more of it, writes"
            " to it, interrupts or ends it. Its end will be told.]"
        )
    notes = [] if is_new and command.exit == 0 and not command.timed_out else [f"[{ending(command)}]"]
    if command.lingers:
        notes.append(f"[what it started goes on, as process {command.id}: input_command shows its output or ends it]")
    return "\n".join(notes) or None
