"""Trace files: JSON Lines of OmniMessage, one file for each model context, appended to and never rewritten."""

from penguin_harness.trace.files import (
    SessionFiles,
    context_file,
    find_session,
    list_sessions,
    new_session_id,
    next_file,
    session_and_number,
)
from penguin_harness.trace.fork import fork_files
from penguin_harness.trace.journal import TailJournal
from penguin_harness.trace.lock import SessionLock
from penguin_harness.trace.reader import Skipped, read_lines, read_messages
from penguin_harness.trace.writer import Durability, TraceWriter

__all__ = [
    "Durability",
    "SessionFiles",
    "SessionLock",
    "Skipped",
    "TailJournal",
    "TraceWriter",
    "context_file",
    "find_session",
    "fork_files",
    "list_sessions",
    "new_session_id",
    "next_file",
    "read_lines",
    "read_messages",
    "session_and_number",
]
