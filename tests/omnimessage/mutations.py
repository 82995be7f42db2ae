"""One way to break each rule: a conforming sequence, one change, and the line that is then the first to break it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Raw, Struct
from msgspec.structs import replace

from penguin_harness.omnimessage import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    PartialText,
    PartialToolCallOutput,
    RequestBegin,
    Subagent,
    Text,
    TokenCounts,
)
from penguin_harness.omnimessage.check import Report, Surface, check, check_session
from tests.omnimessage.sequences import (
    ABORTED,
    CHILD,
    CHILDREN,
    COMPACTED,
    INTERRUPTED,
    LATER,
    MAIN,
    PIXEL,
    RETRIES,
    STREAM,
    TRACE,
    Of,
    Said,
    answer,
    ask,
    at,
    lines,
    meta,
    output,
    tools,
    usage,
)

Change: TypeAlias = Callable[[list[Said]], None]
RawChange: TypeAlias = Callable[[list[bytes]], None]


class Mutation(Struct, frozen=True):
    rule: str
    line: int
    broken: list[bytes]
    surface: Surface = "trace"
    before: list[bytes] | None = None
    """The files before this one, checked with it as a session."""

    def report(self) -> Report:
        if self.before is None:
            return check(self.broken, self.surface)
        return check_session([self.before, self.broken] if self.before else [self.broken])


def put(line: int, *payloads: Said) -> Change:
    """Something more stands at that line."""

    def change(said: list[Said]) -> None:
        said[line - 1 : line - 1] = payloads

    return change


def drop(line: int, count: int = 1) -> Change:
    def change(said: list[Said]) -> None:
        del said[line - 1 : line - 1 + count]

    return change


def move(line: int, to: int) -> Change:
    def change(said: list[Said]) -> None:
        said.insert(to - 1, said.pop(line - 1))

    return change


def edit(line: int, **fields: object) -> Change:
    def change(said: list[Said]) -> None:
        old = said[line - 1]
        said[line - 1] = (
            Of(old.origin, replace(old.payload, **fields)) if isinstance(old, Of) else replace(old, **fields)
        )

    return change


def sub(line: int, old: str, new: str) -> RawChange:
    """The line's text reads differently."""

    def change(written: list[bytes]) -> None:
        assert old.encode() in written[line - 1]
        written[line - 1] = written[line - 1].replace(old.encode(), new.encode(), 1)

    return change


def trace(rule: str, line: int, change: Change, said: list[Said] = TRACE) -> Mutation:
    return Mutation(rule, line, _changed(said, change))


def stream(rule: str, line: int, change: Change, said: list[Said] = STREAM) -> Mutation:
    return Mutation(rule, line, _changed(said, change), "stream")


def session(rule: str, line: int, change: Change, said: list[Said] = LATER) -> Mutation:
    """A later file after COMPACTED, or another as the session's first."""
    before = lines(COMPACTED) if said is LATER else []
    return Mutation(rule, line, _changed(said, change, 100), "trace", before)


def raw(rule: str, line: int, change: RawChange, said: list[Said] = TRACE, surface: Surface = "trace") -> Mutation:
    written = lines(said)
    change(written)
    return Mutation(rule, line, written, surface)


def _changed(said: list[Said], change: Change, start: int = 0) -> list[bytes]:
    changed = list(said)
    change(changed)
    return lines(changed, start)


def _cut(written: list[bytes]) -> None:
    written[7] = written[7][:40]


_KEYS = f'{{"type":"model_msg","timestamp":"{at(1)}",'
_TURNED = f'{{"timestamp":"{at(1)}","type":"model_msg",'

