"""Compaction: the context is replaced before it is full, nothing unanswered is lost, and never in a loop."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from penguin_harness import Abort, CompactionEnd, RequestEnd, Session, SessionError, Text, ToolCallOutput, user_text
from penguin_harness.contracts import Outcome
from penguin_harness.engine.compaction import CompactionPolicy
from penguin_harness.engine.context import Context
from penguin_harness.engine.head import summary_of
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import OmniMessage, TokenCounts, block, user_image
from penguin_harness.omnimessage.check import check_session
from penguin_harness.trace import find_session, read_lines, read_messages
from tests.engine.test_context import assert_legal
from tests.support import allow, assert_conforms, assert_law_1, kinds, new_agent, texts

LIMIT = CompactionPolicy(max_context_length=1000)
DROP = CompactionPolicy(mode="discard", max_context_length=1000)
SUMMARY = say("[summary]We count.[/summary]")
TOLD = Text("user", block("context_summary", "We count."), sender="harness")


def costing(total: int) -> Outcome:
    return Outcome("completed", usage=TokenCounts.of(cache_write=total - 10, output=10))


FULL, SMALL = costing(1200), costing(100)


class Compacting:
    """A session whose every stream is read, and whose files are checked together at the end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.stream: list[OmniMessage] = []

    async def read(self, run: Any) -> list[OmniMessage]:
        seen: list[OmniMessage] = []
        async with asyncio.timeout(20):
            async for message in run:
                seen.append(message)
                run.retry_now()
                if message.origin is None and "partial" not in message.payload.type:
                    assert_law_1(self.session)
        self.stream += seen
        return seen

    async def run(self, text: str, **options: Any) -> list[OmniMessage]:
        return await self.read(self.session.run([user_text(text)], approve=allow, **options))

    @property
    def files(self) -> list[Path]:
        traces = self.session.trace_path.parent.parent
        return list(find_session(traces, self.session.session_id).paths)

    def check(self) -> None:
        assert_conforms(check_session([read_lines(path) for path in self.files], finished=True))


async def compacting(tmp_path: Path, turns: list[list[ScriptItem]], policy: CompactionPolicy = LIMIT) -> Any:
    agent = await new_agent(tmp_path)
    model = Script(turns)
    session = await agent.create_session(model=model, compaction=policy)
    return Compacting(session), model


def ends(messages: list[OmniMessage]) -> list[CompactionEnd]:
    return [message.payload for message in messages if isinstance(message.payload, CompactionEnd)]


async def test_a_full_context_is_summarized_before_the_next_request(tmp_path: Path) -> None:
    """B130: what the person said and nobody answered stands word for word behind the summary, with its image."""
    one, model = await compacting(tmp_path, [[say("one"), FULL], [SUMMARY, SMALL], [say("two"), SMALL]])
    await one.run("first")
    given = [user_text("second, a long one"), user_image("data:image/png;base64,AA")]
    seen = await one.read(one.session.run(given))
    await one.session.close()
    one.check()
    assert [end.status for end in ends(seen)] == ["completed"]
    assert len(one.files) == 2
    assert "second" not in str(model.requests[1].messages)
    head = model.requests[2].messages
    assert head[0] == TOLD
    assert [getattr(p, "text", getattr(p, "image_url", "")) for p in head[1:]] == [
        "second, a long one",
        "data:image/png;base64,AA",
    ]
    assert all(getattr(payload, "carried", False) for payload in head[1:])
    assert [m.payload for m in seen if isinstance(m.payload, Text) and m.payload.carried] == []
    assert one.session.usage.total == 1400


async def test_in_the_middle_of_a_task_the_tools_results_ride_in_the_summary_request(tmp_path: Path) -> None:
    """B128, B132: a border lies only where no call is open."""
    turns: list[list[ScriptItem]] = [
        [call("exec_command", id="a", command="echo out"), call("exec_command", id="b", command="echo more"), FULL],
        [SUMMARY, SMALL],
        [say("done"), SMALL],
    ]
    one, model = await compacting(tmp_path, turns)
    await one.run("go")
    await one.session.close()
    one.check()
    asked = model.requests[1].messages
    assert [p.output for p in asked if isinstance(p, ToolCallOutput)] == ["out\n", "more\n"]
    assert model.requests[1].tools == model.requests[0].tools
    assert model.requests[2].messages == (TOLD,)
    for request in model.requests:
        assert_legal(request.messages)


async def test_dropping_waits_for_the_end_of_the_task(tmp_path: Path) -> None:
    turns: list[list[ScriptItem]] = [
        [call("exec_command", id="a", command="true"), FULL],
        [say("done"), FULL],
        [say("fresh"), SMALL],
    ]
    one, model = await compacting(tmp_path, turns, DROP)
    await one.run("go")
    assert len(one.files) == 1
    await one.run("next")
    await one.session.close()
    one.check()
    assert [getattr(payload, "text", "") for payload in model.requests[2].messages] == ["next"]


