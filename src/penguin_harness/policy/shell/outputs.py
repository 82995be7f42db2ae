"""What a command prints, where that can be said without running it."""

from __future__ import annotations

import base64
import binascii
import re

from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.escapes import unescape
from penguin_harness.policy.shell.options import options

LONGEST = 100_000
_SILENT = (
    "cd",
    "pushd",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "set",
    "unset",
    "true",
    "false",
    ":",
    "shopt",
)
_ECHO_OPTION = re.compile(r"-[neE]+")
_FORMAT = re.compile(r"%(?:%|-?\d*(?:\.\d+)?([a-zA-Z]))")


def output_of(command: Command, given: str | None) -> str | None:
    """What it prints when it reads `given`; None when nobody can say."""
    if not command.fields or not all(field.is_plain for field in command.fields):
        return None if command.fields else ""
    if any(target.diverts for target in command.targets):
        return None
    words = [field.text for field in command.arguments]
    match command.fields[0].name:
        case "echo":
            return _echo(words)
        case "printf":
            return _print(words[{"-v": 2, "--": 1}.get("".join(words[:1]), 0) :])
        case "pwd" if not words and command.folder is not None:
            return f"{command.folder}\n"
        case name if name in _SILENT:
            return ""
        case _:
            return None if given is None else _passed_on(command, words, given)


def _passed_on(command: Command, words: list[str], given: str) -> str | None:
    match command.fields[0].name:
        case "cat" if not words or words == ["-"]:
            return given
        case "tee":
            return given
        case "rev" if not words:
            return "".join(f"{line[::-1]}\n" for line in given.splitlines())
        case "base64" | "base32" as coding:
            return _decoded(coding, command.arguments, given)
        case _:
            return None


def _echo(words: list[str]) -> str:
    flags = ""
    while words and _ECHO_OPTION.fullmatch(words[0]):
        flags += words.pop(0)[1:]
    text = " ".join(words)
    if "e" in flags:
        text = unescape(text).partition("\0")[0]
    return text if "n" in flags else f"{text}\n"


def _print(words: list[str]) -> str | None:
    """As printf does: the format, the first word, again and again while there are others."""
    form = "".join(words[:1])
    wanted = [found[1] for found in _FORMAT.finditer(form) if found[1]]
    if set(wanted) - set("sbqcdi"):
        return None
    printed = ""
    rest = words[:0:-1]
    while True:
        printed += _FORMAT.sub(lambda found: _filled(found[1], rest), unescape(form))
        if not rest or not wanted or len(printed) > LONGEST:
            return printed if len(printed) <= LONGEST else None


def _filled(kind: str | None, rest: list[str]) -> str:
    if kind is None:
        return "%"
    word = rest.pop() if rest else ""
    return unescape(word) if kind == "b" else word[:1] if kind == "c" else word


def _decoded(coding: str, arguments: tuple[Field, ...], given: str) -> str | None:
    parsed = options(arguments)
    if parsed.operands or not parsed.has("-d", "-D", "--decode"):
        return None
    decode = base64.b64decode if coding == "base64" else base64.b32decode
    try:
        return decode("".join(given.split())).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
