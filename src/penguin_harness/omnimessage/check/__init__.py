"""Conformance: whether a stream, a Trace file or a whole session obeys the protocol, and what breaks it first."""

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