async def test_turns_are_a_limit_too(tmp_path: Path) -> None:
    policy = CompactionPolicy(turns=2)
    one, _ = await compacting(tmp_path, [[say("1")], [say("2")], [SUMMARY], [say("3")]], policy)
    for text in "ab":
        await one.run(text)
    seen = await one.run("c")
    await one.session.close()
    one.check()
    assert [(end.reason, end.status) for end in ends(one.stream)] == [("turns", "completed")]
    assert texts(seen)[-1] == "3"


@pytest.mark.parametrize(
    "bad",
    [
        [think("only thinking")],
        [say("   [summary]  [/summary]")],
        [say("no marks")],
        [call("exec_command", command="x")],
    ],
    ids=["B126-thinking", "B126-blank", "B127-no-marks", "B126-a-call"],
)
async def test_a_reply_without_a_summary_is_a_failed_attempt(tmp_path: Path, bad: list[ScriptItem]) -> None:
    """The old context stands until there is a summary; no tool runs; the model is told what was wrong."""
    one, model = await compacting(tmp_path, [[say("one"), FULL], [*bad, SMALL], [SUMMARY, SMALL], [say("two"), SMALL]])
    await one.run("first")
    seen = await one.run("second")
    await one.session.close()
    one.check()
    assert [(end.status, end.attempt) for end in ends(seen)] == [("completed", 2)]
    assert "approval_decision" not in kinds(seen)
    assert "no usable summary" in str(model.requests[2].messages[-1])
    assert model.requests[2].messages[: len(model.requests[1].messages)] == model.requests[1].messages


async def test_a_compaction_that_fails_leaves_the_context_and_is_not_repeated_in_the_run(tmp_path: Path) -> None:
    """B125, B126: never a loop; the trigger fires again later."""
    no_marks: list[ScriptItem] = [say("no marks"), SMALL]
    turns: list[list[ScriptItem]] = [
        [say("one"), FULL],
        *[no_marks] * 6,
        [call("exec_command", id="a", command="true"), FULL],
        [say("two"), FULL],
        [SUMMARY, SMALL],
        [say("three"), SMALL],
    ]
    one, model = await compacting(tmp_path, turns)
    await one.run("first")
    seen = await one.run("second")
    assert [(end.status, end.error_code, end.attempt) for end in ends(seen)] == [("retryable", "malformed", 6)]
    assert texts(seen)[-1] == "two"
    assert model.requests[7].messages[:2] == (*model.requests[0].messages, Text("assistant", "one"))
    seen = await one.run("third")
    await one.session.close()
    one.check()
    assert [end.status for end in ends(seen)] == ["completed"]


async def test_a_context_that_is_full_from_its_first_request_is_not_replaced_again(tmp_path: Path) -> None:
    """B125: fixed overhead above the threshold leads to a notice, not to a loop."""
    again: list[list[ScriptItem]] = [[say(str(n)), FULL] for n in range(3)]
    turns: list[list[ScriptItem]] = [[say("one"), FULL], [SUMMARY, SMALL], *again]
    one, _ = await compacting(tmp_path, turns)
    for text in "abcd":
        await one.run(text)
    await one.session.close()
    one.check()
    assert len(ends(one.stream)) == 1
    assert len([text for text in texts(one.stream, "user") if "full again" in text]) == 1


OVERFLOW = Outcome("fatal", "rejected", "prompt is too long: 214676 tokens > 200000", overflow=True)


async def test_a_request_that_the_provider_finds_too_long_leads_to_one_compaction_and_one_new_try(
    tmp_path: Path,
) -> None:
    """B083."""
    turns: list[list[ScriptItem]] = [
        [say("one"), SMALL],
        [OVERFLOW],
        [SUMMARY, SMALL],
        [say("two"), SMALL],
        [OVERFLOW],
        [SUMMARY, SMALL],
        [OVERFLOW],
    ]
    one, model = await compacting(tmp_path, turns)
    await one.run("first")
    assert texts(await one.run("second"))[-1] == "two"
    seen = await one.run("third")
    assert len(model.requests) == 7
    end = seen[-1].payload
    assert isinstance(end, RequestEnd)
    assert (end.error_code, "too long" in (end.error_message or "")) == ("rejected", True)
    await one.session.close()
    one.check()
    assert "third" in str(model.requests[6].messages)


async def test_a_summary_request_that_is_itself_too_long_is_shortened(tmp_path: Path) -> None:
    """B134: the older half of the turns is left out; a border lies where no call is open."""
    work: list[list[ScriptItem]] = [[call("exec_command", id=f"c{n}", command="true"), SMALL] for n in range(8)]
    turns: list[list[ScriptItem]] = [*work, [say("done"), FULL], [OVERFLOW], [OVERFLOW], [SUMMARY], [say("two"), SMALL]]
    one, model = await compacting(tmp_path, turns)
    await one.run("first")
    await one.run("second")
    await one.session.close()
    one.check()
    lengths = [len(request.messages) for request in model.requests[9:12]]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[2] < lengths[1] < lengths[0]
    for request in model.requests:
        assert_legal(request.messages)


