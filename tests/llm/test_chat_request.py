"""Payloads to the body of a Chat Completions request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from penguin_harness.contracts import ModelRef, Request, ThinkingLevel
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint, Quirks
from penguin_harness.llm.openai_chat import PROTOCOL
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    ToolSchema,
)

ENDPOINT = Endpoint(ModelRef("custom", "m"), "http://127.0.0.1:1/v1", 128_000)
REASONING = Raw(b'{"reasoning_field":"reasoning_content"}')


def user(text: str) -> Text:
    return Text("user", text)


def said(text: str) -> Text:
    return Text("assistant", text)


def calls(name: str, arguments: str = "{}", call_id: str = "c1", fidelity: bytes | None = None) -> ToolCall:
    call = ToolCall("assistant", name, arguments, call_id)
    return call if fidelity is None else msgspec.structs.replace(call, fidelity=Raw(fidelity))


def output(text: str, call_id: str = "c1", images: tuple[str, ...] | None = None) -> ToolCallOutput:
    return ToolCallOutput("user", text, call_id, images)


def wire(*payloads: CompletePayload, quirks: Quirks | None = None) -> list[dict[str, Any]]:
    endpoint = msgspec.structs.replace(ENDPOINT, quirks=quirks or Quirks())
    return msgspec.json.decode(b"[" + encoded(Conversation(PROTOCOL, endpoint), payloads) + b"]")


def encoded(conversation: Conversation, payloads: Sequence[CompletePayload]) -> bytes:
    return conversation.encode(Request("", payloads)).messages


def sent(request: Request, conversation: Conversation | None = None) -> bytes:
    return PROTOCOL.body(request, (conversation or Conversation(PROTOCOL, ENDPOINT)).encode(request), ENDPOINT)


def wire_call(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_whole_conversation() -> None:
    thinking = Thinking("assistant", "hm", fidelity=REASONING)
    assert wire(
        user("go"),
        user("now"),
        thinking,
        said("Let me "),
        said("see."),
        calls("a", '{"x": 1}'),
        calls("b", "", "c2"),
        output("one"),
        output("two", "c2"),
        said("Done."),
        user("thanks"),
    ) == [
        {"role": "user", "content": "go"},
        {"role": "user", "content": "now"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "reasoning_content": "hm",
            "tool_calls": [wire_call("a", '{"x": 1}', "c1"), wire_call("b", "{}", "c2")],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]


def test_the_body_holds_what_is_set_and_nothing_else() -> None:
    """B181: no tools key without tools."""
    assert msgspec.json.decode(sent(Request("  \n", [user("hi")]))) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_the_body_with_everything() -> None:
    schema = Raw(b'{"type":"object", "properties":{"n":{"minimum":1.0}}}')
    tools = (ToolSchema("a", "Does a.", schema), ToolSchema("b", "Does b."))
    raw = sent(Request("Be kind.", [user("hi")], tools, "max", 500))
    assert bytes(schema) in raw
    decoded = msgspec.json.decode(raw)
    assert decoded["messages"][0] == {"role": "system", "content": "Be kind."}
    assert [tool["function"]["name"] for tool in decoded["tools"]] == ["a", "b"]
    assert decoded["tools"][1]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert (decoded["max_tokens"], decoded["reasoning_effort"]) == (500, "high")


@pytest.mark.parametrize(
    ("level", "effort"),
    [(None, None), ("none", None), ("low", "low"), ("medium", "medium"), ("high", "high"), ("max", "high")],
)
def test_thinking_levels(level: ThinkingLevel | None, effort: str | None) -> None:
    decoded = msgspec.json.decode(sent(Request("", [user("hi")], thinking_level=level)))
    assert decoded.get("reasoning_effort") == effort


def test_b026_blank_text_is_never_sent() -> None:
    assert wire(user(" "), said("\n\n"), calls("a"), output(" \n"), user("\t")) == [
        {"role": "assistant", "content": None, "tool_calls": [wire_call("a", "{}", "c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "[no output]"},
    ]
    assert wire(user("hi"), said(" "), user("again")) == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "again"},
    ]


def test_b029_a_turn_of_calls_only_has_no_content() -> None:
    assert wire(calls("a"))[0]["content"] is None


def test_b034_reasoning_goes_back_under_the_name_it_came_with() -> None:
    under_reasoning = Thinking("assistant", "hm", fidelity=Raw(b'{"reasoning_field":"reasoning"}'))
    assert wire(under_reasoning, said("x"))[0]["reasoning"] == "hm"
    halves = [Thinking("assistant", half, fidelity=REASONING) for half in ("a", "b")]
    assert wire(halves[0], calls("a"), halves[1])[0]["reasoning_content"] == "ab"


@pytest.mark.parametrize(
    "thinking",
    [
        Thinking("assistant", "no field on record"),
        Thinking("assistant", "cut", "fatal", REASONING),
        Thinking("assistant", "foreign", fidelity=Raw(b'{"signature":"abc"}')),
        Thinking("assistant", "odd", fidelity=Raw(b'{"reasoning_field":7}')),
        Thinking("assistant", "dangerous", fidelity=Raw(b'{"reasoning_field":"role"}')),
        Thinking("assistant", " ", fidelity=REASONING),
        InlineThinking("assistant", "aGk=", "image/png"),
    ],
)
def test_b035_other_thinking_is_not_sent(thinking: Thinking | InlineThinking) -> None:
    assert wire(thinking, said("x")) == [{"role": "assistant", "content": "x"}]
    assert wire(thinking) == []


def test_structured_reasoning_goes_back_byte_for_byte() -> None:
    detail = b'{"type":"reasoning.text", "text":"\\u00e9", "signature":"s=="}'
    fidelity = Raw(b'{"reasoning_field":"reasoning","reasoning_details":[' + detail + b"]}")
    assert detail in sent(Request("", [Thinking("assistant", "é", fidelity=fidelity), calls("a")]))


def test_b041_a_calls_signature_goes_back_on_its_call() -> None:
    fidelity = b'{"extra_content":{"google": {"thought_signature":"s=="}}}'
    assert wire(calls("a", fidelity=fidelity))[0]["tool_calls"][0]["extra_content"] == {
        "google": {"thought_signature": "s=="}
    }
    assert "extra_content" not in wire(calls("a", fidelity=b'{"other":1}'))[0]["tool_calls"][0]


@pytest.mark.parametrize("arguments", ["", " ", '{"path": "a', "[1]", "null", "plain", "[" * 100_000])
def test_b067_and_b068_a_bad_call_can_still_be_sent(arguments: str) -> None:
    assert wire(calls("a", arguments))[0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_b167_escapes_in_arguments_name_whole_characters() -> None:
    arguments = r'{"t":"\ud83c\udf78 \ud83c"}'
    sent_arguments = wire(calls("a", arguments))[0]["tool_calls"][0]["function"]["arguments"]
    assert sent_arguments == r'{"t":"\ud83c\udf78 \ufffd"}'
    assert msgspec.json.decode(sent_arguments) == {"t": "🍸 \ufffd"}


def test_a_name_that_no_endpoint_accepts_is_mended() -> None:
    names = [call["function"]["name"] for call in wire(calls("a b/ü"), calls(""), calls("x" * 80))[0]["tool_calls"]]
    assert names == ["a_b__", "unknown", "x" * 64]


def test_ids_go_out_as_the_provider_gave_them() -> None:
    assert wire(calls("a", "{}", "search:0#2"), calls("a", "{}", "x#7#1"), output("r", "search:0#2"))[0][
        "tool_calls"
    ] == [wire_call("a", "{}", "search:0"), wire_call("a", "{}", "x#7")]
    assert wire(output("r", "search:0#2"))[0]["tool_call_id"] == "search:0"


def test_images_of_outputs_follow_the_whole_batch() -> None:
    png = "data:image/png;base64,aGk="
    assert wire(calls("a"), calls("b", "{}", "c2"), output("one", images=(png,)), output("two", "c2"))[1:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": png}}]},
    ]


def test_images_and_data_of_the_user() -> None:
    assert wire(
        ImageUrl("user", "https://example.com/a.png"),
        InlineData("user", "aGk=", "image/png"),
        InlineData("user", "aGk=", "application/pdf"),
        InlineData("assistant", "aGk=", "image/png"),
    ) == [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
        {"role": "user", "content": "[application/pdf data, 3 bytes, cannot be shown here]"},
        {"role": "assistant", "content": "[image/png data, 3 bytes, cannot be shown here]"},
    ]


turns = st.lists(
    st.sampled_from(["user", "image", "text", "think", "calls", "blank"]), min_size=1, max_size=12
)  # fmt: skip


def conversation(kinds: Sequence[str]) -> list[list[CompletePayload]]:
    """Steps that each end a turn's input, as requests do."""
    steps: list[list[CompletePayload]] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "user":
                steps.append([user(f"u{number}")])
            case "image":
                steps.append([ImageUrl("user", f"https://example.com/{number}")])
            case "text":
                steps.append([said(f"t{number}"), user("next")])
            case "think":
                steps.append([Thinking("assistant", f"h{number}", fidelity=REASONING), said("x"), user("next")])
            case "calls":
                ids = [f"{number}a", f"{number}b"]
                outputs = [output("r", call_id, ("data:image/png;base64,aGk=",)) for call_id in ids]
                steps.append([*(calls("f", "{}", call_id) for call_id in ids), *outputs])
            case _:
                steps.append([said(" "), user(" ")])
    return steps


