"""Programs that hand a text to a shell, and which text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import options
from penguin_harness.policy.shell.wrappers import WRAPPERS, Wrapper, behind, flags_of, short_and_long

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash")
_SHELL = Wrapper(frozenset({"-o", "-O", "+O", "+o", "--rcfile", "--init-file"}))
_SSH = Wrapper(short_and_long("BbcDEeFIiJLlmOopQRSWw"), operands=1)
_ENV = Wrapper(short_and_long("uCS", "unset", "chdir", "split-string"), assigns=True)
_WATCH = Wrapper(short_and_long("nqs", "interval"))
_USER_VALUES = short_and_long("csgGwET", "command", "shell", "group", "wait", "timeout")
_COMMAND_FLAG = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_STDIN_FLAG = re.compile(r"-[A-Za-z]*s[A-Za-z]*")
_STDIN = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
_SPLITS = ("-S", "--split-string")


class ShellText(Struct, frozen=True):
    """A text that a shell runs."""

    text: Field
    via: str
    name: Field = Field("bash")
    """`$0`."""
    positional: tuple[Field, ...] = ()


def shell_texts(command: Command) -> Iterator[ShellText]:
    """The texts among the arguments that a shell runs."""
    for names, texts in _TEXTS:
        if command.runs(*names):
            yield from texts(command)
            return


def _of_a_shell(command: Command) -> Iterator[ShellText]:
    if any(_COMMAND_FLAG.fullmatch(flag.text) for flag in flags_of(command, _SHELL)):
        rest = behind(command.arguments, _SHELL)
        name = rest[1] if len(rest) > 1 else command.fields[0]
        yield from (ShellText(text, f"{command.fields[0].name} -c", name, rest[2:]) for text in rest[:1])


def _of_eval(command: Command) -> Iterator[ShellText]:
    yield ShellText(_sentence(command.arguments), "eval")


def _of_trap(command: Command) -> Iterator[ShellText]:
    parsed = options(command.arguments)
    yield from (ShellText(field, "trap") for field in parsed.operands[:1] if field.text not in {"", "-"})


def _of_alias(command: Command) -> Iterator[ShellText]:
    for field in command.arguments:
        _, equals, value = field.text.partition("=")
        if equals:
            yield ShellText(Field(value, field.known, None, field.made_by), "alias")


def _of_a_flag(command: Command) -> Iterator[ShellText]:
    values = options(command.arguments, _USER_VALUES).values
    name = command.fields[0].name
    yield from (ShellText(values[flag], f"{name} -c") for flag in ("-c", "--command") if flag in values)


def _of_watch(command: Command) -> Iterator[ShellText]:
    yield ShellText(_sentence(behind(command.arguments, _WATCH)), "watch")


def _of_ssh(command: Command) -> Iterator[ShellText]:
    yield ShellText(_sentence(behind(command.arguments, _SSH)), "ssh")


def _of_env(command: Command) -> Iterator[ShellText]:
    values = options(flags_of(command, _ENV), _ENV.valued).values
    rest = behind(command.arguments, _ENV)
    yield from (ShellText(_sentence([values[flag], *rest]), "env -S") for flag in _SPLITS if flag in values)


def _of_sudo(command: Command) -> Iterator[ShellText]:
    sudo = WRAPPERS["sudo"]
    if options(flags_of(command, sudo), sudo.valued).has("-s", "-i", "--shell", "--login"):
        yield ShellText(_sentence(behind(command.arguments, sudo)), "sudo -s")


_TEXTS: tuple[tuple[tuple[str, ...], Callable[[Command], Iterator[ShellText]]], ...] = (
    (SHELLS, _of_a_shell),
    (("eval",), _of_eval),
    (("trap",), _of_trap),
    (("alias",), _of_alias),
    (("su", "runuser", "sg", "script", "flock"), _of_a_flag),
    (("watch",), _of_watch),
    (("ssh",), _of_ssh),
    (("env",), _of_env),
    (("sudo",), _of_sudo),
)


def reads_script(command: Command) -> bool:
    """Whether it is a shell, or a program that hands on to one, which takes its script from standard input."""
    if command.runs("at", "batch"):
        return not options(command.arguments).has("-f", "-l", "-r", "-d", "-c")
    if command.runs("source", "."):
        return any(field.text in _STDIN for field in command.arguments[:1])
    if not command.runs(*SHELLS) or any(True for _ in shell_texts(command)):
        return False
    rest = behind(command.arguments, _SHELL)
    is_told = any(_STDIN_FLAG.fullmatch(flag.text) for flag in flags_of(command, _SHELL))
    return is_told or not rest or rest[0].text in _STDIN


def script_arguments(command: Command) -> tuple[Field, ...]:
    """What a shell that reads its script from standard input has as `$1` and so on."""
    rest = behind(command.arguments, _SHELL)
    return rest[1:] if rest and rest[0].text in _STDIN else rest


def _sentence(fields: Sequence[Field]) -> Field:
    made_by = tuple(dict.fromkeys(command for field in fields for command in field.made_by))
    return Field(" ".join(field.text for field in fields), all(field.known for field in fields), None, made_by)
