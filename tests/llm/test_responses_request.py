"""Payloads to the body of a Responses request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw
from msgspec.structs import replace

from penguin_harness.contracts import Request, ThinkingLevel
from penguin_harness.engine.call_ids import CallIds
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Quirks
from penguin_harness.llm.endpoint import Thinking as ThinkingControl
from penguin_harness.llm.notes import NO_IMAGE
from penguin_harness.llm.openai_responses import PROTOCOL
from penguin_harness.llm.openai_responses.items import call_id
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
from tests.llm.responses import ENDPOINT, items, sent

PNG = "data:image/png;base64,aGk="
SEALED = Raw(b'{"reasoning":{"summary":[],"encrypted_content":"e=="}}')
IMAGE = {"type": "input_image", "image_url": PNG, "detail": "auto"}
TOOLS = (ToolSchema("a", "Does a."),)


def user(text: str) -> Text:
    return Text("user", text)


def said(text: str, fidelity: bytes | None = None) -> Text:
    return Text("assistant", text, fidelity=UNSET if fidelity is None else Raw(fidelity))


def thought(text: str = "", fidelity: Raw = SEALED) -> Thinking:
    return Thinking("assistant", text, fidelity=fidelity)


def calls(name: str, arguments: str = "{}", tool_call_id: str = "c1", fidelity: bytes | None = None) -> ToolCall:
    kept = UNSET if fidelity is None else Raw(fidelity)
    return ToolCall("assistant", name, arguments, tool_call_id, fidelity=kept)


def output(text: str, tool_call_id: str = "c1", images: tuple[str, ...] | None = None) -> ToolCallOutput:
    return ToolCallOutput("user", text, tool_call_id, images)


def quirky(**quirks: Any) -> Any:
    return replace(ENDPOINT, quirks=Quirks(**quirks))


def wire_user(*parts: object) -> dict[str, Any]:
    content = [{"type": "input_text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": "message", "role": "user", "content": content}


def wire_said(text: str, **more: object) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **more}


def wire_call(name: str, arguments: str = "{}", call_id: str = "c1", **more: object) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def wire_output(output: object, call_id: str = "c1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def test_a_whole_conversation_keeps_its_order() -> None:
    assert items(
        user("go"),
        user("now"),
        thought("Hm."),
        said("Let me ", b'{"message":{"phase":"commentary"}}'),
        said("see."),
        calls("a", '{"x": 1}'),
        thought("So."),
        calls("b", "", "c2"),
        output("one"),
        output("two", "c2"),
        said("Done."),
        user("thanks"),
    ) == [
        wire_user("go"),
        wire_user("now"),
        {"type": "reasoning", "summary": [], "encrypted_content": "e=="},
        wire_said("Let me ", phase="commentary"),
        wire_said("see."),
        wire_call("a", '{"x": 1}'),
        {"type": "reasoning", "summary": [], "encrypted_content": "e=="},
        wire_call("b", "{}", "c2"),
        wire_output("one"),
        wire_output("two", "c2"),
        wire_said("Done."),
        wire_user("thanks"),
    ]


@pytest.mark.parametrize("level", [None, "none"])
def test_b039_b181_the_body_holds_what_is_set_and_nothing_else(level: ThinkingLevel | None) -> None:
    assert msgspec.json.decode(sent(Request("  \n", [user("hi")], tool_choice="required", thinking_level=level))) == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [wire_user("hi")],
    }


def test_the_body_with_everything() -> None:
    schema = Raw(b'{"type":"object", "properties":{"n":{"minimum":1.0}}}')
    tools = (ToolSchema("a", "Does a.", schema), ToolSchema("b", "Does b."))
    raw = sent(Request("Be kind.", [user("hi")], tools, "max", 500, "a"))
    assert bytes(schema) in raw
    decoded = msgspec.json.decode(raw)
    assert list(decoded) == [
        *("model", "stream", "store", "include", "instructions", "tools", "input"),
        *("reasoning", "max_output_tokens", "tool_choice"),
    ]
    assert decoded["instructions"] == "Be kind."
    assert decoded["tools"][1] == {
        "type": "function",
        "name": "b",
        "description": "Does b.",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    assert decoded["reasoning"] == {"effort": "high", "summary": "auto"}
    assert decoded["max_output_tokens"] == 500
    assert decoded["tool_choice"] == {"type": "function", "name": "a"}


@pytest.mark.parametrize(("choice", "wire"), [("auto", None), ("none", "none"), ("required", "required")])
def test_tool_choices(choice: str, wire: str | None) -> None:
    assert msgspec.json.decode(sent(Request("", [user("hi")], TOOLS, tool_choice=choice))).get("tool_choice") == wire


def test_the_output_limit_is_one_that_the_vendor_takes() -> None:
    limits = [msgspec.json.decode(sent(Request("", [user("hi")], max_output_tokens=limit))) for limit in (3, 16, 99)]
    assert [body["max_output_tokens"] for body in limits] == [16, 16, 99]


SOME = ThinkingControl("effort", {"none": "none", "low": "minimal", "max": "xhigh"})
BUDGET = ThinkingControl("budget", {"low": 1024})


@pytest.mark.parametrize(
    ("control", "level", "reasoning"),
    [
        (ThinkingControl(), "low", {"effort": "low", "summary": "auto"}),
        (ThinkingControl(), "max", {"effort": "high", "summary": "auto"}),
        (ThinkingControl(), "none", None),
        (SOME, None, None),
        (SOME, "none", {"effort": "none"}),
        (SOME, "low", {"effort": "minimal", "summary": "auto"}),
        (SOME, "high", None),
        (SOME, "max", {"effort": "xhigh", "summary": "auto"}),
        (BUDGET, "low", None),
        (ThinkingControl("none"), "high", None),
    ],
)
def test_thinking_levels(control: ThinkingControl, level: ThinkingLevel | None, reasoning: object) -> None:
    request = Request("", [user("hi")], thinking_level=level)
    assert msgspec.json.decode(sent(request, replace(ENDPOINT, thinking=control))).get("reasoning") == reasoning
    refused = replace(quirky(thinking=False), thinking=control)
    assert "reasoning" not in msgspec.json.decode(sent(request, refused))


def test_a_model_that_cannot_reason_is_not_asked_for_reasoning() -> None:
    body = msgspec.json.decode(sent(Request("", [user("hi")]), replace(ENDPOINT, thinking=ThinkingControl("none"))))
    assert "include" not in body


def test_b026_blank_text_is_never_sent() -> None:
    assert items(user(" "), said("\n\n"), calls("a"), output(" \n"), user("\t")) == [
        wire_call("a"),
        wire_output("[no output]"),
    ]
    assert items(user("hi"), said(" "), user("\u200b"), user("again")) == [wire_user("hi"), wire_user("again")]


@pytest.mark.parametrize(
    "thinking",
    [
        Thinking("assistant", "nothing on record"),
        Thinking("assistant", "foreign", fidelity=Raw(b'{"signature":"abc"}')),
        Thinking("assistant", "of chat", fidelity=Raw(b'{"reasoning_field":"reasoning"}')),
        Thinking("assistant", "odd", fidelity=Raw(b'{"reasoning":7}')),
        thought("a summary alone", Raw(b'{"reasoning":{"summary":[{"type":"summary_text","text":"a"}]}}')),
        thought("empty", Raw(b'{"reasoning":{"summary":[],"encrypted_content":"","content":[ ]}}')),
        InlineThinking("assistant", "aGk=", "image/png"),
    ],
)
def test_b032_b035_b043_other_thinking_is_not_sent(thinking: Thinking | InlineThinking) -> None:
    assert items(thinking, said("x")) == [wire_said("x")]
    assert not PROTOCOL.keeps(thinking)


def test_b031_what_was_cut_is_not_sent_as_signed() -> None:
    assert items(replace(thought("cut"), stop_reason="fatal"), said("x")) == [wire_said("x")]
    half = replace(said("half", b'{"message":{"phase":"commentary"}}'), stop_reason="fatal")
    assert items(half) == [wire_said("half")]


def test_b035_reasoning_is_left_out_where_it_is_refused() -> None:
    assert items(thought(), said("x"), endpoint=quirky(reasoning="never")) == [wire_said("x")]


def test_readable_reasoning_goes_back_where_it_came_from() -> None:
    content = [{"type": "reasoning_text", "text": "Hm."}]
    kept = thought("Hm.", Raw(msgspec.json.encode({"reasoning": {"content": content}})))
    assert items(kept, said("x"))[0] == {"type": "reasoning", "summary": [], "content": content}
    assert PROTOCOL.keeps(kept)


@pytest.mark.parametrize("behind", [[], [said(" ")], [thought("and more")], [user("hi")]])
def test_reasoning_that_led_to_nothing_is_refused_and_not_sent(behind: Sequence[CompletePayload]) -> None:
    assert [item["type"] for item in items(said("x"), thought("trailing"), *behind)][:2] == ["message"] + [
        "message" for payload in behind if payload == user("hi")
    ]


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        (user("x"), True),
        (said("x"), True),
        (said("x", b'{"message":{}}'), True),
        (said("x", b'{"part":{"thoughtSignature":"s"}}'), False),
        (calls("a"), True),
        (calls("a", fidelity=b'{"call":{"namespace":"n"}}'), True),
        (calls("a", fidelity=b'{"extra_content":{}}'), False),
        (thought("x"), True),
        (InlineData("assistant", "aGk=", "image/png", fidelity=Raw(b"{}")), False),
        (output("r"), True),
    ],
)
def test_what_another_protocol_signed_is_told(payload: CompletePayload, kept: bool) -> None:
    assert PROTOCOL.keeps(payload) is kept


@pytest.mark.parametrize("arguments", ["", " ", '{"path": "a', "[1]", "null", "plain", "[" * 100_000])
def test_b067_to_b069_a_bad_call_can_still_be_sent(arguments: str) -> None:
    assert items(calls("a", arguments)) == [wire_call("a", "{}")]


def test_b071_arguments_go_back_as_the_model_wrote_them() -> None:
    written = '{"b": 1.0, "a": [1e400,  "\\u00e9"], "b": 2}'
    assert items(calls("a", written)) == [wire_call("a", written)]


def test_a_calls_unknown_members_go_back_on_it() -> None:
    kept = b'{"call":{"namespace":"n","caller":{"type": "direct"}}}'
    assert items(calls("a", fidelity=kept)) == [wire_call("a", namespace="n", caller={"type": "direct"})]


def test_a_name_that_no_endpoint_accepts_is_mended() -> None:
    names = [item["name"] for item in items(calls("a b/ü"), calls(""), calls("x" * 80))]
    assert names == ["a_b__", "unknown", "x" * 64]


def test_b013_b016_ids_are_unique_and_the_first_of_each_is_the_providers() -> None:
    theirs = [call_id(one) for one in ("terminal:0", "terminal:0#2", "terminal:0#3", "x#7#1", "x#7", "x" * 80, "ü")]
    assert len(set(theirs)) == len(theirs)
    assert (theirs[0], theirs[3]) == ("terminal:0", "x#7")
    assert all(len(one) <= 64 and one.isascii() for one in theirs)
    assert items(output("r", "terminal:0#2")) == [wire_output("r", theirs[1])]


@given(st.lists(st.sampled_from(["a", "a#1", "a#2", "a#2#1", "é", "é#2", "x" * 80, ""]) | st.text("a#12 é")))
def test_b016_no_two_calls_share_an_id(provided: list[str]) -> None:
    """Whatever the provider calls them: the engine tells them apart, and so does the request."""
    engine = CallIds(frozenset())
    assert len({call_id(engine.assign(one)) for one in provided}) == len(provided)


def test_b164_b165_images_stand_where_they_were_shown() -> None:
    shown = (
        ImageUrl("user", "https://example.com/a.png"),
        InlineData("user", "aGk=", "image/png"),
        InlineData("user", "aGk=", "application/pdf"),
        InlineData("user", "aGk=", "audio/wav"),
    )
    file = {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,aGk="}
    assert items(calls("a"), output("one", images=(PNG,)), *shown)[1:] == [
        wire_output([{"type": "input_text", "text": "one"}, IMAGE]),
        wire_user({**IMAGE, "image_url": "https://example.com/a.png"}),
        wire_user(IMAGE),
        wire_user(file),
        wire_user("[audio/wav data, 3 bytes, cannot be shown here]"),
    ]
    assert items(calls("a"), output("one", images=(PNG, PNG)), *shown[:2], endpoint=quirky(images=False))[1:] == [
        wire_output(f"one\n{NO_IMAGE}\n{NO_IMAGE}"),
        wire_user(NO_IMAGE),
        wire_user(NO_IMAGE),
    ]
    assert items(InlineData("assistant", "aGk=", "image/png")) == [
        wire_said("[image/png data, 3 bytes, cannot be shown here]")
    ]


def test_b180_neighbours_of_the_user_are_merged_where_sides_take_turns() -> None:
    given_ = [calls("a"), output("r"), user("one"), ImageUrl("user", PNG), user("two")]
    assert items(*given_, endpoint=quirky(strict_roles=True))[1:] == [
        wire_output("r"),
        wire_user("one", IMAGE, "two"),
    ]


def test_outputs_of_a_batch_stand_together_and_first() -> None:
    kinds = [
        item["type"] for item in items(calls("a"), calls("b", "{}", "c2"), output("1"), user("x"), output("2", "c2"))
    ]
    assert kinds == ["function_call", "function_call", "function_call_output", "function_call_output", "message"]


steps = st.lists(st.sampled_from(["user", "image", "text", "think", "calls", "blank"]), min_size=1, max_size=12)


def conversation(kinds: Sequence[str]) -> list[list[CompletePayload]]:
    """Steps that each end a turn's input, as requests do."""
    made: dict[str, Callable[[int], list[CompletePayload]]] = {
        "user": lambda n: [user(f"u{n}")],
        "image": lambda n: [ImageUrl("user", f"https://example.com/{n}")],
        "text": lambda n: [said(f"t{n}", b'{"message":{"phase":"final_answer"}}'), user("next")],
        "think": lambda n: [thought(f"h{n}"), said("x"), user("next")],
        "calls": lambda n: [
            thought(),
            *(calls("f", "{}", f"{n}{one}") for one in "ab"),
            *(output("r", f"{n}{one}", (PNG,)) for one in "ab"),
        ],
        "blank": lambda n: [said(" "), user(" ")],
    }
    return [made[kind](number) for number, kind in enumerate(kinds)]


