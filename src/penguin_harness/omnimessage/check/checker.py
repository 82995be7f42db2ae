"""The conformance checker: feed it messages or lines, ask for a report. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable

from penguin_harness.omnimessage.check.chain import Chain
from penguin_harness.omnimessage.check.lines import BrokenLine, read_line
from penguin_harness.omnimessage.check.report import Dialect, Findings, Note, Report, Surface, Violation
from penguin_harness.omnimessage.check.values import is_session_id
from penguin_harness.omnimessage.messages import OmniMessage, SessionMetaMessage


class Checker:
    """A state machine over the messages of one stream, or of the Trace files of one session.

    Without a surface, the first message tells: a Trace begins with the main session's session_meta.
    (So does the stream of a run that begins with a model switch: name the surface there.)
    """

    def __init__(self, surface: Surface | None = None, dialect: Dialect = "strict") -> None:
        self._surface: Surface | None = surface
        self._dialect: Dialect = dialect
        self._findings = Findings(dialect)
        self._chains: dict[tuple[str, ...], Chain] = {}
        self._strays: set[tuple[str, ...]] = set()
        self._torn: tuple[int, BrokenLine] | None = None

    def feed(self, message: OmniMessage, line_number: int | None = None) -> None:
        """Take the next message."""
        self._at(line_number)
        self._take(message)

    def feed_line(self, line: bytes, line_number: int | None = None) -> None:
        """Take the next line, with or without its newline; an empty one, as behind the last newline, says nothing."""
        self._at(line_number)
        line = line.removesuffix(b"\n")
        if not line:
            return
        try:
            message = read_line(line, self._findings)
        except BrokenLine as error:
            self._torn = (self._findings.line, error)
        else:
            self._take(message)

    def next_file(self) -> None:
        """The session's next Trace file begins; only for the surface `trace`."""
        self._findings.violations, self._findings.notes = self._at_end(finished=self._findings.strict)
        self._torn = None
        self._findings.file += 1
        self._findings.line = 0
        self._trace().next_file()

    def whole_session(self) -> None:
        """What follows begins with the first file of a session; only for the surface `trace`."""
        self._trace().whole_session()

    def report(self, *, finished: bool = False) -> Report:
        """What was found so far; `finished` when nothing may be open any more. Can be asked again later."""
        violations, notes = self._at_end(finished=finished)
        return Report(tuple(violations), tuple(notes))

    def _at(self, line_number: int | None) -> None:
        if self._torn is not None:
            line, error = self._torn
            self._findings.broken(error.rule, str(error), line=line)
            self._torn = None
        self._findings.line = self._findings.line + 1 if line_number is None else line_number

    def _take(self, message: OmniMessage) -> None:
        if self._surface is None:
            opens = isinstance(message, SessionMetaMessage) and not message.origin
            self._surface = "trace" if opens else "stream"
        if message.origin and self._surface == "trace":
            self._findings.broken("8.3", f"a message of {message.origin[-1]!r} in a Trace")
            return
        origin = () if message.origin is None else message.origin
        if message.origin is not None and not (origin and all(map(is_session_id, origin))):
            self._stray(origin)
            return
        if origin not in self._chains:
            self._chains[origin] = Chain(self._findings, self._surface, origin)
        self._chains[origin].feed(message)

    def _stray(self, origin: tuple[str, ...]) -> None:
        """A message of nobody knows which session: told once, and belongs to no session's state."""
        if origin not in self._strays:
            self._findings.broken("1.5", f"the origin is {list(origin)!r}")
        self._strays.add(origin)

    def _trace(self) -> Chain:
        self._surface = "trace"
        return self._chains.setdefault((), Chain(self._findings, "trace"))

    def _at_end(self, *, finished: bool) -> tuple[list[Violation], list[Note]]:
        """The findings with what the end adds; a child may go on in the background, so nothing of it must be closed."""
        end = Findings(self._dialect)
        end.file, end.line = self._findings.file, self._findings.line
        end.violations, end.notes = list(self._findings.violations), list(self._findings.notes)
        if self._torn is not None:
            line, error = self._torn
            if error.torn and not finished and self._chains:
                end.note(f"the last line is torn: {error}", line=line)
            else:
                end.broken(error.rule, str(error), line=line)
        elif not self._chains:
            end.note("there is no message in it")
        for origin, chain in self._chains.items():
            for rule, words in chain.open():
                if finished and not origin:
                    end.broken(rule, f"the end comes while {words} is open")
                else:
                    whose = f" of {origin[-1]}" if origin else ""
                    end.note(f"ends with {words}{whose} open: its writer died or still runs")
        return end.violations, end.notes


def check(
    messages: Iterable[OmniMessage | bytes],
    surface: Surface | None = None,
    dialect: Dialect = "strict",
    *,
    finished: bool = False,
) -> Report:
    """Check one stream or one Trace file, as messages or as lines.

    `finished` says that the writer closed everything it opened.
    """
    checker = Checker(surface, dialect)
    _feed(checker, messages)
    return checker.report(finished=finished)


def check_session(
    files: Iterable[Iterable[OmniMessage | bytes]], dialect: Dialect = "strict", *, finished: bool = False
) -> Report:
    """Check all Trace files of one session, in order, from the first one."""
    checker = Checker("trace", dialect)
    checker.whole_session()
    for number, messages in enumerate(files):
        if number:
            checker.next_file()
        _feed(checker, messages)
    return checker.report(finished=finished)


def _feed(checker: Checker, messages: Iterable[OmniMessage | bytes]) -> None:
    for message in messages:
        if isinstance(message, bytes):
            checker.feed_line(message)
        else:
            checker.feed(message)
