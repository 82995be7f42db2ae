"""Payloads to the body of an Anthropic Messages request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from penguin_harness.contracts import ModelRef, Request, ThinkingLevel
from penguin_harness.llm.anthropic import PROTOCOL
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint, Quirks
from penguin_harness.llm.endpoint import Thinking as ThinkingControl
from penguin_harness.llm.notes import NO_IMAGE
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

ENDPOINT = Endpoint(ModelRef("custom", "m"), "http://127.0.0.1:1", 200_000)
SIGNED = Raw(b'{"signature":"s=="}')
PNG = "data:image/png;base64,aGk="


def user(text: str) -> Text:
    return Text("user", text)


def said(text: str) -> Text:
    return Text("assistant", text)


def thought(text: str, fidelity: bytes = b'{"signature":"s=="}') -> Thinking:
    return Thinking("assistant", text, fidelity=Raw(fidelity))


def calls(name: str, arguments: str = "{}", call_id: str = "c1") -> ToolCall:
    return ToolCall("assistant", name, arguments, call_id)


def output(text: str, call_id: str = "c1", images: tuple[str, ...] | None = None) -> ToolCallOutput:
    return ToolCallOutput("user", text, call_id, images)


def sent(request: Request, endpoint: Endpoint = ENDPOINT, kept: Conversation | None = None) -> bytes:
    return PROTOCOL.body(request, (kept or Conversation(PROTOCOL, endpoint)).encode(request), endpoint)


def body(request: Request, endpoint: Endpoint = ENDPOINT) -> dict[str, Any]:
    return msgspec.json.decode(sent(request, endpoint))


def wire(*payloads: CompletePayload, **quirks: Any) -> list[dict[str, Any]]:
    endpoint = replace(ENDPOINT, quirks=Quirks(**quirks))
    return body(Request("", payloads), endpoint)["messages"]


def test_b030_a_whole_conversation_keeps_its_blocks_in_their_order() -> None:
    assert wire(
        user("go"),
        user("now"),
        thought("First."),
        calls("a", '{"x": 1}'),
        thought("Second.", b'{"signature":"t=="}'),
        calls("b", "", "c2"),
        output("one"),
        output("two", "c2"),
        user("also"),
        said("Done."),
    ) == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "user", "content": [{"type": "text", "text": "now"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "First.", "signature": "s=="},
                {"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1}},
                {"type": "thinking", "thinking": "Second.", "signature": "t=="},
                {"type": "tool_use", "id": "c2", "name": "b", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "also"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]


def test_b180_where_sides_must_take_turns_neighbours_are_merged() -> None:
    roles = [message["role"] for message in wire(calls("a"), output("r"), user("x"), user("y"), strict_roles=True)]
    assert roles == ["assistant", "user"]


def test_the_body_holds_what_is_set_and_nothing_else() -> None:
    assert body(Request(" ", (user("hi"),))) == {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "max_tokens": 32_000,
        "cache_control": {"type": "ephemeral"},
    }


def test_the_cache_is_asked_for_outside_the_messages_and_not_where_it_is_refused() -> None:
    request = Request("Be kind.", (user("hi"),))
    assert body(request)["system"] == [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
    plain = body(request, replace(ENDPOINT, quirks=Quirks(cache=False)))
    assert (plain["system"], "cache_control" in plain) == ([{"type": "text", "text": "Be kind."}], False)


@pytest.mark.parametrize(
    ("control", "level", "expected"),
    [
        (ThinkingControl(), None, {}),
        (ThinkingControl(), "none", {}),
        (ThinkingControl(), "low", {"thinking": {"type": "enabled", "budget_tokens": 4_096}}),
        (ThinkingControl(), "max", {"thinking": {"type": "enabled", "budget_tokens": 30_976}}),
        (
            ThinkingControl("budget", {"high": 2_000}),
            "high",
            {"thinking": {"type": "enabled", "budget_tokens": 2_000}},
        ),
        (ThinkingControl("budget", {"low": 1_000}), "low", {}),
        (
            ThinkingControl("adaptive"),
            "max",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}},
        ),
        (ThinkingControl("adaptive", {"none": "between_tools"}), "none", {"thinking": {"type": "between_tools"}}),
        (ThinkingControl("adaptive"), "none", {}),
        (ThinkingControl("effort", {"low": "low"}), "low", {"output_config": {"effort": "low"}}),
        (ThinkingControl("switch"), "none", {"thinking": {"type": "disabled"}}),
        (ThinkingControl("none"), "high", {}),
    ],
)
def test_thinking_levels(control: ThinkingControl, level: ThinkingLevel | None, expected: dict[str, Any]) -> None:
    asked = body(Request("", (user("hi"),), thinking_level=level), replace(ENDPOINT, thinking=control))
    assert {key: asked[key] for key in ("thinking", "output_config") if key in asked} == expected


@pytest.mark.parametrize(
    ("history", "thinks"),
    [
        ((user("go"), calls("a"), output("r")), False),
        ((user("go"), said("So"), calls("a"), output("r"), user("steer")), False),
        ((user("go"), Thinking("assistant", "unsigned"), calls("a"), output("r")), False),
        ((user("go"), thought("Hm."), calls("a"), output("r")), True),
        ((user("go"), thought("Hm."), calls("a"), output("r"), calls("b", "{}", "c2"), output("r", "c2")), True),
        ((user("go"), calls("a"), output("r"), said("Done."), user("next")), True),
    ],
)
def test_b033_a_loop_that_began_without_thinking_goes_on_without_it(
    history: Sequence[CompletePayload], thinks: bool
) -> None:
    assert ("thinking" in body(Request("", history, thinking_level="high"))) == thinks


def test_a_forced_call_rules_out_thinking() -> None:
    tools = (ToolSchema("a", "Does a."),)
    forced = body(Request("", (user("hi"),), tools, "high", tool_choice="a"))
    assert (forced["tool_choice"], "thinking" in forced) == ({"type": "tool", "name": "a"}, False)
    assert body(Request("", (user("hi"),), tools, tool_choice="required"))["tool_choice"] == {"type": "any"}
    assert body(Request("", (user("hi"),), tools, "high", tool_choice="none"))["tool_choice"] == {"type": "none"}


def test_tools_with_and_without_words() -> None:
    schema = Raw(b'{"type":"object", "properties":{"n":{"minimum":1.0}}}')
    request = Request("", (user("hi"),), (ToolSchema("a", "Does a.", schema), ToolSchema("b", " ")))
    assert bytes(schema) in sent(request)
    assert body(request)["tools"][1] == {"name": "b", "input_schema": {"type": "object", "properties": {}}}


def test_tools_that_are_gone_are_defined_as_long_as_their_calls_are_told() -> None:
    told = body(Request("", (user("go"), calls("a"), output("r"), user("on"))))
    assert [tool["name"] for tool in told["tools"]] == ["a"]


@pytest.mark.parametrize(
    "thinking",
    [
        Thinking("assistant", "no signature"),
        Thinking("assistant", "cut", "fatal", SIGNED),
        Thinking("assistant", "foreign", fidelity=Raw(b'{"reasoning_field":"reasoning"}')),
        Thinking("assistant", "odd", fidelity=Raw(b'{"block":7}')),
        InlineThinking("assistant", "aGk=", "image/png"),
    ],
)
def test_b031_b035_other_thinking_is_not_sent(thinking: Thinking | InlineThinking) -> None:
    assert wire(thinking, said("x")) == [{"role": "assistant", "content": [{"type": "text", "text": "x"}]}]
    assert PROTOCOL.keeps(Thinking("assistant", "x", fidelity=SIGNED))
    assert PROTOCOL.keeps(thinking) == (isinstance(thinking, Thinking) and thinking.thinking in ("no signature", "cut"))


def test_a_message_does_not_end_in_thinking() -> None:
    assert wire(said("x"), thought("Trailing."), said(" "), user("hi"))[0]["content"] == [{"type": "text", "text": "x"}]
    assert wire(thought("Alone."), user("hi")) == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


def test_blocks_that_nobody_can_read_go_back_whole() -> None:
    block = b'{"type":"redacted_thinking", "data":"d==","x":1.0}'
    assert block in sent(
        Request("", (Thinking("assistant", "", fidelity=Raw(b'{"redacted_thinking":%b}' % block)), said("x")))
    )
    unsigned = Raw(b'{"block":{}}')
    assert wire(Thinking("assistant", "Hm.", fidelity=unsigned), said("x"))[0]["content"][0] == {
        "type": "thinking",
        "thinking": "Hm.",
    }


def test_b026_blank_text_is_never_sent() -> None:
    assert wire(user(" "), said("\n\n"), calls("a"), output(" \n"), user("\t")) == [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "[no output]"}]},
    ]


@pytest.mark.parametrize("arguments", ["", " ", '{"path": "a', "[1]", "null", "not json"])
def test_b069_a_bad_call_can_still_be_sent(arguments: str) -> None:
    assert wire(calls("a", arguments))[0]["content"][0]["input"] == {}


def test_the_arguments_go_back_as_the_model_wrote_them() -> None:
    written = '{"b": 1.0, "a": [1e400,  "\\u00e9"], "b": 2}'
    assert f'"input":{written}'.encode() in sent(Request("", (calls("a", written),)))


def test_ids_are_unique_and_of_allowed_characters() -> None:
    payloads = [calls("a", "{}", call_id) for call_id in ("toolu_1", "search:0", "search:0#2", "search_0", "x" * 80)]
    ids = [block["id"] for block in wire(*payloads)[0]["content"]]
    assert ids[0] == "toolu_1"
    assert len(set(ids)) == 5
    assert all(len(one) <= 64 and one.replace("_", "").replace("-", "").isalnum() for one in ids)
    assert wire(output("r", "search:0#2"))[0]["content"][0]["tool_use_id"] == ids[2]


def test_images_data_and_errors() -> None:
    failed = replace(output("boom", images=(PNG,)), stop_reason="fatal")
    assert wire(output("one", "c1", (PNG,)), failed)[0]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            ],
        },
        {"type": "tool_result", "tool_use_id": "c1", "content": f"boom\n{NO_IMAGE}", "is_error": True},
    ]
    shown = [
        ImageUrl("user", "https://example.com/a.png"),
        InlineData("user", "aGk=", "image/png"),
        InlineData("user", "aGk=", "application/pdf"),
        InlineData("user", "aGk=", "audio/wav"),
    ]
    kinds = [message["content"][0]["type"] for message in wire(*shown)]
    assert kinds == ["image", "image", "document", "text"]
    unseen = wire(*shown[:2], output("one", "c1", (PNG,)), images=False)
    assert str(unseen).count(NO_IMAGE) == 3
    assert wire(InlineData("assistant", "aGk=", "image/png"))[0]["content"][0]["type"] == "text"


@pytest.mark.parametrize(
    "payload", [replace(ImageUrl("user", "u"), role="assistant"), Thinking("user", "x")]  # type: ignore[arg-type]
)  # fmt: skip
def test_a_payload_in_the_wrong_mouth_is_a_programming_error(payload: CompletePayload) -> None:
    with pytest.raises(TypeError, match="cannot be the"):
        wire(payload)


steps = st.sampled_from(["user", "image", "text", "think", "calls", "blank"])


def conversation(kinds: Sequence[str]) -> list[list[CompletePayload]]:
    """Steps that each end a turn's input, as requests do."""
    made: list[list[CompletePayload]] = []
    for n, kind in enumerate(kinds):
        match kind:
            case "user":
                made.append([user(f"u{n}")])
            case "image":
                made.append([ImageUrl("user", f"https://example.com/{n}")])
            case "text":
                made.append([said(f"t{n}"), user("next")])
            case "think":
                made.append([thought(f"h{n}"), said("x"), user("next")])
            case "calls":
                ids = [f"{n}{one}" for one in "ab"]
                outputs = [output("r", one, (PNG,)) for one in ids]
                made.append([*(calls("f", "{}", one) for one in ids), *outputs])
            case _:
                made.append([said(" "), user(" ")])
    return made


