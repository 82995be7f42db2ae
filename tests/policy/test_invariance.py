"""However a command is spelled or wrapped, the rules say the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from penguin_harness.policy.shell.command import Field
from penguin_harness.policy.shell.walk import find_commands
from tests.policy.test_lines import ENVIRONMENT, FORBIDDEN, HARMLESS, WORKSPACE, Row, judge, rule_of

WORDS = [
    ["rm", "-rf", "/"],
    ["rm", "-r", "-f", "/etc"],
    ["mkfs.ext4", "/dev/sda1"],
    ["dd", "if=x", "of=/dev/sda"],
    ["chmod", "-R", "777", "/"],
    ["shutdown", "-h", "now"],
    ["kill", "-9", "-1"],
    ["crontab", "-r"],
    ["git", "push", "--force", "origin", "main"],
    ["docker", "system", "prune", "-af"],
    ["psql", "-c", "DROP DATABASE shop"],
    ["cat", "/home/me/.ssh/id_rsa"],
    ["tee", "/etc/passwd"],
]
"""Forbidden commands as the program gets them."""

QUOTES: list[Callable[[str], str]] = [
    lambda text: text if text.isalnum() else shlex.quote(text),
    lambda text: f"'{text}'",
    lambda text: f'"{text}"',
    lambda text: "".join(f"\\{character}" for character in text),
    lambda text: "$'" + "".join(f"\\x{ord(character):02x}" for character in text) + "'",
    lambda text: "$'" + "".join(f"\\{ord(character):03o}" for character in text) + "'",
    lambda text: f"''{shlex.quote(text)}\"\"",
    lambda text: f"$(echo {shlex.quote(text)})" if " " not in text else shlex.quote(text),
    lambda text: f"{shlex.quote(text)}$nothing",
    lambda text: f'"${{nothing:-{text}}}"',
    lambda text: f"{{{shlex.quote(text)},}}" if text == "/" else shlex.quote(text),
    lambda text: f"{shlex.quote(text[:1])}\\\n{shlex.quote(text[1:])}",
]

WRAPS: list[Callable[[str], str]] = [
    lambda line: f"sudo {line}",
    lambda line: f"env A=1 nice -n 5 {line}",
    lambda line: f"timeout -s KILL 5 nohup {line}",
    lambda line: f"X=1 command {line}",
    lambda line: f"time {line}",
    lambda line: f"sh -c {shlex.quote(line)}",
    lambda line: f"bash -euo pipefail -c {shlex.quote(line)} name",
    lambda line: f"eval {shlex.quote(line)}",
    lambda line: f"ssh -p 22 host {shlex.quote(line)}",
    lambda line: f"su - -c {shlex.quote(line)}",
    lambda line: f"echo {shlex.quote(line)} | sh",
    lambda line: f"sh <<'E_N_D'\n{line}\nE_N_D\n",
    lambda line: f'x={shlex.quote(line)}; eval "$x"',
    lambda line: f"find . -exec sh -c {shlex.quote(line)} \\;" if "{}" not in line else line,
    lambda line: f"xargs -n 1 sh -c {shlex.quote(line)}",
    lambda line: f"trap {shlex.quote(line)} EXIT",
    lambda line: f"ls && ({line})",
    lambda line: f"if true; then\n{line}\nfi",
    lambda line: f"while read -r l; do {line}\ndone < list",
    lambda line: f"f() {{ {line}\n}}; f",
    lambda line: f'echo "$({line}\n)"',
    lambda line: f"cat <({line}\n)",
    lambda line: f"{{ true; {line}\n}} > log 2>&1 &",
    lambda line: f"case x in x) {line}\n;; esac",
]

IN_FRONT = ("sudo", "env", "timeout", "X=1", "time")

spelled = st.sampled_from(WORDS).flatmap(
    lambda words: st.lists(st.sampled_from(QUOTES), min_size=len(words), max_size=len(words)).map(
        lambda quotes: " ".join(quote(word) for quote, word in zip(quotes, words, strict=True))
    )
)
wraps = st.lists(st.sampled_from(WRAPS), max_size=4)


def wrapped(line: str, wrappers: list[Callable[[str], str]]) -> str:
    for wrap in wrappers:
        inner = line if not wrap("").startswith(IN_FRONT) else f"sh -c {shlex.quote(line)}"
        line = wrap(inner)
    return line


@settings(max_examples=300, deadline=None)
@given(spelled)
def test_no_quoting_makes_a_forbidden_command_pass(line: str) -> None:
    assert judge(line).decision == "forbid", line


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FORBIDDEN), wraps)
def test_no_wrapping_makes_a_forbidden_line_pass(row: Row, wrappers: list[Callable[[str], str]]) -> None:
    line = wrapped(row.line, wrappers)
    assert judge(line).decision == "forbid", line


@settings(max_examples=300, deadline=None)
@given(spelled, wraps)
def test_neither_do_both_together(line: str, wrappers: list[Callable[[str], str]]) -> None:
    assert judge(wrapped(line, wrappers)).decision == "forbid"


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(HARMLESS), st.lists(st.sampled_from(WRAPS[:11]), max_size=3))
def test_wrapping_makes_nothing_forbidden(row: Row, wrappers: list[Callable[[str], str]]) -> None:
    line = wrapped(row.line, wrappers)
    assert rule_of(judge(line)) == "", line


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXT | st.sampled_from([" ".join(words) for words in WORDS]), max_size=5))
def test_what_is_only_said_is_never_forbidden(said: list[str]) -> None:
    for program in ("echo", "printf '%s\\n'", "grep -rn", "git commit -m", "logger --"):
        line = f"{program} {' '.join(map(shlex.quote, said))}"
        assert judge(line).decision is None, line


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=5))
def test_quoted_words_come_out_as_they_went_in(words: list[str]) -> None:
    [command] = find_commands(f"run {shlex.join(words)}", environment=ENVIRONMENT, workspace=WORKSPACE)
    assert command.arguments == tuple(map(Field, words))


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from(" \n\t'\"\\$`(){}[]<>|&;#!~*?=+-/:@,%^0aifdo"), max_size=40) | st.text(max_size=40))
def test_any_text_gets_an_answer(line: str) -> None:
    judgement = judge(line)
    assert (judgement.reason is None) == (judgement.decision != "forbid")
