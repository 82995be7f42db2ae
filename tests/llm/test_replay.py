"""A recording played as a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from msgspec import Raw

from penguin_harness.contracts import (
    BlockEnd,
    CallDelta,
    ModelItem,
    ModelRef,
    Outcome,
    Request,
    TextDelta,
    ThinkingDelta,
)
from penguin_harness.llm.replay import Replay
from penguin_harness.omnimessage import (
    CompletePayload,
    ErrorCode,
    ModelMessage,
    OmniMessage,
    SessionMeta,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    assistant_text,
    compaction_begin,
    compaction_end,
    request_begin,
    request_end,
    session_meta,
    thinking,
    token_usage,
    tool_call,
    tool_call_output,
    user_image,
    user_text,
    with_origin,
)

REF = ModelRef("replay", "trace.jsonl")
USAGE = TokenCounts.of(cache_write=10, output=3)


def meta(window: int = 1000) -> OmniMessage:
    return session_meta(SessionMeta("session-2026-12-01-09-00-00-00000000", "p", "m", window, "s", "/a", "/w"))


def turn(*said: OmniMessage, code: ErrorCode | None = None) -> list[OmniMessage]:
    return [request_begin(), *said, token_usage(USAGE, USAGE), request_end("completed", error_code=code)]


RECORDING: list[OmniMessage] = [
    meta(),
    user_text("go"),
    *turn(
        thinking("hm", fidelity=b'{"f":1.0}'),
        assistant_text("Looking."),
        tool_call("f", '{"a": 1}', "x#1"),
        tool_call("g", "", "y"),
    ),
    tool_call_output("ry", "y"),
    tool_call_output("rx", "x#1"),
    *turn(assistant_text("Done.")),
    user_text("more"),
    user_image("https://example.com/a.png"),
    *turn(assistant_text("Cut", stop_reason="fatal"), code="output_limit"),
]
GO = Text("user", "go")
FIRST: list[CompletePayload] = [
    Thinking("assistant", "hm", fidelity=Raw(b'{"f":1.0}')),
    Text("assistant", "Looking."),
    ToolCall("assistant", "f", '{"a": 1}', "x#4"),
    ToolCall("assistant", "g", "", "y#2"),
]
OUTPUTS = [ToolCallOutput("user", "other result", "x#4"), ToolCallOutput("user", "", "y#2")]


async def play(
    messages: Iterable[OmniMessage], payloads: Sequence[CompletePayload], fragment: int = 24
) -> list[ModelItem]:
    return [item async for item in Replay(REF, messages, fragment=fragment).stream(Request("s", payloads))]


async def message_of(messages: Iterable[OmniMessage], payloads: Sequence[CompletePayload]) -> str | None:
    items = await play(messages, payloads)
    outcome = items[0]
    assert len(items) == 1
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.error_code) == ("fatal", "rejected")
    return outcome.error_message


async def test_a_turn_is_said_again_with_its_fidelity_ids_and_usage() -> None:
    fidelity = Raw(b'{"f":1.0}')
    assert await play(RECORDING, [GO], fragment=5) == [
        ThinkingDelta("hm", 0, fidelity),
        BlockEnd(),
        TextDelta("Looki", 1),
        TextDelta("ng.", 1),
        BlockEnd(),
        CallDelta(2, "", "x", "f"),
        CallDelta(2, '{"a":'),
        CallDelta(2, " 1}"),
        BlockEnd(),
        CallDelta(3, "", "y", "g"),
        CallDelta(3, ""),
        BlockEnd(),
        Outcome("completed", usage=USAGE),
    ]


async def test_the_position_follows_from_the_request() -> None:
    """Other results of the tools and other suffixes of ids are the same conversation."""
    assert await play(RECORDING, [GO, *FIRST, *OUTPUTS]) == [
        TextDelta("Done."),
        BlockEnd(),
        Outcome("completed", usage=USAGE),
    ]
    replay = Replay(REF, RECORDING)
    assert (replay.ref, replay.context_window) == (REF, 1000)
    await replay.aclose()


async def test_a_turn_cut_by_the_output_limit_is_cut_again() -> None:
    image = user_image("https://example.com/a.png").payload
    payloads = [GO, *FIRST, *OUTPUTS, Text("assistant", "Done."), Text("user", "more"), image]
    assert (await play(RECORDING, payloads))[-1] == Outcome("completed", "output_limit", usage=USAGE)


@pytest.mark.parametrize(
    ("payloads", "message"),
    [
        ([Text("user", "hello")], "turn 1 was asked 'hello', the recording was asked 'go'"),
        ([], "turn 1 was asked nothing, the recording was asked 'go'"),
        ([GO, GO], "turn 1 was asked 'go' and 'go', the recording was asked 'go'"),
        ([GO, Text("assistant", "no"), GO], "turn 1 has another answer than the recording"),
        ([GO, *FIRST, OUTPUTS[0]], "turn 2 has the outputs of 'x', the recording has those of 'x' and 'y'"),
        ([GO, *FIRST, *OUTPUTS, GO], "turn 2 was asked 'go', the recording was asked nothing"),
        (
            [GO, *FIRST, *OUTPUTS, Text("assistant", "Done."), Text("user", "x" * 100)],
            f"turn 3 was asked '{'x' * 79}…', the recording was asked 'more' and 'https://example.com/a.png'",
        ),
    ],
)
async def test_a_conversation_that_leaves_the_recording_is_told_where(
    payloads: Sequence[CompletePayload], message: str
) -> None:
    assert await message_of(RECORDING, payloads) == message


async def test_a_recording_that_is_over_or_empty() -> None:
    short = [meta(), user_text("go"), *turn(assistant_text("Hi."))]
    payloads = [GO, Text("assistant", "Hi."), Text("user", "and?")]
    assert await message_of(short, payloads) == "the recording has no turn 2"
    assert await message_of([meta()], [GO]) == "the recording has no turn 1"
    assert await message_of([], [GO]) == "the recording has no turn 1"
    assert Replay(REF, []).context_window == 128_000
    assert (await play(short[1:], [GO]))[0] == TextDelta("Hi.")


async def test_failed_attempts_compactions_and_children_are_left_out() -> None:
    messages: list[OmniMessage] = [
        meta(),
        user_text("go"),
        request_begin(),
        assistant_text("Ha", stop_reason="retryable"),
        request_end("retryable", error_code="network"),
        with_origin(user_text("child"), "session-2026-12-01-09-00-00-00000001"),
        *turn(assistant_text("Hi.")),
        compaction_begin("manual", "summarize", context=10, turns=1),
        user_text("Summarize.", sender="harness"),
        *turn(assistant_text("[summary]x[/summary]")),
        compaction_end("manual", "summarize", "completed"),
    ]
    retried = Text("user", "[turn_retried]\nHa\n[/turn_retried]", sender="harness")
    assert (await play(messages, [GO, retried]))[0] == TextDelta("Hi.")
    payloads = [GO, retried, Text("assistant", "Hi."), Text("user", "Summarize.")]
    assert await message_of(messages, payloads) == "the recording has no turn 2"


async def test_each_later_meta_begins_a_context_of_its_own() -> None:
    messages: list[OmniMessage] = [
        meta(),
        user_text("go"),
        *turn(assistant_text("One.")),
        user_text("left over"),
        meta(2000),
        user_text("summary"),
        user_text("go on"),
        *turn(assistant_text("Two.")),
        user_text("again"),
        *turn(assistant_text("Three.")),
    ]
    second: list[CompletePayload] = [Text("user", "summary"), Text("user", "go on")]
    assert (await play(messages, [GO]))[0] == TextDelta("One.")
    assert (await play(messages, second))[0] == TextDelta("Two.")
    payloads = [*second, Text("assistant", "Two."), Text("user", "other")]
    assert await message_of(messages, payloads) == "turn 2 was asked 'other', the recording was asked 'again'"


async def test_an_estimated_usage_is_estimated_again() -> None:
    messages: list[OmniMessage] = [
        meta(),
        user_text("go"),
        request_begin(),
        assistant_text("Hi."),
        token_usage(USAGE, USAGE, estimated=True),
        request_end("completed"),
    ]
    assert (await play(messages, [GO]))[-1] == Outcome("completed")


async def test_a_delay_changes_nothing_but_the_time() -> None:
    replay = Replay(REF, RECORDING, delay=0.0001)
    assert [item async for item in replay.stream(Request("s", [GO]))] == await play(RECORDING, [GO])


def test_messages_are_read_once() -> None:
    texts: list[ModelMessage[Text]] = [user_text("go")]
    assert Replay(REF, iter(texts)).context_window == 128_000
