"""One encoder and one decoder: strict writing, tolerant reading, nothing opaque touched."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from penguin_harness.omnimessage import (
    Abort,
    ApprovalDecision,
    DecodeError,
    EventMessage,
    ModelMessage,
    OmniMessage,
    RequestEnd,
    SessionMetaMessage,
    Text,
    ToolCallOutput,
    UnknownMessage,
    decode,
    decode_lines,
    encode,
    forward,
    json_schema,
    opaque,
    user_text,
    with_origin,
)
from tests.strategies import messages, session_ids

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def line(payload: str, envelope: str = "model_msg") -> bytes:
    return f'{{"type":"{envelope}","timestamp":"2026-12-01T09:00:00.000Z","payload":{payload}}}'.encode()


@given(messages)
def test_what_is_written_reads_back_equal_on_one_line_in_the_schema(message: OmniMessage) -> None:
    encoded = encode(message)
    assert decode(encoded) == message
    assert encode(decode(encoded)) == encoded
    assert b"\n" not in encoded
    assert encoded.startswith(b'{"type":"' + message.type.encode() + b'","timestamp":"')
    VALIDATOR.validate(json.loads(encoded))  # pyright: ignore[reportUnknownMemberType]


@given(st.lists(messages, max_size=5))
def test_lines_decode_together_as_each_alone(sequence: list[OmniMessage]) -> None:
    block = b"".join(encode(message) + b"\n" for message in sequence)
    assert decode_lines(block) == sequence


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


@given(messages)
def test_any_key_order_and_unknown_fields_are_read(message: OmniMessage) -> None:
    envelope: dict[str, Any] = json.loads(encode(message))
    backwards: dict[str, Any] = {"~new": 1, **dict(reversed(envelope.items()))}
    backwards["payload"] = {"~new": [], **dict(reversed(envelope["payload"].items()))}
    assert decode(as_json(backwards)) == decode(as_json(envelope))


@given(messages, st.lists(session_ids, min_size=1, max_size=3))
def test_forwarding_a_line_equals_forwarding_its_message(message: OmniMessage, chain: list[str]) -> None:
    spliced = encode(message)
    for session_id in reversed(chain):
        spliced = forward(spliced, session_id)
    assert spliced == encode(with_origin(message, chain))


@pytest.mark.parametrize(
    "fidelity",
    [
        rb'{"b":1.0,"a":"\u00e9","z":1e5}',
        rb'{"n":1e400,"big":123456789012345678901234567890}',
        rb'{"a":1,"a":2,"deep":[[[[{}]]]],"s":"\ud83d\ude00 \\ud800"}',
        rb'{ "spaced" : [ 1 , 2 ] }',
    ],
)
def test_fidelity_keeps_its_bytes(fidelity: bytes) -> None:
    encoded = line('{"type":"thinking","role":"assistant","thinking":"","fidelity":' + fidelity.decode() + "}")
    assert b'"fidelity":' + fidelity in encode(decode(encoded))
    assert bytes(opaque(fidelity)) == fidelity


def test_fidelity_from_a_provider_is_one_line_of_valid_unicode() -> None:
    assert (
        bytes(opaque(b'{"a": "x\\ny",\r\n "b": "\\ud800 \\ud83d\\ude00"}'))
        == b'{"a":"x\\ny","b":"\\ufffd \\ud83d\\ude00"}'
    )


@pytest.mark.parametrize("bad", [b"[]", b"1", b"", b'{"a":', b"null", b'"x"'])
def test_fidelity_that_is_no_object_is_refused(bad: bytes) -> None:
    with pytest.raises(DecodeError, match="fidelity must be a JSON object"):
        opaque(bad)


@pytest.mark.parametrize(
    "raw",
    [
        line('{"type":"goal_finished","n":1.0, "x":"\\u00e9"}', "event_msg"),
        line('{"type":"partial_video","role":"assistant","frame":7}'),
        b'{"payload":{"anything":[1]},"timestamp":"2026-12-01T09:00:00.000Z","type":"metric_msg"}',
    ],
)
def test_unknown_kinds_are_kept_and_passed_on_unchanged(raw: bytes) -> None:
    message = decode(raw)
    assert isinstance(message, UnknownMessage)
    assert encode(message) == raw
    assert with_origin(message, "session-2026-12-01-09-00-00-00000001").line != raw


@pytest.mark.parametrize(
    "bad",
    [b"", b"[]", b"{", b"null", b'{"type":"model_msg"}', line("[]"), line("{}"), line('{"type":"text"}'), b"{" * 5000],
)
def test_what_is_no_message_says_where(bad: bytes) -> None:
    with pytest.raises(DecodeError, match=r"not an OmniMessage|not a valid text"):
        decode(bad)


def payload_of(raw: bytes) -> Any:
    return decode(raw).payload


def test_the_old_dialect_reads_as_today() -> None:
    old_text = line('{"type":"text","role":"assistant","text":"x","stop_reason":"malformed"}')
    assert payload_of(old_text) == Text("assistant", "x", stop_reason="retryable")
    old_output = line(
        '{"type":"tool_call_output","role":"user","output":"x","tool_call_id":"c","stop_reason":"failed"}'
    )
    assert payload_of(old_output) == ToolCallOutput("user", "x", "c", stop_reason="fatal")
    old_end = line('{"type":"request_end","status":"auth","error_message":"no"}', "event_msg")
    assert payload_of(old_end) == RequestEnd("fatal", "auth", "no")
    old_abort = line('{"type":"abort","reason":"by user"}', "event_msg")
    assert payload_of(old_abort) == Abort("user_abort", "by user")
    assert payload_of(line('{"type":"approval_decision","tool_call_id":"c"}', "event_msg")) == ApprovalDecision(
        "deny", "c"
    )


def test_the_old_dialect_keeps_fidelity_bytes() -> None:
    raw = line('{"type":"text","role":"assistant","text":"x","stop_reason":"timeout","fidelity":{"n":1.0,"e":1e5}}')
    assert encode(decode(raw)).endswith(b'"stop_reason":"retryable","fidelity":{"n":1.0,"e":1e5}}}')


def test_a_decimal_string_is_a_context_window() -> None:
    meta = decode(
        line(
            '{"session_id":"s","provider":"p","model_id":"m","model_context_window":"128000",'
            '"system_prompt":"","agent_state":"/a","workspace":"/w","tools":[]}',
            "session_meta",
        )
    )
    assert isinstance(meta, SessionMetaMessage)
    assert meta.payload.model_context_window == 128000
    assert meta.payload.source == "user"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud83d\ude00", "\U0001f600"),
        (r"a\ud83d b", "a\ufffd b"),
        (r"\udcb2", "\ufffd"),
        (r"\\ud800", "\\ud800"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_surrogates_are_joined_or_replaced(written: str, read: str) -> None:
    """B166, B167, B168: a lone half never stops a reader."""
    assert payload_of(line(f'{{"type":"text","role":"user","text":"{written}"}}')).text == read


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert payload_of(line('{"type":"text","role":"user","text":"a~b"}').replace(b"~", b"\xff")).text == "a\ufffdb"


def test_messages_are_values() -> None:
    first, second = user_text("hi"), user_text("hi")
    assert first.payload == second.payload
    with pytest.raises(AttributeError):
        first.payload.text = "other"  # type: ignore[misc]
    assert (first.type, first.payload.type) == ("model_msg", "text")


def test_raw_equality_is_by_bytes() -> None:
    def signed() -> Text:
        return Text("assistant", "", fidelity=Raw(b"{}"))

    assert ModelMessage("t", signed()) == ModelMessage("t", signed())
    assert EventMessage("t", Abort("user_abort")) != EventMessage("t", Abort("backoff_interrupted"))
    assert msgspec.json.decode(encode(user_text("x")))["payload"] == {"type": "text", "role": "user", "text": "x"}
