"""Programs that run another command: which of their arguments it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import takes_next

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


class Wrapper(Struct, frozen=True):
    """How a program's arguments lead to the command that it runs."""

    valued: frozenset[str] = frozenset()
    """Flags that take the next argument."""
    operands: int = 0
    """Operands before the command."""
    assigns: bool = False
    """Whether `NAME=value` may come before the command."""
    asks: frozenset[str] = frozenset()
    """Flags with which it runs nothing."""


def short_and_long(letters: str, *long: str) -> frozenset[str]:
    """The flags with these letters and these long names."""
    return frozenset((*(f"-{letter}" for letter in letters), *(f"--{name}" for name in long)))


_SUDO = short_and_long(
    "ughpCrtTUDR", "user", "group", "host", "prompt", "close-from", "role", "type", "chdir", "chroot"
)
WRAPPERS = {
    "sudo": Wrapper(_SUDO, assigns=True, asks=short_and_long("lvVkK", "list", "validate", "version", "help")),
    "doas": Wrapper(short_and_long("uC")),
    "pkexec": Wrapper(short_and_long("", "user")),
    "gosu": Wrapper(operands=1),
    "su-exec": Wrapper(operands=1),
    "env": Wrapper(short_and_long("uC", "unset", "chdir"), assigns=True),
    "nice": Wrapper(short_and_long("n", "adjustment")),
    "ionice": Wrapper(short_and_long("cnpPu", "class", "classdata")),
    "chrt": Wrapper(short_and_long("TPD"), operands=1),
    "taskset": Wrapper(operands=1),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "time": Wrapper(short_and_long("fo", "format", "output")),
    "timeout": Wrapper(short_and_long("sk", "signal", "kill-after"), operands=1),
    "stdbuf": Wrapper(short_and_long("ioe", "input", "output", "error")),
    "unbuffer": Wrapper(),
    "command": Wrapper(asks=short_and_long("vV")),
    "builtin": Wrapper(),
    "exec": Wrapper(short_and_long("a")),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "strace": Wrapper(short_and_long("aeEoOpPsSuUX")),
    "ltrace": Wrapper(short_and_long("aeAFnopsuxl")),
    "unshare": Wrapper(short_and_long("SG")),
    "nsenter": Wrapper(short_and_long("tSGW", "target")),
    "systemd-run": Wrapper(
        short_and_long("pEutHM", "property", "setenv", "unit", "uid", "gid", "slice", "description")
    ),
    "systemd-inhibit": Wrapper(short_and_long("", "what", "who", "why", "mode")),
    "caffeinate": Wrapper(short_and_long("tw")),
    "flock": Wrapper(short_and_long("wEc", "timeout", "wait", "command"), operands=1),
    "chronic": Wrapper(),
    "entr": Wrapper(),
    "runuser": Wrapper(short_and_long("ugGcsTw"), operands=0),
}


def wrapped(command: Command) -> tuple[Field, ...]:
    """The command that the program runs, empty when it runs none."""
    for name, wrapper in WRAPPERS.items():
        if command.runs(name):
            asked = {field.text for field in command.arguments[:1]}
            return () if asked & wrapper.asks else behind(command.arguments, wrapper)
    return ()


def flags_of(command: Command, wrapper: Wrapper) -> tuple[Field, ...]:
    """The arguments before the command that the program runs."""
    return command.arguments[: len(command.arguments) - len(behind(command.arguments, wrapper))]


def behind(arguments: Sequence[Field], wrapper: Wrapper) -> tuple[Field, ...]:
    """What is left behind flags, assignments and the wrapper's own operands."""
    at, operands = 0, wrapper.operands
    while at < len(arguments):
        text = arguments[at].text
        if text.startswith(("-", "+")) and len(text) > 1:
            at += 1 + takes_next(text, wrapper.valued)
        elif wrapper.assigns and _ASSIGNED.fullmatch(text):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return tuple(arguments[at:])
