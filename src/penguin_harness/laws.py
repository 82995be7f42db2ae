"""The laws that tie a Trace to what the model is sent, checked on the files of a session.

1. The newest file alone folds to the session's state.
2. A request is a function of that state: a resume would have sent the same, and it begins with the one before.
3. Every prefix folds to a legal context, and the closing records change nothing that the model is told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.engine.closing import closing_messages
from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import (
    CompletePayload,
    DecodeError,
    EventMessage,
    EventPayload,
    ImageUrl,
    InlineData,
    ModelMessage,
    OmniMessage,
    RequestBegin,
    Text,
    ToolCall,
    ToolCallOutput,
    decode,
    encode,
)
from penguin_harness.trace import read_lines

Fold: TypeAlias = Callable[[Context, OmniMessage], Context]


class Breach(Struct, frozen=True):
    """Where a law does not hold: behind this line."""

    law: int
    path: str
    line: int
    message: str


class Laws(Struct, frozen=True):
    """What was checked, and the first breach of each law."""

    prefixes: int
    requests: int
    breaches: tuple[Breach, ...]


def check_laws(paths: Sequence[Path], fold: Fold = fold) -> Laws:
    """Check the files of one session, in order; the last one is its newest context."""
    newest = _Walk(paths[-1], fold)
    prefixes = 1
    for number, message in _messages(paths[-1]):
        newest.take(number, message)
        prefixes += 1
    if 3 not in newest.breaches:
        whole = _folded((message for path in paths for _, message in _messages(path)), fold)
        again = _folded((decode(encode(message)) for _, message in _messages(paths[-1])), fold)
        if not _same(newest.state, whole):
            newest.breach(1, "the newest file alone does not fold to the state of the whole session")
        if not _same(newest.state, again):
            newest.breach(1, "the messages, written and read once more, fold to another state")
    return Laws(prefixes, newest.requests, tuple(newest.breaches.values()))


class _Walk:
    """Folds one file message by message, and looks at each state on the way."""

    def __init__(self, path: Path, fold: Fold) -> None:
        self.state = Context()
        self.requests = 0
        self.breaches: dict[int, Breach] = {}
        self._path = path
        self._fold = fold
        self._line = 0
        self._pairs = Pairs()
        self._seen: list[CompletePayload] = self.state.messages
        self._length = 0
        self._sent: tuple[CompletePayload, ...] = ()

    def breach(self, law: int, message: str) -> None:
        """The law does not hold here; only the first place counts."""
        self.breaches.setdefault(law, Breach(law, str(self._path), self._line, message))

    def take(self, line: int, message: OmniMessage) -> None:
        """The next message."""
        self._line = line
        before = self._told(message)
        try:
            self._fold(self.state, message)
            self._look(before)
        except Exception as error:  # noqa: BLE001 - that it is total is what is checked
            self.breach(3, f"folding fails: {type(error).__name__}: {error}")

    def _told(self, message: OmniMessage) -> tuple[CompletePayload, ...] | None:
        """What a resume right before a request would send; None when none begins, or one inside a compaction."""
        begins = isinstance(message.payload, RequestBegin) and message.origin is None
        return self.state.request_messages() if begins and self.state.compaction is None else None

    def _look(self, before: tuple[CompletePayload, ...] | None) -> None:
        state = self.state
        if self._seen is not state.messages:
            self._seen, self._length, self._pairs, self._sent = state.messages, 0, Pairs(), ()
        if before is not None:
            self._compare(before, tuple(state.messages))
        problem = self._pairs.feed(state.messages[self._length :])
        self._length = len(state.messages)
        problem = problem or self._pairs.ends_with(state.pending()) or closing_problem(state, self._fold)
        if problem is not None:
            self.breach(3, problem)

    def _compare(self, before: tuple[CompletePayload, ...], sent: tuple[CompletePayload, ...]) -> None:
        self.requests += 1
        if before != sent:
            self.breach(2, "a resume right before this request would have sent another one")
        if sent[: len(self._sent)] != self._sent:
            self.breach(2, "this request does not begin with the one before it")
        self._sent = sent


class Pairs:
    """Whether calls and outputs pair up: each answered once, in call order, before anything else is said."""

    def __init__(self, open_calls: Iterable[str] = ()) -> None:
        self._open = [*open_calls]

    def feed(self, payloads: Iterable[CompletePayload]) -> str | None:
        """Take what comes next; what is wrong with it, if anything."""
        for payload in payloads:
            match payload:
                case ToolCall(tool_call_id=call) if call in self._open:
                    return f"the call {call!r} is made twice"
                case ToolCall(tool_call_id=call):
                    self._open.append(call)
                case ToolCallOutput(tool_call_id=call) if self._open[:1] != [call]:
                    return f"the output of {call!r} answers {self._open[0]!r}" if self._open else f"{call!r} is no call"
                case ToolCallOutput():
                    self._open.pop(0)
                case Text(role="user") | ImageUrl() | InlineData(role="user") if self._open:
                    return f"the user speaks while the call {self._open[0]!r} has no output"
                case _:
                    continue
        return None

    def ends_with(self, payloads: Iterable[CompletePayload]) -> str | None:
        """What is wrong if these come next, and then nothing; does not take them."""
        end = Pairs(self._open)
        return end.feed(payloads) or (f"the call {end._open[0]!r} has no output" if end._open else None)


def closing_problem(state: Context, fold: Fold = fold) -> str | None:
    """What is wrong with the records that would close this state, if anything."""
    closing = closing_messages(state)
    if not closing:
        return None
    branch = _branch(state)
    told = branch.request_messages()
    for payload in closing:
        stamp = state.last_timestamp
        is_event = isinstance(payload, EventPayload)
        fold(branch, EventMessage(stamp, payload) if is_event else ModelMessage(stamp, payload))
    if closing_messages(branch):
        return f"the closing records leave a {closing_messages(branch)[0].type} owed"
    return None if branch.request_messages() == told else "the closing records change what the model is told"


def _branch(state: Context) -> Context:
    """The open end of a state, to go on with apart from it."""
    attempt, compaction = state.attempt, state.compaction
    if attempt is not None:
        calls = {name: replace(call) for name, call in attempt.calls.items()}
        attempt = replace(attempt, content=[*attempt.content], calls=calls)
    if compaction is not None:
        compaction = replace(compaction, prompt=[*compaction.prompt], reply=[*compaction.reply])
    return dataclasses.replace(state, messages=[], committed=0, attempt=attempt, compaction=compaction)


def _folded(messages: Iterable[OmniMessage], fold: Fold) -> Context:
    state = Context()
    for message in messages:
        fold(state, message)
    return state


def _same(one: Context, other: Context) -> bool:
    """Whether the states are the same, the clock aside: an earlier file may end later by a clock that was set back."""
    return dataclasses.replace(one, last_timestamp="") == dataclasses.replace(other, last_timestamp="")


def _messages(path: Path) -> Iterator[tuple[int, OmniMessage]]:
    """The readable messages with the numbers of their lines."""
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield number, decode(line)
        except DecodeError:  # a resume passes over it too
            continue