MUTATIONS = [
    raw("1.1", 8, _cut),
    raw("1.2", 23, sub(23, '"event_msg"', '"other_msg"')),
    raw("1.3", 2, sub(2, "T09:00", " 09:00")),
    raw("1.4", 6, sub(6, at(5), at(0))),
    raw("1.5", 8, sub(8, f'["{CHILD}"]', '["me"]'), CHILDREN, "stream"),
    raw("1.6", 2, sub(2, _KEYS, _TURNED)),
    raw("1.7", 2, sub(2, ',"payload"', ', "payload"')),
    raw("1.8", 2, sub(2, '"text":"Look."', '"text":"Look.","stop_reason":"completed"')),
    raw("1.9", 2, sub(2, "Look.", "\\ud800")),
    raw("1.10", 1, sub(1, "128000", '"128000"')),
    trace("2.1", 1, drop(1)),
    trace("2.2", 1, edit(1, session_id="session-1")),
    trace("2.3", 1, edit(1, workspace="work")),
    trace("2.4", 1, edit(1, model_context_window=0)),
    trace("2.5", 19, put(19, meta())),
    trace("2.6", 16, put(16, ask()), COMPACTED),
    session("2.7", 1, edit(1, workspace="/elsewhere")),
    session("2.8", 1, edit(1, session_usage=TokenCounts.of(cache_write=21))),
    trace("2.9", 1, edit(1, protocol=2)),
    raw("3.1", 7, sub(7, '"assistant"', '"user"')),
    trace("3.2", 8, edit(8, tool_call_id="")),
    trace("3.3", 10, edit(10, tool_call_id="c1")),
    trace("3.4", 12, edit(12, tool_call_id="c9")),
    trace("3.5", 20, edit(20, sender="harness")),
    trace("3.6", 24, edit(24, carried=True)),
    trace("3.7", 2, edit(2, fidelity=Raw(b"{}"))),
    trace("3.8", 18, edit(18, images=("file:///pixel.png",))),
    stream("4.1", 3, drop(3)),
    stream("4.2", 5, put(5, PartialText("assistant", "start", ""))),
    stream("4.3", 3, edit(3, thinking="Hm.")),
    stream("4.4", 16, edit(16, text="I looked.")),
    stream("4.5", 16, drop(16)),
    stream("4.6", 16, edit(15, stop_reason="aborted")),
    stream("4.7", 8, edit(8, name="touch")),
    stream("4.8", 22, put(22, PartialToolCallOutput("user", "delta", "", "c1", (PIXEL,)))),
    stream("4.9", 15, drop(15, 2)),
    trace("4.10", 7, put(7, PartialText("assistant", "start", ""))),
    trace("5.1", 5, drop(5)),
    trace("5.2", 19, put(19, tools())),
    trace("5.3", 4, drop(4)),
    trace("5.4", 4, edit(3, servers=("files",))),
    trace("5.5", 16, edit(16, attempt=1)),
    trace("5.6", 16, edit(16, retry_in_ms=2000)),
    trace("5.7", 16, edit(16, usage=TokenCounts.of(output=1))),
    trace("5.8", 15, edit(15, request=TokenCounts(0, 10, 0, 11))),
    trace("5.9", 21, edit(21, session=TokenCounts.of(cache_write=21))),
    trace("5.10", 15, edit(15, mode="discard"), COMPACTED),
    trace("5.11", 3, edit(3, error_code="network"), ABORTED),
    trace("5.12", 23, edit(23, decision="allow")),
    trace("6.1", 16, edit(16, error_message=None), RETRIES),
    trace("6.2", 16, edit(16, error_code="strange"), RETRIES),
    trace("6.3", 16, edit(16, error_code="output_limit"), RETRIES),
    raw("7.1", 16, sub(16, '"completed"', '"done"')),
    trace("7.2", 17, put(17, Abort("user_abort")), RETRIES),
    stream("7.3", 16, drop(16), INTERRUPTED),
    trace("7.4", 18, edit(18, stop_reason="retryable")),
    stream("8.1", 7, drop(6), CHILDREN),
    stream("8.2", 6, edit(6, session_id=MAIN), CHILDREN),
    trace("8.3", 17, put(17, Of((CHILD,), answer()))),
    trace("8.4", 18, put(18, Subagent(CHILD))),
    trace("9.1", 7, edit(7, fidelity=Raw(b"[1]"))),
    stream("10.1", 19, put(19, Subagent(CHILD))),
    stream("10.2", 24, put(24, Text("user", "Look.", carried=True))),
    stream("10.3", 19, put(19, meta())),
    session("10.4", 2, drop(2), TRACE),
    trace("10.5", 4, drop(4), LATER),
    trace("10.6", 10, edit(10, sender=None), COMPACTED),
    trace("11.2a", 9, edit(9, tool_call_id="c7")),
    trace("11.2b", 10, put(10, ApprovalDecision("allow", "c1"))),
    trace("11.2c", 10, move(9, 11)),
    trace("11.2d", 14, put(14, ApprovalDecision("allow", "c3"))),
    stream("11.2e", 22, drop(11)),
    trace("11.3a", 19, put(19, output("c1"))),
    trace("11.3b", 18, drop(18)),
    trace("11.3c", 10, put(10, output("c2", "", "fatal")), RETRIES),
    trace("11.3d", 12, edit(12, stop_reason="completed")),
    trace("11.4a", 16, move(17, 16)),
    trace("11.4b", 15, drop(15)),
    trace("11.4c", 9, put(8, usage(1)), RETRIES),
    trace("11.8a", 7, put(7, RequestBegin())),
    trace("11.8b", 10, put(10, CompactionBegin("turns", "discard", 10, 1)), COMPACTED),
    trace("11.8c", 19, put(19, answer())),
    trace("11.8d", 8, put(8, ask())),
    trace("11.8e", 15, move(16, 15), LATER),
    trace("11.8f", 15, put(15, answer()), ABORTED),
    session("13.1", 6, edit(6, text="Something else.")),
    # Other ways to break a rule that one way does not show.
    raw("1.5", 8, sub(8, f'["{CHILD}"]', "[]"), CHILDREN, "stream"),
    raw("7.1", 16, sub(16, '{"type":"request_end","status":"completed"}', '{"type":"request_end","status":"failed"}')),
    trace("5.5", 8, edit(8, attempt=0), RETRIES),
    stream("4.1", 4, put(4, PartialText("assistant", "delta", "x"))),
    stream("4.4", 23, edit(23, images=None)),
    stream("4.5", 15, drop(15)),
    stream("4.5", 6, put(6, PartialText("assistant", "start", ""))),
    stream("4.7", 10, edit(10, name="touch")),
    stream("5.1", 23, drop(23), INTERRUPTED),
    trace("5.3", 3, drop(3)),
    trace("5.4", 3, edit(3, servers=())),
    trace("6.3", 11, edit(11, error_code="network"), ABORTED),
    trace("6.3", 16, edit(16, error_code="connect_failed"), RETRIES),
    stream("10.3", 23, put(23, meta()), INTERRUPTED),
    trace("10.4", 2, put(2, RequestBegin())),
    trace("10.6", 5, edit(5, sender=None), LATER),
    trace("11.2d", 11, edit(10, name="unknown")),
    trace("11.2d", 9, put(9, ApprovalDecision("allow", "c2")), RETRIES),
    trace("11.2d", 12, put(12, ApprovalDecision("allow", "c2")), ABORTED),
    trace("11.3c", 9, put(8, output("c2", "", "fatal")), RETRIES),
    trace("11.4a", 16, put(16, answer())),
    trace("11.8a", 19, put(19, TRACE[15])),
    trace("11.8e", 14, drop(14), LATER),
    trace("3.6", 7, put(6, RequestBegin()), LATER),
]
