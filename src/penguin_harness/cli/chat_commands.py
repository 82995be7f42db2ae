"""What a person tells the chat itself: lines that begin with a slash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, cast, get_args

from penguin_harness.cli.approval import ApprovalMode, Approver
from penguin_harness.cli.status import tokens
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import Screen
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.session import Session

COMMANDS = {
    "/help": "this list",
    "/compact": "replace the context by a summary; /compact discard by nothing",
    "/model": "the models; /model PROVIDER MODEL_ID goes on with another one",
    "/fork": "go on in a copy of this session; /fork N leaves out the last N turns",
    "/clear": "begin a new session in the same folder",
    "/tools": "what the model may call",
    "/usage": "tokens so far, and the size of the context",
    "/trace": "where this session is written down",
    "/approve": f"who decides about tool calls: {', '.join(get_args(ApprovalMode))}",
    "/exit": "leave",
}
_KEYS = (
    ("Enter", "sends, while a task runs too: that steers it; on an empty line it goes on with an interrupted task"),
    ("Alt-Enter", "breaks the line, as does \\ before Enter here"),
    ("Ctrl-C", "interrupts a run; here it clears the line, and twice it leaves"),
    ("r, Esc", "before another attempt: try at once, give up"),
    ("Ctrl-D", "leaves"),
)
_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)


class Command(NamedTuple):
    """A line for the chat itself."""

    name: str
    argument: str


def command_of(text: str) -> Command | None:
    """The command that a line is; a path is none."""
    found = _COMMAND.fullmatch(text.strip())
    return None if found is None else Command(found[1], (found[2] or "").strip())


def obey(command: Command, session: Session, approver: Approver) -> Sequence[Line]:
    """Do what needs neither the model nor another session, and say what to show."""
    match command.name:
        case "tools":
            rows = [[[Span(tool.name, "bold")], [Span(_first_sentence(tool.description))]] for tool in session.tools]
            return aligned(rows)
        case "usage":
            return _usage(session)
        case "trace":
            return [[Span(str(session.trace_path))], [Span(f"penguin trace show {session.session_id}", "dim")]]
        case "approve":
            return _approve(command.argument, approver)
        case _:
            return [[Span(f"there is no /{command.name}; see /help", "yellow")]]


def put_help(screen: Screen) -> None:
    """What there is besides talking."""
    for name, what in (*COMMANDS.items(), *_KEYS):
        put_line(screen, [Span(f"{name:<11}", "bold"), Span(what, "dim")], margin=11)
    screen.gap()


def _usage(session: Session) -> Sequence[Line]:
    usage, window = session.usage, session.meta.model_context_window
    share = f" ({100 * session.context_tokens / window:.0f} %)" if window else ""
    rows = (
        ("session", f"{usage.total:,} tokens"),
        ("  from the cache", f"{usage.cache_read:,}"),
        ("  other input", f"{usage.cache_write:,}"),
        ("  output", f"{usage.output:,}"),
        ("context", f"{session.context_tokens:,} of {tokens(window)} tokens{share}"),
    )
    return aligned([[[Span(name)], [Span(value, "bold")]] for name, value in rows])


def _approve(argument: str, approver: Approver) -> Sequence[Line]:
    modes = get_args(ApprovalMode)
    if argument in modes:
        approver.mode = cast(ApprovalMode, argument)
        return [[Span(f"tool calls: {argument}", "dim")]]
    known = f"it is {approver.mode}; one of {', '.join(modes)}"
    return [[Span(f"there is no {argument!r}: {known}" if argument else known, "yellow" if argument else "dim")]]


def _first_sentence(text: str) -> str:
    return one_line(text).partition(". ")[0].rstrip(".")