@given(turns)
def test_b182_each_request_begins_with_the_one_before(kinds: Sequence[str]) -> None:
    """And the cache gives what a fresh encoding gives."""
    kept, payloads, before = Conversation(PROTOCOL, ENDPOINT), list[CompletePayload](), b""
    tools = (ToolSchema("f", "F."),)
    for step in conversation(kinds):
        payloads += step
        now = sent(Request("s", payloads, tools), kept)
        assert now == sent(Request("s", payloads, tools))
        assert now.startswith(before)
        before = now.removesuffix(b"]}")


@given(turns, st.data())
def test_the_cache_follows_any_change_of_the_conversation(kinds: Sequence[str], data: st.DataObject) -> None:
    """Retries append what a later request leaves out; another session shares the adapter."""
    kept = Conversation(PROTOCOL, ENDPOINT)
    pool = [payload for step in conversation(kinds) for payload in step]
    for _ in range(4):
        length = data.draw(st.integers(0, len(pool)))
        payloads = pool[:length] + data.draw(st.lists(st.sampled_from(pool), max_size=3))
        assert encoded(kept, payloads) == encoded(Conversation(PROTOCOL, ENDPOINT), payloads)


def test_what_was_encoded_is_not_encoded_again() -> None:
    runs: list[int] = []

    def counted(
        run: Sequence[CompletePayload], before: Sequence[CompletePayload], endpoint: Endpoint
    ) -> Iterator[bytes]:
        runs.append(len(run))
        return PROTOCOL.messages(run, before, endpoint)

    kept = Conversation(msgspec.structs.replace(PROTOCOL, messages=counted), ENDPOINT)
    payloads = [payload for step in conversation(["calls"] * 50) for payload in step]
    encoded(kept, payloads)
    assert sum(runs) == len(payloads)
    runs.clear()
    encoded(kept, [*payloads, user("more")])
    assert runs == [3]  # the outputs that were last, and the new text


@pytest.mark.parametrize(
    "payload", [msgspec.structs.replace(ImageUrl("user", "u"), role="assistant"), Thinking("user", "x")]  # type: ignore[arg-type]
)  # fmt: skip
def test_a_payload_in_the_wrong_mouth_is_a_programming_error(payload: CompletePayload) -> None:
    with pytest.raises(TypeError, match="cannot be the"):
        wire(payload)
