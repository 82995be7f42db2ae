"""Scripts that nobody has read before they run, and secrets that are read by everybody then."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penguin_harness.policy.factory.arguments import files
from penguin_harness.policy.paths import is_secret
from penguin_harness.policy.rules import Rule
from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.options import options
from penguin_harness.policy.shell.shells import SHELLS, reads_script, shell_texts

_DOWNLOADERS = ("curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lwp-request", "lynx")
_INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|Rscript|tclsh|pwsh|osascript)[\d.]*")
_CODE_FLAGS = frozenset({"-c", "-e", "-E", "-m", "-r", "-p", "-n", "--eval", "--print"})
_STDIN = {"-", "/dev/stdin", "/dev/fd/0"}
_COPIERS = ("cp", "install", "ln", "rsync", "scp")
"""Their last argument is written, not read."""
_DECODES = {
    "base64": ("-d", "-D", "--decode"),
    "base32": ("-d", "--decode"),
    "basenc": ("-d", "--decode"),
    "xxd": ("-r",),
}
_READERS = (
    "awk", "base32", "base64", "bat", "cat", "cp", "curl", "cut", "dd", "diff", "egrep", "fgrep", "fold", "gawk",
    "grep", "gzip", "head", "hexdump", "install", "less", "ln", "more", "nc", "ncat", "nl", "od", "openssl", "paste",
    "rev", "rg", "rsync", "scp", "sed", "sort", "strings", "tac", "tail", "tar", "uniq", "wget", "xxd", "zip",
)  # fmt: skip


def _runs_a_download(command: Command) -> bool:
    return any(maker.runs(*_DOWNLOADERS) for maker in _makers_of_scripts(command))


def _runs_encoded(command: Command) -> bool:
    return command.given is None and any(map(_decodes, _makers_of_scripts(command)))


def _decodes(command: Command) -> bool:
    if command.runs("openssl"):
        return any(field.text == "-d" for field in command.arguments)
    if command.runs("rev", "uudecode"):
        return True
    return any(command.runs(name) and options(command.arguments).has(*flags) for name, flags in _DECODES.items())


def _makers_of_scripts(command: Command) -> Iterator[Command]:
    """The commands whose output this one runs, and those behind them."""
    waiting = [*(command.feeders if _takes_a_script(command) else ())]
    waiting += [maker for field in _programs(command) for maker in field.made_by]
    seen: set[Command] = set()
    while waiting:
        maker = waiting.pop()
        if maker not in seen:
            seen.add(maker)
            yield maker
            waiting += [*maker.feeders, *(other for field in maker.fields for other in field.made_by)]


def _takes_a_script(command: Command) -> bool:
    if not _is_interpreter(command):
        return reads_script(command)
    parsed = options(command.arguments, _CODE_FLAGS)
    return not parsed.flags & _CODE_FLAGS and (not parsed.operands or parsed.operands[0].text in _STDIN)


def _programs(command: Command) -> Iterator[Field]:
    """The arguments that are run, as far as they are some command's output and nothing else."""
    found = [text.text for text in shell_texts(command)]
    if _is_interpreter(command):
        parsed = options(command.arguments, _CODE_FLAGS)
        found += [*parsed.values.values(), *parsed.operands[:1]]
    elif command.runs("source", ".", *SHELLS):
        found += options(command.arguments).operands[:1]
    yield from (field for field in found if not field.known and field.text.lstrip().startswith(("$", "`", "<(", "…")))


def _is_interpreter(command: Command) -> bool:
    return bool(command.fields) and _INTERPRETER.fullmatch(command.fields[0].name) is not None


def _reads_secrets(command: Command) -> bool:
    if not command.runs(*_READERS):
        return _is_fed_secrets(command)
    read = list(files(command))
    if command.runs(*_COPIERS) and options(command.arguments).operands:
        read.remove(options(command.arguments).operands[-1])
    if (searched := _only_searched_for(command)) is not None:
        read.remove(searched)
    return any(is_secret(field, command) for field in read)


def _only_searched_for(command: Command) -> Field | None:
    """The one operand of a grep, which is what it looks for, and no file; None when an option may say that."""
    operands = options(command.arguments).operands
    flags = [field.text for field in command.arguments if field not in operands]
    is_plain = all(re.fullmatch(r"-[A-Za-df-z]+|--", flag) and "f" not in flag for flag in flags)
    return operands[0] if command.runs("egrep", "fgrep", "grep") and is_plain and len(operands) == 1 else None


def _is_fed_secrets(command: Command) -> bool:
    return any(target.operator == "<" and is_secret(target.field, command) for target in command.targets)


RULES = (
    Rule("run-download", "forbid", "it runs what it downloads before anybody has read it", _runs_a_download),
    Rule("run-encoded", "forbid", "it runs a script that is encoded, so that nobody can read it before", _runs_encoded),
    Rule(
        "read-secrets",
        "forbid",
        "it reads keys or passwords, which then go to the model and into the Trace",
        _reads_secrets,
    ),
)
