"""What bash really runs, the rules have seen."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness.policy.shell.syntax import Unreadable
from penguin_harness.policy.shell.walk import find_commands

PATIENCE = 2.0
SET_UP = [
    "x=danger",
    "x=dan y=ger",
    "export x=danger",
    "x=(a danger b)",
    "set -- danger b",
    "set -- a danger; shift",
    "read x <<< danger",
    "printf -v x %s danger",
    "x=safe; true && x=danger",
    "if false; then x=danger; else x=safe; fi",
    "for x in safe danger; do :; done",
    "x=$(cat <<< danger)",
    "f() { danger; }",
    'f() { "$1"; }',
    "cd /",
    "unset x",
    "IFS=n",
    ": ${x:=danger}",
    "declare x=DANGER",
    "y=x",
    "",
]
PROGRAMS = [
    *(
        "danger",
        "'danger'",
        'd"ang"er',
        "d\\anger",
        "$'d\\x61nger'",
        "$x",
        '"$x"',
        "${x}",
        "$x$y",
        '"${x[1]}"',
        "${x[@]}",
    ),
    *(
        '"$@"',
        "$*",
        "$1",
        "${z:-danger}",
        '"${x:-danger}"',
        "{danger,b}",
        "dan{ger,}",
        "$(echo danger)",
        "`echo danger`",
    ),
    *("$(echo dan)ger", "f", "f danger", "$z danger", "${!y}", "${x,,}", "${x#a}", "dan\\\nger", "safe"),
]
"""With a set-up before it, each of them may name the program."""
IN_FRONT = [
    *(
        "",
        "",
        "",
        "env ",
        "env -u A B=1 ",
        "command ",
        "nohup ",
        "nice -n 3 ",
        "timeout 1 ",
        "exec ",
        "! ",
        "time ",
        "A=1 ",
    ),
    *(
        "builtin command ",
        "setsid ",
        "xargs ",
        "stdbuf -oL ",
        "2> log ",
        "< /dev/null ",
        "eval ",
        "exec -a b ",
        "command -p ",
    ),
]
TEMPLATES = [
    "%s",
    "true; %s",
    "false || %s",
    "true && %s & wait",
    "true | %s",
    "%s | cat > /dev/null",
    "x=$(%s\n)",
    'echo "`%s`"',
    'echo "${z:-$(%s\n)}"',
    "cat <(%s\n)",
    "echo a > >(%s\n); wait $!",
    "[[ -n $(%s\n) ]]",
    "echo $((1 + $(%s\n)))",
    "if %s\nthen :; fi",
    "if false; then :; elif true; then %s\nfi",
    "for i in 1 2; do %s\ndone",
    "for ((i = 0; i < 2; i++)); do %s\ndone",
    "until %s\ndo break; done",
    "while read -r l; do %s\ndone <<< a",
    "case a in b) ;; [a-c]) %s\n;; esac",
    "{ %s\n} 2> log",
    "(%s\n)",
    "g() { %s\n}; g a",
    "function g { %s\n}\ng",
    "g() (%s\n); x=1 g",
    "cat <<E\n$(%s\n)\nE\n",
    "cat <<'E' > log\na\nE\n%s",
    "# a ' comment\n%s",
    "echo 'a; b' \"c && d\" \\; e; %s",
    "true \\\n && %s",
    "coproc %s\nwait",
]
"""Around a line."""
SHELLS = [
    "bash -c %s",
    "bash -euc %s a b",
    "eval %s",
    "echo %s | bash",
    "bash <<< %s",
    "bash -s a <<< %s",
    "trap %s EXIT",
    "env bash -c %s",
    "find . -maxdepth 0 -exec bash -c %s ';'",
    "echo a | xargs bash -c %s",
    "source /dev/stdin <<< %s",
    "export x=danger; bash -c %s",
]
"""Around a line as one quoted word."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one program in it, which leaves a mark. It is no shell script: `sh danger` does not run it."""
    folder = tmp_path_factory.mktemp("arena")
    danger = folder / "danger"
    danger.write_text('#!/usr/bin/awk -f\nBEGIN { print "ran" > ENVIRON["MARK"] }\n', encoding="utf-8")
    danger.chmod(0o755)
    return folder


def environment(arena: Path) -> dict[str, str]:
    return {"HOME": str(arena), "PATH": f"{arena}:/usr/bin:/bin", "MARK": str(arena / "mark")}


def runs_danger(line: str, arena: Path) -> bool:
    """Whether bash runs the program; nothing of the line outlives this."""
    mark = arena / "mark"
    with tempfile.TemporaryDirectory(dir=arena) as folder:
        process = subprocess.Popen(
            ["bash", "-c", line],
            env=environment(arena),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    ran = mark.exists()
    mark.unlink(missing_ok=True)
    return ran


def finds_danger(line: str, arena: Path) -> bool:
    """Whether the reader finds the program, or does not trust the line."""
    try:
        commands = find_commands(line, environment=environment(arena), workspace=str(arena))
    except Unreadable:
        return True
    return any(command.runs("danger") for command in commands)


def placed(template: str, line: str) -> str:
    return template.replace("%s", line)


def quoted(template: str, line: str) -> str:
    return template.replace("%s", shlex.quote(line))


def joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def put_in_front(front: str, program: str) -> str:
    return f"{front}{program}"


programs = st.builds(put_in_front, st.sampled_from(IN_FRONT), st.sampled_from(PROGRAMS))
simple = st.builds(joined, st.sampled_from(SET_UP), programs)

lines = st.recursive(
    simple,
    lambda inner: (
        st.builds(placed, st.sampled_from(TEMPLATES), inner)
        | st.builds(quoted, st.sampled_from(SHELLS), inner)
        | st.builds(joined, inner, inner)
    ),
    max_leaves=3,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(line=lines)
def test_a_program_that_bash_runs_is_found(arena: Path, line: str) -> None:
    assert finds_danger(line, arena) or not runs_danger(line, arena), line


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_template_runs_what_is_put_into_it(arena: Path, template: str) -> None:
    """So the test above can fail."""
    assert runs_danger(placed(template, "danger"), arena)
    assert finds_danger(placed(template, "danger"), arena)
    assert not finds_danger(placed(template, "safe"), arena)


@pytest.mark.parametrize("template", SHELLS)
def test_each_shell_runs_its_text(arena: Path, template: str) -> None:
    assert runs_danger(template.replace("%s", "'true; danger'"), arena)
    assert finds_danger(template.replace("%s", "'true; danger'"), arena)
    assert not finds_danger(template.replace("%s", "'true; safe'").replace("x=danger", "x=safe"), arena)