@given(steps)
def test_b182_each_request_begins_with_the_one_before(kinds: Sequence[str]) -> None:
    """And the cache gives what a fresh encoding gives."""
    kept, payloads, before = Conversation(PROTOCOL, ENDPOINT), list[CompletePayload](), b""
    for step in conversation(kinds):
        payloads += step
        request = Request("s", payloads, TOOLS, "high", 1000)
        now = sent(request, ENDPOINT, kept)
        assert now == sent(request)
        assert now.startswith(before)
        before = now[: now.rindex(b'],"reasoning"')]


@given(steps, st.data())
def test_the_cache_follows_any_change_of_the_conversation(kinds: Sequence[str], data: st.DataObject) -> None:
    kept = Conversation(PROTOCOL, ENDPOINT)
    pool = [payload for step in conversation(kinds) for payload in step]
    for _ in range(4):
        payloads = pool[: data.draw(st.integers(0, len(pool)))] + data.draw(st.lists(st.sampled_from(pool), max_size=3))
        request = Request("", payloads)
        assert sent(request, ENDPOINT, kept) == sent(request)


@pytest.mark.parametrize(
    "payload", [replace(ImageUrl("user", "u"), role="assistant"), Thinking("user", "x")]  # type: ignore[arg-type]
)  # fmt: skip
def test_a_payload_in_the_wrong_mouth_is_a_programming_error(payload: CompletePayload) -> None:
    with pytest.raises(TypeError, match="cannot be the"):
        items(payload)


def test_the_address_and_the_key() -> None:
    for base in ("https://a.example/v1", "https://a.example/v1/", "https://a.example/v1/responses"):
        assert PROTOCOL.url(replace(ENDPOINT, base_url=base)) == "https://a.example/v1/responses"
    assert PROTOCOL.headers(ENDPOINT) == {}
    assert PROTOCOL.headers(replace(ENDPOINT, api_key="k")) == {"Authorization": "Bearer k"}
