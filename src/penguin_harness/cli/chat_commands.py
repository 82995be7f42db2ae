"""What a person tells the chat itself: lines that begin with a slash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast, get_args

from penguin_harness.cli.approval import ApprovalMode, Approver
from penguin_harness.cli.status import tokens
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.session import Session

COMMANDS = {
    "/help": "this list",
    "/new": "begin a new session in the same folder",
    "/tools": "what the model may call",
    "/usage": "tokens so far, and the size of the context",
    "/trace": "where this session is written down",
    "/approve": f"who decides about tool calls: {', '.join(get_args(ApprovalMode))}",
    "/exit": "leave",
}
_KEYS = (
    ("Enter", "sends; on an empty line it goes on with an interrupted task"),
    ("Alt-Enter", "breaks the line, as does \\ before Enter"),
    ("Ctrl-C", "interrupts a run; here it clears the line, and twice it leaves"),
    ("Ctrl-D", "leaves"),
)
_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)

After: TypeAlias = Literal["stay", "new", "exit"]


def is_command(text: str) -> bool:
    """Whether a line is for the chat; a path is not."""
    return _COMMAND.fullmatch(text.strip()) is not None


def obey(text: str, session: Session, approver: Approver) -> tuple[After, Sequence[Line]]:
    """Do what the line says: what to do next, and what to show."""
    found = _COMMAND.fullmatch(text.strip())
    command, argument = ("", "") if found is None else (found[1], (found[2] or "").strip())
    match command:
        case "exit" | "quit":
            return "exit", []
        case "new":
            return "new", []
        case "help":
            return "stay", _help()
        case "tools":
            rows = [[[Span(tool.name, "bold")], [Span(_first_sentence(tool.description))]] for tool in session.tools]
            return "stay", aligned(rows)
        case "usage":
            return "stay", _usage(session)
        case "trace":
            return "stay", [[Span(str(session.trace_path))], [Span(f"penguin trace show {session.session_id}", "dim")]]
        case "approve":
            return "stay", _approve(argument, approver)
        case _:
            return "stay", [[Span(f"there is no /{command}; see /help", "yellow")]]


def _help() -> Sequence[Line]:
    rows = [*COMMANDS.items(), *_KEYS]
    return aligned([[[Span(name, "bold")], [Span(what, "dim")]] for name, what in rows])


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