async def test_an_abort_in_a_compaction_says_so_and_the_session_goes_on(tmp_path: Path) -> None:
    """B090."""
    turns: list[list[ScriptItem]] = [[say("one"), FULL], [say("[summary]Half"), asyncio.Event()], [SUMMARY], [say("x")]]
    one, model = await compacting(tmp_path, turns)
    await one.run("first")
    run = one.session.run([user_text("second")])
    async for message in run:
        if getattr(message.payload, "text", "").startswith("[summary]"):
            run.abort()
        one.stream.append(message)
    assert one.stream[-1].payload == Abort("compaction_interrupted")
    assert ends(one.stream)[-1].status == "aborted"
    seen = await one.run("third")
    await one.session.close()
    one.check()
    assert texts(seen)[-1] == "x"
    assert str(model.requests[3].messages).count("second") == 1


async def test_somebody_may_ask_for_it(tmp_path: Path) -> None:
    one, _ = await compacting(tmp_path, [[say("one")], [SUMMARY], [say("two")]])
    assert one.session.compactability() == "empty"
    with pytest.raises(SessionError, match="nothing to compact"):
        one.session.compact()
    await one.run("first")
    assert one.session.compactability() is None
    seen = await one.read(one.session.compact())
    assert [(end.reason, end.status) for end in ends(seen)] == [("manual", "completed")]
    assert one.session.compactability() == "empty"
    await one.run("second")
    await one.read(one.session.compact("discard"))
    assert one.session.history == ()
    await one.session.close()
    assert one.session.compactability() == "closed"
    one.check()


@pytest.mark.parametrize("left", range(1, 6))
async def test_what_a_crash_left_out_of_a_new_files_head_is_made_up(tmp_path: Path, left: int) -> None:
    """A file that ends with a completed compaction, or a head that is not whole: the next run completes it."""
    turns: list[list[ScriptItem]] = [[say("one"), FULL], [SUMMARY, SMALL], [fail("fatal", "auth", "no")]]
    one, model = await compacting(tmp_path, turns)
    await one.run("first")
    await one.run("second")
    await one.session.close()
    second = one.files[1]
    lines = list(read_lines(second))
    assert [json.loads(line)["payload"].get("type") for line in lines[:4]] == [None, "tool_list_ready", "text", "text"]
    if left == 1:
        second.unlink()
    else:
        second.write_bytes(b"".join(line + b"\n" for line in lines[: left - 1]))
    agent = await new_agent(tmp_path)
    resumed_model = Script([[say("ok")]])
    async with await agent.resume_session(one.session.session_id, model=resumed_model, compaction=LIMIT) as resumed:
        before = {path: path.read_bytes() for path in one.files}
        interrupted = resumed.run([user_text("at once interrupted")])
        interrupted.abort()
        async for _ in interrupted:
            assert_law_1(resumed)
        async for message in resumed.run([user_text("third")]):
            assert message.timestamp
            assert_law_1(resumed)
    assert all(path.read_bytes().startswith(content) for path, content in before.items())
    one.check()
    told = resumed_model.requests[0].messages
    assert told[: len(model.requests[2].messages)] == model.requests[2].messages
    assert told[-1] == Text("user", "third")
    assert str(told).count("We count.") == 1


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[summary]x[/summary]", "x"),
        ("Here: [summary]\n x \n[/summary] done", "x"),
        ("[summary]never closed", "never closed"),
        ("[summary][/summary]\n[summary]second[/summary]", "second"),
        ("[summary]  [/summary]", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_summaries_are_found_tolerantly(reply: str, found: str | None) -> None:
    """B127: never an empty one."""
    assert summary_of([Text("assistant", reply)]) == found


def test_limits_follow_the_window() -> None:
    """B136."""
    policy = CompactionPolicy()
    assert policy.threshold(8192) == 6144
    assert policy.threshold(1_000_000) == 256_000
    assert policy.due(Context(context_tokens=6144), 8192) == "context"
    assert policy.due(Context(context_tokens=6143), 8192) is None


def test_the_old_file_ends_with_the_compaction(tmp_path: Path) -> None:
    async def play() -> list[OmniMessage]:
        one, _ = await compacting(tmp_path, [[say("one"), FULL], [SUMMARY, SMALL], [say("two"), SMALL]])
        await one.run("first")
        await one.run("second")
        await one.session.close()
        return list(read_messages(one.files[0]))

    assert kinds(asyncio.run(play()))[-1] == "compaction_end"
