"""Crashes: the newest Trace file cut at any byte, resumed, and gone on with. `python -m tests.matrix.crash --all`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from penguin_harness import InputError, SessionMeta, TraceError, user_text
from penguin_harness.contracts import ModelRef, Request
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint as ModelEndpoint
from penguin_harness.llm.openai_chat import PROTOCOL
from penguin_harness.llm.script import Script, say
from penguin_harness.omnimessage import DecodeError, OmniMessage, decode
from penguin_harness.omnimessage.check import check_session
from penguin_harness.trace import context_file, find_session
from tests.double.chat import rules
from tests.double.chat.endpoint import Endpoint
from tests.engine.test_context import assert_legal
from tests.matrix.committed import assert_holds, committed_in
from tests.matrix.recordings import Recording, recordings
from tests.matrix.sweep import command
from tests.support import assert_conforms, assert_law_1, new_agent

AT = ModelEndpoint(ModelRef("custom", "test-model"), "http://127.0.0.1:1/v1", 128_000)
ENDPOINT = Endpoint(reasoning_fields=("reasoning_content",))
HEADERS = {"content-type": "application/json"}

How: TypeAlias = Literal["message", "empty"]


class Point(Struct, frozen=True):
    """How many bytes of the newest file are left, and what the next run is given."""

    recording: Recording
    cut: int
    how: How = "message"

    def __str__(self) -> str:
        return f"{self.recording.name} cut at byte {self.cut}, then a run with {self.how} input"

    @property
    def files(self) -> list[bytes]:
        *whole, newest = self.recording.files
        return [*whole, newest[: self.cut]]


def points(recorded: Sequence[Recording]) -> list[Point]:
    """Every byte with a message; every border of a record with empty input too."""
    found: list[Point] = []
    for one in recorded:
        found += [Point(one, cut) for cut in range(len(one.files[-1]) + 1)]
        found += [Point(one, cut, "empty") for cut in ends(one.files[-1])]
    return found


def borders(recorded: Sequence[Recording]) -> list[Point]:
    """Where what can be read changes: each record's end, one byte before it and one behind."""
    found: list[Point] = []
    for one in recorded:
        cuts = sorted({cut + near for cut in ends(one.files[-1]) for near in (-1, 0, 1)})
        found += [Point(one, cut) for cut in cuts if cut <= len(one.files[-1])]
        found += [Point(one, cut, "empty") for cut in ends(one.files[-1])]
    return found


def ends(data: bytes) -> list[int]:
    return [place + 1 for place, byte in enumerate(data) if byte == 10]


async def prove(point: Point, folder: Path) -> None:
    agent = await new_agent(folder)
    session_id = point.recording.session_id
    paths = [context_file(agent.paths.traces, session_id, number + 1) for number in range(len(point.files))]
    paths[0].parent.mkdir(parents=True)
    for path, data in zip(paths, point.files, strict=True):
        path.write_bytes(data)
    model = Script([[say("ok")], [say("ok")]], ref=model_in(point.files))
    try:
        session = await agent.resume_session(session_id, model=model)
    except TraceError:
        assert not has_meta(point.files)
        return
    async with session:
        inputs = [user_text("and now?")] if point.how == "message" else []
        try:
            run = session.run(inputs)
        except InputError:
            assert point.how == "empty"
            assert not session.history or session.history[-1].role == "assistant"
            return
        async for _ in run:
            pass
        assert_law_1(session)
    after = [path.read_bytes() for path in find_session(agent.paths.traces, session_id).paths]
    for old, new in zip(point.files, after, strict=False):
        assert new.startswith(old), "the old bytes are untouched"
    assert_request(point, model.requests[-1])
    assert_conforms(check_session([whole_lines(data) for data in after], finished=True))


def model_in(files: Sequence[bytes]) -> ModelRef:
    """The model of the newest context in these files, for which a script stands in."""
    metas = [m.payload for data in files for m in messages(data) if isinstance(m.payload, SessionMeta)]
    return ModelRef(metas[-1].provider, metas[-1].model_id) if metas else ModelRef("script", "script")


def has_meta(files: Sequence[bytes]) -> bool:
    return any(getattr(message, "type", "") == "session_meta" for data in files for message in messages(data))


def assert_request(point: Point, request: Request) -> None:
    """It is legal, a strict endpoint takes it, and nothing that was sent or committed is missing from it."""
    assert_legal(request.messages)
    refused = rules.check(wire(request), HEADERS, ENDPOINT)
    assert refused == [], refused
    known = committed_in([messages(data) for data in point.files])
    sent = point.recording.requests
    if sent is not None and known.last_request is not None:
        before = sent[known.last_request]
        assert tuple(request.messages[: len(before)]) == before, "the request begins with the one before it"
    assert_holds(request.messages, known)


def wire(request: Request) -> bytes:
    """The body as it would be sent."""
    return PROTOCOL.body(request, Conversation(PROTOCOL, AT).encode(request), AT)


@functools.lru_cache(maxsize=4096)
def message_of(line: bytes) -> OmniMessage | None:
    try:
        return decode(line)
    except DecodeError:
        return None


def messages(data: bytes) -> list[OmniMessage]:
    """What can be read of a file."""
    return [message for line in data.split(b"\n") if (message := message_of(line)) is not None]


def whole_lines(data: bytes) -> list[bytes]:
    """The lines without the torn one that a cut leaves."""
    return [line for line in data.split(b"\n") if line and message_of(line) is not None]


def main() -> None:
    with recordings() as recorded:
        command("crash", points(recorded), prove, usual=2000)


if __name__ == "__main__":
    main()
