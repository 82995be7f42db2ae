"""What users get around the messages: builders, guards, the aggregator, the schema."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness import omnimessage as om
from penguin_harness.omnimessage import (
    Aggregator,
    CompletePayload,
    EventPayload,
    ModelMessage,
    OmniMessage,
    PartialPayload,
    TokenCounts,
    ToolSchema,
)

SESSION = "session-2026-12-01-09-00-00-0000000a"
TOKENS = TokenCounts.of(cache_read=1, cache_write=2, output=3)

BUILT: list[OmniMessage] = [
    om.session_meta(om.SessionMeta(SESSION, "p", "m", 1000, "prompt", "/state", "/work")),
    om.user_text("hi"),
    om.user_image("https://example.org/a.png"),
    om.inline_data("AAAA", "image/png"),
    om.assistant_text("yes", fidelity=b'{"a":1.0}'),
    om.thinking("hm"),
    om.inline_thinking("AAAA", "image/png"),
    om.tool_call("read_file", '{"path":"a"}', "c1"),
    om.tool_call_output("text", "c1", images=["data:image/png;base64,AAAA"]),
    om.partial_text("delta", "y"),
    om.partial_thinking("start"),
    om.partial_tool_call("delta", "read_file", "c1", "{"),
    om.partial_tool_call_output("stop", "c1", stop_reason="fatal"),
    om.tool_list_ready([ToolSchema("t", "does", om.opaque(b'{"type":"object"}'))]),
    om.mcp_connect_begin(["files"]),
    om.mcp_connect_end("completed", [om.McpResult("files", "stdio", "completed", 12, tools=3)]),
    om.request_begin(),
    om.request_end("retryable", error_code="network", error_message="reset", attempt=1, retry_in_ms=2000, usage=TOKENS),
    om.approval_decision("allow", "c1"),
    om.token_usage(TOKENS, TOKENS, estimated=True),
    om.compaction_begin("context", "summarize", context=5000, turns=3),
    om.compaction_end("context", "summarize", "completed", attempt=1),
    om.abort(),
    om.subagent(SESSION),
    om.hook("stop", "goal", decision="continue", reason="more to do", output={"round": 2}),
]


def test_there_is_a_builder_for_every_kind() -> None:
    built = {type(message.payload) for message in BUILT}
    assert built == {om.SessionMeta, *get_args(CompletePayload), *get_args(PartialPayload), *get_args(EventPayload)}


@pytest.mark.parametrize("message", BUILT, ids=lambda message: message.payload.type)
def test_built_messages_fit_the_schema(message: OmniMessage) -> None:
    jsonschema.validate(json.loads(om.encode(message)), om.json_schema())  # pyright: ignore[reportUnknownMemberType]
    assert om.decode(om.encode(message)) == message


@pytest.mark.parametrize("message", BUILT, ids=lambda message: message.payload.type)
def test_exactly_the_right_guards_answer(message: OmniMessage) -> None:
    kind = type(message.payload)
    assert om.is_session_meta(message) == (kind is om.SessionMeta)
    assert om.is_event_message(message) == (kind in get_args(EventPayload))
    assert om.is_partial(message) == (kind in get_args(PartialPayload))
    assert om.is_complete_model_message(message) == (kind in get_args(CompletePayload))
    assert om.is_model_message(message) == (om.is_partial(message) or om.is_complete_model_message(message))
    assert om.is_recorded(message) == (not om.is_partial(message))
    assert not om.is_recorded(om.with_origin(message, SESSION))


def test_builders_clean_what_is_not_unicode() -> None:
    assert om.user_text("a\ud83d b").payload.text == "a\ufffd b"
    assert om.tool_call_output("\udcb2", "c").payload.output == "\ufffd"


class Speaker:
    """One producer's segment, to be interleaved with others."""

    def __init__(self, origin: tuple[str, ...], call: str | None, pieces: list[str]) -> None:
        def fragment(kind: Any, piece: str = "") -> OmniMessage:
            built = om.partial_text(kind, piece) if call is None else om.partial_tool_call_output(kind, call, piece)
            return om.with_origin(built, origin)

        whole = "".join(pieces)
        self.messages = [fragment("start"), *(fragment("delta", piece) for piece in pieces), fragment("stop")]
        complete = om.assistant_text(whole) if call is None else om.tool_call_output(whole, call)
        self.complete = (origin or None, complete.payload)


@given(st.data())
def test_interleaved_producers_are_kept_apart(data: st.DataObject) -> None:
    pieces = st.lists(st.text(max_size=3), max_size=4)
    speakers = [
        Speaker(origin, call, data.draw(pieces))
        for origin in ((), (SESSION,), (SESSION, SESSION))
        for call in (None, "c1", "c2")
    ]
    queues = [list(speaker.messages) for speaker in speakers]
    aggregator = Aggregator()
    done: list[ModelMessage[CompletePayload]] = []
    while remaining := [queue for queue in queues if queue]:
        complete = aggregator.add(data.draw(st.sampled_from(remaining)).pop(0))
        done += [complete] if complete else []
    assert aggregator.open == ()
    found = [(message.origin, message.payload) for message in done]
    assert all(speaker.complete in found for speaker in speakers)
    assert len(found) == len(speakers)


def test_open_segments_show_what_came_so_far() -> None:
    """A client that joins in the middle sees the half-written answer."""
    aggregator = Aggregator()
    for message in (om.partial_text("delta", "half "), om.partial_text("delta", "an answer")):
        assert aggregator.add(message) is None
    assert [message.payload for message in aggregator.open] == [om.Text("assistant", "half an answer")]
