"""The reader of shell lines, held against bash itself."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness.policy.shell.command import Command
from penguin_harness.policy.shell.syntax import Unreadable
from penguin_harness.policy.shell.walk import find_commands
from tests.policy.test_lines import ENVIRONMENT

SHOW = "printf '<%s>'"
PATIENCE = 20


def found(line: str) -> list[Command]:
    return find_commands(line, environment=ENVIRONMENT, workspace="/")


def texts(command: Command) -> list[str]:
    return [field.text for field in command.fields]


def bash(line: str) -> subprocess.CompletedProcess[str]:
    """What bash makes of a line, with the variables that the reader is told."""
    return subprocess.run(
        ["bash", "-c", line], env=ENVIRONMENT, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def printed(line: str) -> str | None:
    """What the reader thinks that the shown words are, if it can say."""
    command = next(command for command in reversed(found(line)) if texts(command)[:2] == ["printf", "<%s>"])
    if not all(field.known for field in command.fields):
        return None
    return "".join(f"<{field.text}>" for field in command.fields[2:])


@pytest.mark.parametrize(
    "words",
    [
        "a 'b c' \"d e\" f\\ g h'i'\"j\"k",
        "'' \"\" ''a\"\"",
        "'$HOME' \"$HOME\" $HOME ${HOME} \\$HOME ~ ~/x '~' a~ \"~\"",
        r"""$'a\tb\x41\101\u0042\'' "a\$b\"c\\d\e" 'a\b'""",
        "{a,b}c x{1..3}y {a..c} {3..1} {01,2} {a} {a,} {,b} a{b,c{d,e}}f '{a,b}' {a,'b c'} {a b} {1..x}",
        '${x:-d} ${x-d} ${HOME:-d} ${HOME:+set} ${x:+set} ${HOME:0:5} ${HOME:6} ${HOME: -2} ${HOME:1:-1} "${x:-a b}"',
        "${HOME#/} ${HOME#*/} ${HOME##*/} ${HOME%/*} ${HOME%%/*}",
        "${HOME/home/x} ${HOME//e/_} ${HOME^^} ${HOME^} ${TMPDIR,,}",
        "$(echo a b) \"$(echo a  b)\" `echo c` $(echo 'd\ne')",
        "\"$(printf '%s-' x y)\" $(echo -n) \"$(echo -e 'a\\tb')\"",
        "a#b 'c'#d \"#\" \\# x=y --z=$HOME",
        '$nothing a"$nothing"b "$nothing" $nothing$HOME',
        "a\\\nb \"c\\\nd\" 'e\\\nf'",
    ],
)
def test_words_become_what_bash_makes_of_them(words: str) -> None:
    assert printed(f"{SHOW} {words}") == bash(f"{SHOW} {words}").stdout


@pytest.mark.parametrize(
    "before",
    [
        "x='a b'; set -- $x \"$x\" ${x}c",
        "x=a; x+=b; set -- $x",
        'x=(a \'b c\' d); set -- "${x[@]}" ${x[1]} "${x[2]}" "${x[*]}" $x',
        'set -- 1 \'2 3\' 4; shift; set -- "$@" $1 "$*"',
        'IFS=:; x=a:b:c; set -- $x "$x"',
        'f() { set -- "$2" "$1"; x=$1-$2; }; f a b; set -- "$x"',
        "export x=1 y='2 3'; declare z=$x; set -- $y \"$z\"",
        'unset x; x=; set -- "${x:-e}" "${x-e}"; : ${y:=z}; set -- "$@" $y',
        "y=x; x=v; set -- ${!y}",
        "printf -v x '%s|' a b; set -- \"$x\"",
        'x=$(cd /usr; pwd); cd /tmp; set -- $x "$PWD"',
        "x=$(cat <<'E'\na $b\nE\n); set -- \"$x\"",
        'x=$(cat <<E\na $HOME \\$b\nE\n); set -- "$x"',
        'x=$(cat <<-E\n\t\ta\n\tE\n); set -- "$x"',
        "x=$(cat <<< 'a b'); set -- \"$x\"",
        'x=$(echo YSBi | base64 -d); y=$(echo ab | rev); set -- "$x" $y',
    ],
)
def test_variables_hold_what_bash_holds(before: str) -> None:
    line = f'{before}; {SHOW} "$@"'
    assert printed(line) == bash(line).stdout


PIECES = [
    "a",
    "b c",
    "'",
    '"',
    "\\",
    "$HOME",
    "${nothing}",
    "$(echo x)",
    "{p,q}",
    " ",
    "~/",
    "=",
    "#",
    "\\\n",
    "$",
    "`",
    "/",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
def test_whatever_bash_reads_is_read_in_the_same_way(words: str) -> None:
    line = f"{SHOW} {words}"
    is_read = bash(f"set -n; {line}").returncode == 0
    try:
        mine = printed(line)
    except Unreadable:
        assert not is_read or words.endswith("\\") or "\\\n" in words or bash(line).stderr, "bash reads it"
        return
    assert is_read, "bash does not read it"
    theirs = bash(f"set -f; {line}").stdout
    assert mine in {None, theirs} or (mine == "" and theirs == "<>")


@pytest.mark.parametrize(
    "line",
    [
        "echo $(( (1 + 2) * $(echo 3) )); (( x++ )); ((a); b)",
        "[[ $a == (x|y) && ! -f $b || $c =~ ^[a-z]+$ ]] && echo yes",
        "for ((i=0;i<3;i++)); do echo $i; done; for x; do echo; done; for x in a b\ndo echo; done",
        "case $x in (a|b) echo 1;; c) ;; *) echo 2;& d) echo 3;;& e) esac",
        "while read -r l; do echo; done < <(ls) 2>&1 | cat",
        "until false; do break; done & wait",
        "function f { echo; }; function g() ( echo ); h () { echo; } > x",
        "if a; then b; elif c; then d; else e; fi",
        "cat <<A <<'B' | tr x y\n$(ls)\nA\n$(no\nB\necho",
        "{ echo a; echo b; } > x 2>> y <z 3<&0 {fd}>w >&2 &> v",
        "a=1 b=$(ls) c[2]=x d=(1 2\n3) cmd",
        "time ls | wc; time -p ls; ! ls; time; ! true",
        'echo ${#x} ${x@Q} ${x[0]:1} ${!x@} ${x/a\\/b/c} "${x:-"a b"}" ${x:-\'}\'}',
        "select x in a b; do break; done",
        "echo \"$(case x in x) echo ')';; esac)\"",
        "coproc ls; echo a |& cat",
        "echo a; # b ' c\necho d",
        "\n\n  ls  \n\n",
        "",
    ],
)
def test_what_bash_takes_is_read(line: str) -> None:
    assert bash(f"set -n\n{line}").returncode == 0, "the example is no bash"
    found(line)


@pytest.mark.parametrize(
    "line",
    [
        "if",
        "for x in a; done",
        "{ ls",
        "ls |",
        "| ls",
        "ls &&",
        "a ;; b",
        "f() ls",
        "case x in",
        "[[ a",
        "x=(a",
        "ls )",
        "> ",
    ],
)
def test_what_bash_refuses_is_unreadable(line: str) -> None:
    assert bash(f"set -n\n{line}").returncode != 0, "the example is bash"
    with pytest.raises(Unreadable):
        found(line)


@pytest.mark.parametrize(
    "line",
    [
        "$(" * 5_000,
        "((" * 5_000,
        "$((" * 2_000,
        "( " * 5_000,
        "{a,b}" * 60,
        "{1..99999999}",
        "{" * 50_000,
        "f() { g; g; }; " + "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }}; " for n in range(30)) + "f0",
        "eval " * 60 + "ls",
        "sudo " * 200 + "ls",
        "`" * 9_999,
        "x" * 300_000,
        "cat <<E\n" + "$(ls)\n" * 4_000 + "E",
        "${x:-" * 3_000,
        "if a; then " * 500,
    ],
    ids=lambda line: line[:12],
)
def test_a_monstrous_line_is_unreadable_and_soon(line: str) -> None:
    started = time.monotonic()
    with pytest.raises(Unreadable):
        found(line)
    assert time.monotonic() - started < 5


def test_a_long_honest_line_is_read_soon(tmp_path: Path) -> None:
    body = "".join(f"line {n} with 'quotes' and $(no substitution)\n" for n in range(3_000))
    line = f"cat > {tmp_path}/file <<'END'\n{body}END\n" + "echo a && " * 500 + "true"
    started = time.monotonic()
    assert len(found(line)) == 502
    assert time.monotonic() - started < 5


def test_each_command_is_found_with_what_leads_to_it() -> None:
    commands = found("cd /srv && curl -s u | sudo -u me sh -c 'cat > x; rm y'")
    assert [(texts(command), command.via, command.folder) for command in commands] == [
        (["cd", "/srv"], (), "/"),
        (["curl", "-s", "u"], (), "/srv"),
        (["sudo", "-u", "me", "sh", "-c", "cat > x; rm y"], (), "/srv"),
        (["sh", "-c", "cat > x; rm y"], ("sudo",), "/srv"),
        (["cat"], ("sudo", "sh -c"), "/srv"),
        (["rm", "y"], ("sudo", "sh -c"), "/srv"),
    ]
    curl, cat = commands[1], commands[4]
    assert cat.feeders == (curl,)
    assert [(target.operator, target.field.text, target.writes) for target in cat.targets] == [(">", "x", True)]
