"""What stands at the top of a conversation: where it takes place, and how it went so far."""

from __future__ import annotations

from penguin_harness import __version__
from penguin_harness.cli.render import Renderer
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.omnimessage import ModelMessage, OmniMessage, SessionMetaMessage, Text, content_of
from penguin_harness.session import Session
from penguin_harness.trace import read_messages

_SHOWN_TASKS = 3


def greet(renderer: Renderer, session: Session, words: str = "", *, resumed: bool = False) -> None:
    """Say where we are; of a resumed session, show the last tasks as they looked."""
    meta = session.meta
    renderer.screen.gap()
    renderer.notice(
        [
            [Span("penguin ", "bold cyan"), Span(f"{__version__} · {model_name(session)}", "dim")],
            [Span(one_line(meta.workspace), "dim")],
            *([[Span(words, "dim")]] if words else []),
            [Span("Enter sends, also while it works · Ctrl-C interrupts · /help", "dim")],
        ]
    )
    renderer.screen.gap()
    if resumed:
        _show_past(renderer, session)
    renderer.screen.flush()


def model_name(session: Session) -> str:
    """The session's model for people."""
    return f"{one_line(session.meta.provider)} / {one_line(session.meta.model_id)}"


def owes_answer(session: Session) -> bool:
    """Whether the history ends with something that wants an answer; the summary that opens a context does not."""
    if not session.history:
        return False
    last = session.history[-1]
    opens = isinstance(last, Text) and content_of("context_summary", last.text) is not None
    return last.role == "user" and not opens


def _show_past(renderer: Renderer, session: Session) -> None:
    if not session.trace_path.exists():
        return
    messages = [m for m in read_messages(session.trace_path) if not isinstance(m, SessionMetaMessage)]
    asked = [number for number, message in enumerate(messages) if _is_asked(message)]
    begin = asked[-_SHOWN_TASKS] if len(asked) > _SHOWN_TASKS else 0
    if begin:
        renderer.notice([_faint(f"… {begin} earlier messages: penguin trace show {session.session_id[-8:]}")])
    for message in messages[begin:]:
        renderer.show(message)
    renderer.pause()
    for problem in session.skipped:
        renderer.notice([[Span(f"! skipped {one_line(str(problem))}", "yellow")]])
    if owes_answer(session):
        renderer.notice([_faint("ℹ the model has not answered all of it; Enter on an empty line goes on")])
    renderer.screen.gap()


def _is_asked(message: OmniMessage) -> bool:
    """Whether a task begins here."""
    payload = message.payload if isinstance(message, ModelMessage) else None
    if not isinstance(payload, Text) or payload.role != "user" or payload.sender not in {None, "user"}:
        return False
    return content_of("user_steering", payload.text) is None


def _faint(text: str) -> Line:
    return [Span(text, "dim")]