@given(st.lists(steps, min_size=1, max_size=12))
def test_b182_each_request_begins_with_the_one_before(kinds: Sequence[str]) -> None:
    """And the cache gives what a fresh encoding gives."""
    kept, payloads, before = Conversation(PROTOCOL, ENDPOINT), list[CompletePayload](), b""
    tools = (ToolSchema("f", "F."),)
    for step in conversation(kinds):
        payloads += step
        request = Request("s", payloads, tools)
        now = sent(request, ENDPOINT, kept)
        assert now == sent(request)
        assert now.startswith(before)
        before = now[: now.rindex(b'],"max_tokens"')]


def test_the_address_is_found_whatever_the_base_url_says() -> None:
    for base in ("https://a.example", "https://a.example/v1", "https://a.example/v1/messages", "https://a.example/"):
        assert PROTOCOL.url(replace(ENDPOINT, base_url=base)) == "https://a.example/v1/messages"
    assert PROTOCOL.url(replace(ENDPOINT, base_url="https://a.example/anthropic")).endswith("/anthropic/v1/messages")


def test_the_key_and_the_version_are_presented() -> None:
    assert PROTOCOL.headers(ENDPOINT) == {"anthropic-version": "2023-06-01"}
    keyed = replace(ENDPOINT, api_key="k", thinking=ThinkingControl("budget"))
    assert PROTOCOL.headers(keyed) == {
        "anthropic-version": "2023-06-01",
        "x-api-key": "k",
        "anthropic-beta": "interleaved-thinking-2025-05-14",
    }
