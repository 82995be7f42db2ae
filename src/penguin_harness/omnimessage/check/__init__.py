"""Conformance: whether a stream, a Trace file or a whole session obeys the protocol, and what breaks it first.

Two dialects. `strict` is the protocol as it stands. `lenient` is for files of other and older implementations; of them
it does not ask for what `RULES` marks `strict_only`, and it lets pass:

- fragments of a call without a name after its `start`;
- a tool's message, or a new run, between `token_usage` and `request_end`;
- segments, requests and calls that a dead process left open, which are noted where the next run begins. An `abort`
  comes from a living process, so at an `abort` they are violations;
- payloads of unknown types, without a note.
"""

from penguin_harness.omnimessage.check.checker import Checker, check, check_session
from penguin_harness.omnimessage.check.report import Dialect, Note, Report, Surface, Violation
from penguin_harness.omnimessage.check.rules import RULES, Rule

__all__ = [
    "RULES",
    "Checker",
    "Dialect",
    "Note",
    "Report",
    "Rule",
    "Surface",
    "Violation",
    "check",
    "check_session",
]
