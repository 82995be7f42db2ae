"""`penguin policy`: which commands the rules forbid, and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from msgspec import Struct

from penguin_harness.cli.console import DONE, FAILED, read_input
from penguin_harness.cli.options import Json, Workspace
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import Screen, screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.policy import UNPARSED, UNPARSED_REASON, Judgement, Part, RuleBook, shown
from penguin_harness.policy.factory import FACTORY
from penguin_harness.state.config import PolicyEntry, load_config
from penguin_harness.state.paths import agent_paths

app = App(name="policy", help="See which commands the rules forbid.")

_VERDICTS = {"forbid": ("forbidden", "red"), "allow": ("allowed", "green"), None: ("undecided", "dim")}


class Verdict(Struct, frozen=True):
    """What is said about one command of a line."""

    command: str
    inside: tuple[str, ...]
    """The programs that run it, outermost first."""
    decision: str
    rule: str | None
    reason: str


class Listed(Struct, frozen=True):
    """One rule."""

    rule: str
    source: str
    """`project` or `factory`."""
    decision: str
    reason: str
    lifted: tuple[str, ...] = ()
    """The commands for which the project has taken it out of force; `*` for all."""


@app.command(name="test")
def try_line(
    line: Annotated[str, Parameter(allow_leading_hyphen=True, help="The shell line; - reads standard input.")],
    *,
    workspace: Workspace = None,
    as_json: Json = False,
) -> int:
    """Say what the rules make of a shell line, command by command. Nothing is run.

    Ends with 1 when the line is forbidden.
    """
    text = read_input() if line == "-" else line
    folder = str((workspace or Path.cwd()).expanduser().absolute())
    judgement = RuleBook(_entries()).judge(text, environment=os.environ, workspace=folder)
    verdicts = list(dict.fromkeys(map(_verdict, judgement.parts)))
    if as_json:
        _print_json({"decision": _word(judgement.decision), "reason": judgement.reason, "commands": verdicts})
    else:
        screen = screen_for(sys.stdout)
        _show(screen, judgement, verdicts)
        screen.close()
    return FAILED if judgement.decision == "forbid" else DONE


@app.command(name="list")
def list_rules(*, as_json: Json = False) -> None:
    """List the rules: the project's own, then those that hold in every project."""
    entries = _entries()
    rules = [*_own(entries), *_factory(entries)]
    if as_json:
        _print_json(rules)
        return
    screen = screen_for(sys.stdout)
    for rule in rules:
        style = _VERDICTS["allow" if rule.lifted else "forbid" if rule.decision == "forbid" else "allow"][1]
        lifted = f" · lifted for {one_line(', '.join(rule.lifted))}" if rule.lifted else ""
        head: Line = [Span(f"{one_line(rule.rule)} ", "bold"), Span(f"({rule.source}) ", "dim")]
        put_line(screen, [*head, Span(f"{rule.decision}{lifted}", style)])
        if rule.reason:
            put_line(screen, [Span(f"  {one_line(rule.reason)}", "dim")])
    screen.close()


def _entries() -> tuple[PolicyEntry, ...]:
    return load_config(agent_paths().config).policy


def _verdict(part: Part) -> Verdict:
    rule, command = part.rule, part.command
    decision, reason = (rule.decision, rule.reason) if rule is not None else (None, "")
    return Verdict(shown(command.source), command.via, _word(decision), rule.name if rule else None, reason)


def _word(decision: str | None) -> str:
    return _VERDICTS[decision][0]


def _show(screen: Screen, judgement: Judgement, verdicts: Sequence[Verdict]) -> None:
    word, style = _VERDICTS[judgement.decision]
    why = judgement.reason or judgement.unreadable
    put_line(screen, [Span(word, f"bold {style}"), Span(f": {one_line(why)}" if why else "")])
    if verdicts:
        screen.gap()
        screen.lines(aligned([_row(verdict) for verdict in verdicts], screen.width))


def _row(verdict: Verdict) -> list[Line]:
    style = next(style for word, style in _VERDICTS.values() if word == verdict.decision)
    inside = f"in {', '.join(verdict.inside)}" if verdict.inside else ""
    return [
        [Span(verdict.decision, style)],
        [Span(one_line(verdict.rule or ""), "dim")],
        [Span(one_line(verdict.command), "bold")],
        [Span(one_line(inside), "dim")],
    ]


def _own(entries: Iterable[PolicyEntry]) -> list[Listed]:
    rules = RuleBook(entries).own
    return [Listed(rule.name, "project", rule.decision, rule.reason) for rule in rules]


def _factory(entries: Iterable[PolicyEntry]) -> list[Listed]:
    lifted = RuleBook(entries).lifted
    named = [*((rule.name, rule.reason) for rule in FACTORY), (UNPARSED, UNPARSED_REASON)]
    return [
        Listed(
            name,
            "factory",
            "forbid",
            reason,
            tuple("*" if each is None else each.text for each in lifted.get(name, ())),
        )
        for name, reason in named
    ]


def _print_json(value: object) -> None:
    sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(value)).decode()}\n")
