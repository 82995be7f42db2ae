"""What the shell's own commands change in it."""

from __future__ import annotations

import re
from collections.abc import Callable

from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import options
from penguin_harness.policy.shell.scope import EMPTY, Scope
from penguin_harness.policy.shell.shells import reads_script

_NAME = re.compile(r"[A-Za-z_]\w*")
_PRINTF_VALUES = frozenset({"-v"})
_READ_VALUES = frozenset({"-a", "-d", "-i", "-n", "-N", "-p", "-t", "-u"})


def change_scope(command: Command, scope: Scope, printed: str | None) -> None:
    """Do to the scope what the command does, whose output is known or not."""
    if command.runs("printf"):
        _print(command, scope, printed)
    elif command.runs("read"):
        _read(command, scope)
    elif command.runs("source", "."):
        scope.is_closed = scope.is_closed and reads_script(command) and command.given is not None
    elif change := _CHANGES.get(command.fields[0].name):
        change(command.arguments, scope)


def _print(command: Command, scope: Scope, printed: str | None) -> None:
    target = options(command.arguments[:2], _PRINTF_VALUES).values.get("-v")
    if target is not None:
        scope.set(target.text, [Field(f"${target.text}", known=False) if printed is None else Field(printed)])


def _enter(arguments: tuple[Field, ...], scope: Scope) -> None:
    operands = options(arguments).operands
    if not operands:
        scope.enter(Field(scope.value("HOME")))
    elif operands[0].text == "-":
        scope.folder = None
    else:
        scope.enter(operands[0])


def _go_back(_: tuple[Field, ...], scope: Scope) -> None:
    scope.folder = None


def _set(arguments: tuple[Field, ...], scope: Scope) -> None:
    texts = [field.text for field in arguments]
    if "--" in texts:
        scope.set_arguments(arguments[texts.index("--") + 1 :])
    elif arguments and not texts[0].startswith(("-", "+")):
        scope.set_arguments(arguments)


def _shift(arguments: tuple[Field, ...], scope: Scope) -> None:
    if arguments:
        scope.arguments = None
    else:
        scope.shift()


def _unset(arguments: tuple[Field, ...], scope: Scope) -> None:
    for field in options(arguments).operands:
        scope.unset(field.text)


def _evaluate(arguments: tuple[Field, ...], scope: Scope) -> None:
    scope.is_closed = scope.is_closed and all(field.known for field in arguments)


def _read(command: Command, scope: Scope) -> None:
    """Of known lines any may be the one that is read; the last variable gets the rest of its words."""
    parsed = options(command.arguments, _READ_VALUES)
    names = [field.text for field in parsed.operands if _NAME.fullmatch(field.text)]
    if command.given is None or "-a" in parsed.values:
        scope.forget(*names, *(field.text for field in parsed.values.values() if _NAME.fullmatch(field.text)))
        return
    lines = [line.split(None, len(names) - 1) for line in command.given.splitlines()]
    for at, name in enumerate(names):
        scope.set(name, [Field(words[at].strip()) if at < len(words) else EMPTY for words in lines] or [EMPTY])


def _read_lines(arguments: tuple[Field, ...], scope: Scope) -> None:
    scope.forget(*(field.text for field in options(arguments).operands if _NAME.fullmatch(field.text)))


def _calculate(arguments: tuple[Field, ...], scope: Scope) -> None:
    scope.calculate(" ".join(field.text for field in arguments))


def _export(arguments: tuple[Field, ...], scope: Scope) -> None:
    _declare(arguments, scope)
    scope.export(*(field.text.partition("=")[0] for field in arguments))


def _declare(arguments: tuple[Field, ...], scope: Scope) -> None:
    if "-x" in options(arguments).flags:
        scope.export(*(field.text.partition("=")[0] for field in arguments))
    for field in arguments:
        variable, equals, value = field.text.partition("=")
        if equals and _NAME.fullmatch(variable):
            scope.set(variable, [Field(value, field.known, None, field.made_by)])


_CHANGES: dict[str, Callable[[tuple[Field, ...], Scope], None]] = {
    **dict.fromkeys(("cd", "pushd"), _enter),
    **dict.fromkeys(("declare", "typeset", "local", "readonly"), _declare),
    **dict.fromkeys(("mapfile", "readarray", "getopts"), _read_lines),
    "export": _export,
    "popd": _go_back,
    "set": _set,
    "shift": _shift,
    "unset": _unset,
    "eval": _evaluate,
    "let": _calculate,
}
