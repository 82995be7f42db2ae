"""Every Trace of the reference implementation, resumed and gone on with. `python -m tests.matrix.upstream --all`."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from penguin_harness import user_text
from penguin_harness.llm.script import Script, call, say
from penguin_harness.trace import context_file
from tests.double.chat import rules
from tests.engine.test_context import UPSTREAM, assert_legal
from tests.matrix.committed import assert_holds, committed_in
from tests.matrix.crash import ENDPOINT, HEADERS, messages, model_in, wire
from tests.matrix.sweep import command
from tests.support import allow, assert_law_1, new_agent, texts

MIXED = frozenset({"two_runs_at_once"})
"""Two requests at a time: which answer belongs to which of them, the file does not say."""


class Point(Struct, frozen=True):
    """One session of the reference: the files of its contexts."""

    files: tuple[Path, ...]

    def __str__(self) -> str:
        return " + ".join(f"{path.parent.name}/{path.name}" for path in self.files)


def points() -> list[Point]:
    """Each folder's session, its subagents, what a kill left; none when the Traces are not there."""
    found: list[Point] = []
    for folder in sorted(path for path in UPSTREAM.glob("*") if path.is_dir()):
        main = tuple(sorted(folder.glob("trace_[0-9][0-9][0-9].jsonl")))
        others = sorted([*folder.glob("child*_trace_*.jsonl"), *folder.glob("trace_*.at_kill.jsonl")])
        found += [Point(files) for files in (main, *((path,) for path in others)) if files]
    return found


async def prove(point: Point, folder: Path) -> None:
    """Its context is legal, a strict endpoint takes what comes of it, nothing committed is missing or rewritten."""
    data = [path.read_bytes() for path in point.files]
    agent = await new_agent(folder)
    session_id = json.loads(data[0].split(b"\n")[0])["payload"]["session_id"]
    paths = [context_file(agent.paths.traces, session_id, number + 1) for number in range(len(data))]
    paths[0].parent.mkdir(parents=True)
    for path, content in zip(paths, data, strict=True):
        path.write_bytes(content)
    model = Script([[call("read_file", id="call_1", path=".")], [say("ok")]], ref=model_in(data))
    async with await agent.resume_session(session_id, model=model) as session:
        assert session.skipped == ()
        assert_legal(session.history)
        seen = [message async for message in session.run([user_text("go on")], approve=allow)]
        assert_law_1(session)
    assert texts(seen) == ["ok"]
    for path, content in zip(paths, data, strict=True):
        assert path.read_bytes().startswith(content)
    for request in model.requests:
        assert_legal(request.messages)
        assert rules.check(wire(request), HEADERS, ENDPOINT) == []
        if point.files[0].parent.name not in MIXED:
            assert_holds(request.messages, committed_in([messages(one) for one in data]))


def main() -> None:
    command("upstream", points(), prove)


if __name__ == "__main__":
    main()
