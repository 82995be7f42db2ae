"""Payloads to the body of a generateContent request."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from penguin_harness.contracts import ModelRef, Request, ThinkingLevel, ToolChoice
from penguin_harness.llm.conversation import Conversation
from penguin_harness.llm.endpoint import Endpoint, Quirks
from penguin_harness.llm.endpoint import Thinking as ThinkingControl
from penguin_harness.llm.gemini import PROTOCOL
from penguin_harness.llm.gemini.parts import UNSIGNED
from penguin_harness.llm.schemas import GEMINI, adapted
from penguin_harness.omnimessage import (
    AssistantContent,
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
from tests.llm.gemini import (
    END,
    ENDPOINT,
    OLDER,
    OWN,
    call,
    chunk,
    contents,
    raw_contents,
    replayed,
    segments,
    sent,
    text,
)

PNG, JPEG, GIF = (f"data:image/{kind};base64,aGk=" for kind in ("png", "jpg", "gif"))
SIGNED = Raw(b'{"part":{"thoughtSignature":"s=="}}')
GO = Text("user", "go")


def said(content: str) -> Text:
    return Text("assistant", content)


def calls(name: str, arguments: str = "{}", call_id: str = "c1", fidelity: bytes | None = None) -> ToolCall:
    made = ToolCall("assistant", name, arguments, call_id)
    return made if fidelity is None else replace(made, fidelity=Raw(fidelity))


def output(content: str, call_id: str = "c1", images: tuple[str, ...] | None = None) -> ToolCallOutput:
    return ToolCallOutput("user", content, call_id, images)


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def response(name: str, content: str, key: str = "output", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {key: content}, **more}}


def inline(data: str = "aGk=", mime_type: str = "image/png") -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime_type, "data": data}}


def named(model_id: str, **fields: Any) -> Endpoint:
    return replace(ENDPOINT, ref=ModelRef("gemini", model_id), **fields)


def test_a_whole_conversation() -> None:
    assert contents(
        GO,
        Text("user", "now"),
        Thinking("assistant", "hm", fidelity=OWN),
        said("Let me "),
        said("see."),
        calls("a", '{"x": 1}', fidelity=b'{"part":{"thoughtSignature":"s=="},"content":{"id":"w1"}}'),
        calls("b", "", "c2"),
        output("one"),
        output("two", "c2"),
        Text("user", "quick"),
        said("Done."),
    ) == [
        user(text("go")),
        user(text("now")),
        model(
            text("hm", thought=True),
            text("Let me "),
            text("see."),
            call("a", {"x": 1}, id="w1") | {"thoughtSignature": "s=="},
            call("b"),
        ),
        user(response("a", "one", id="w1"), response("b", "two")),
        user(text("quick")),
        model(text("Done.")),
    ]


def test_the_body_holds_what_is_set_and_nothing_else() -> None:
    """B181: no tools key without tools, and no choice of one."""
    request = Request("  \n", [GO], tool_choice="required")
    assert msgspec.json.decode(sent(request)) == {"contents": [user(text("go"))]}


def test_the_body_with_everything() -> None:
    """What varies from request to request stands behind the contents."""
    schema = Raw(b'{"type":"object", "properties":{"n":{"minimum":1.0}}}')
    tools = (ToolSchema("a", "Does a.", schema), ToolSchema("3d", " "))
    raw = sent(Request("Be kind.", [GO], tools, "max", 500, "required"))
    assert bytes(schema) in raw
    decoded = msgspec.json.decode(raw)
    assert list(decoded) == ["tools", "systemInstruction", "contents", "toolConfig", "generationConfig"]
    assert decoded["systemInstruction"] == {"parts": [{"text": "Be kind."}]}
    assert decoded["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert decoded["generationConfig"] == {
        "maxOutputTokens": 500,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"},
    }
    assert decoded["tools"][0]["functionDeclarations"][1] == {
        "name": "_3d",
        "description": "_3d",
        "parametersJsonSchema": {"type": "object", "properties": {}},
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, None),
        ("auto", None),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("f", {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_tool_choices(choice: ToolChoice | None, expected: dict[str, Any] | None) -> None:
    decoded = msgspec.json.decode(sent(Request("", [GO], (ToolSchema("f", "F."),), tool_choice=choice)))
    assert decoded.get("toolConfig") == (expected and {"functionCallingConfig": expected})


def level(value: str) -> dict[str, Any]:
    return {"includeThoughts": True, "thinkingLevel": value}


def budget(value: int) -> dict[str, Any]:
    return {"includeThoughts": True, "thinkingBudget": value}


BY_WORDS = ThinkingControl("level", {"none": "minimal", "low": "low", "max": "xhigh"})
BY_TOKENS = ThinkingControl("budget", {"none": 0, "high": 9000})


@pytest.mark.parametrize(
    ("endpoint", "asked", "expected"),
    [
        (ENDPOINT, None, None),
        (ENDPOINT, "none", {"thinkingLevel": "low"}),
        (ENDPOINT, "low", level("low")),
        (ENDPOINT, "medium", level("medium")),
        (ENDPOINT, "max", level("high")),
        (named("gemini-3.8-flash", thinking=BY_WORDS), "none", {"thinkingLevel": "minimal"}),
        (named("gemini-3.8-flash", thinking=BY_WORDS), "max", level("xhigh")),
        (named("gemini-3.8-flash", thinking=BY_WORDS), "high", None),
        (OLDER, "none", {"thinkingBudget": 0}),
        (OLDER, "high", budget(16_384)),
        (named("models/gemini-2.5-pro"), "none", None),
        (named("models/gemini-2.5-pro"), "max", budget(24_576)),
        (named("m", thinking=BY_TOKENS), "high", budget(9000)),
        (named("m", thinking=BY_TOKENS), "none", {"thinkingBudget": 0}),
        (named("gemini-2.0-flash"), "high", None),
        (named("gemma-3-27b-it"), "none", None),
        (named("m", thinking=ThinkingControl("none")), "high", None),
        (replace(ENDPOINT, quirks=Quirks(thinking=False)), "high", None),
    ],
)
def test_thinking_levels(endpoint: Endpoint, asked: ThinkingLevel | None, expected: dict[str, Any] | None) -> None:
    decoded = msgspec.json.decode(sent(Request("", [GO], thinking_level=asked), endpoint))
    assert decoded.get("generationConfig") == (expected and {"thinkingConfig": expected})


def test_an_answer_fits_into_the_window() -> None:
    request = Request("", [GO], max_output_tokens=90_000, input_tokens=100_000)
    assert msgspec.json.decode(sent(request))["generationConfig"] == {"maxOutputTokens": 128_000 - 100_000 - 1024}


@pytest.mark.parametrize(
    ("base", "model_id", "expected"),
    [
        ("https://g.example", "gemini-3-pro", "https://g.example/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("https://g.example/v1", "models/x", "https://g.example/v1/models/x:streamGenerateContent?alt=sse"),
        ("https://g.example/v1beta/", "tunedModels/t-1", "https://g.example/v1beta/tunedModels/t-1:streamGenerateContent?alt=sse"),
        (
            "https://g.example/p/v1beta/models/a:streamGenerateContent?key=k",
            "a",
            "https://g.example/p/v1beta/models/a:streamGenerateContent?alt=sse",
        ),
        ("https://g.example", "a/b?c", "https://g.example/v1beta/models/a%2Fb%3Fc:streamGenerateContent?alt=sse"),
    ],
)  # fmt: skip
def test_addresses(base: str, model_id: str, expected: str) -> None:
    assert PROTOCOL.url(named(model_id, base_url=base)) == expected


def test_the_key_stands_in_its_header_and_nowhere_else() -> None:
    endpoint = replace(ENDPOINT, api_key="sk-test-123456")
    assert PROTOCOL.headers(endpoint) == {"x-goog-api-key": "sk-test-123456"}
    assert PROTOCOL.headers(ENDPOINT) == {}
    assert "sk-test" not in PROTOCOL.url(endpoint)


def test_b026_blank_text_is_never_sent() -> None:
    assert contents(Text("user", " "), said("\n\n"), calls("a"), output(" \n"), Text("user", "\t")) == [
        model(call("a") | {"thoughtSignature": UNSIGNED}),
        user(response("a", "[no output]")),
    ]
    assert contents(GO, said(" "), GO) == [user(text("go")), user(text("go"))]


@pytest.mark.parametrize(
    "payload",
    [
        Thinking("assistant", "no fidelity"),
        Thinking("assistant", "foreign", fidelity=Raw(b'{"signature":"abc"}')),
        Thinking("assistant", "odd", fidelity=Raw(b'{"part":7}')),
        Thinking("assistant", "cut", "aborted", OWN),
        Thinking("assistant", " ", fidelity=OWN),
        InlineThinking("assistant", "aGk=", "image/png"),
    ],
)
def test_b031_and_b032_other_thinking_is_not_sent(payload: Thinking | InlineThinking) -> None:
    assert contents(payload, said("x")) == [model(text("x"))]


def test_thoughts_alone_are_no_answer() -> None:
    assert contents(GO, Thinking("assistant", "hm", fidelity=SIGNED), GO) == [user(text("go")), user(text("go"))]


def test_b041_signatures_go_back_on_their_own_parts() -> None:
    signed = {"thoughtSignature": "s=="}
    after = Raw(b'{"part":{},"after":{"thoughtSignature":"s=="}}')
    image = InlineData("assistant", "aGk=", "image/png", fidelity=SIGNED)
    assert contents(
        Thinking("assistant", "", fidelity=SIGNED),
        said("a"),
        replace(said("b"), fidelity=SIGNED),
        replace(said(""), fidelity=SIGNED),
        replace(said("c"), fidelity=after),
        replace(said("d"), stop_reason="fatal"),
        image,
        InlineThinking("assistant", "aGk=", "image/png", fidelity=OWN),
        replace(said("shown"), fidelity=Raw(b'{"part":{},"whole":{"newThing":[1]}}')),
    ) == [
        model(
            text("", thought=True) | signed,
            text("a"),
            text("b") | signed,
            text("") | signed,
            text("c"),
            text("") | signed,
            text("d"),
            inline() | signed,
            inline() | {"thought": True},
            {"newThing": [1]},
        )
    ]


def test_b074_a_part_that_came_whole_keeps_its_signature_when_the_limit_cuts_the_answer_behind_it() -> None:
    cut = segments(chunk(call("a", id="x") | {"thoughtSignature": "s=="}), chunk(reason="MAX_TOKENS"))
    assert [one.stop_reason for one in cut] == ["fatal"]
    found = contents(GO, *cut, output("not run", "x"))
    assert found[1] == model(call("a", id="x") | {"thoughtSignature": "s=="})
    assert found[2]["parts"][0]["functionResponse"]["id"] == "x"


def test_b043_a_call_without_a_signature_gets_the_placeholder_once_in_a_step() -> None:
    """And keeps it when its turn is over, or what was sent before would change."""
    foreign = calls("a", fidelity=b'{"extra_content":{}}')
    steps = [
        GO,
        foreign,
        calls("b", "{}", "c2"),
        output("r"),
        output("r", "c2"),
        calls("d", "{}", "c3"),
        output("r", "c3"),
    ]
    marked = call("a") | {"thoughtSignature": UNSIGNED}
    found = contents(*steps, said("x"), GO)
    assert found[1] == model(marked, call("b"))
    assert found[3] == model(call("d") | {"thoughtSignature": UNSIGNED})
    own = calls("a", fidelity=bytes(SIGNED))
    assert contents(GO, own, calls("b"))[1] == model(call("a") | {"thoughtSignature": "s=="}, call("b"))
    assert contents(GO, foreign, endpoint=OLDER)[1] == model(call("a"))
    assert base64.b64decode(UNSIGNED, b"-_", validate=True)


@pytest.mark.parametrize("arguments", ["", " ", '{"path": "a', "[1]", "null", "plain", "[" * 100_000])
def test_b067_and_b068_a_bad_call_can_still_be_sent(arguments: str) -> None:
    assert contents(GO, calls("a", arguments), endpoint=OLDER)[1] == model(call("a"))


def test_b167_escapes_in_arguments_name_whole_characters() -> None:
    raw = sent(Request("", [GO, calls("a", r'{"t":"\ud83c\udf78 \ud83c"}')]))
    assert rb'"args":{"t":"\ud83c\udf78 \ufffd"}' in raw


def test_b161_a_name_that_the_vendor_refuses_is_mended() -> None:
    run = [calls(name, "{}", name) for name in ("a b/ü", "", "3d", "_3d", "-x", "x" * 80)]
    answers = [output("r", name) for name in ("a b/ü", "", "3d", "_3d", "-x", "x" * 80)]
    wanted = ["a_b__", "unknown", "_3d", "__3d", "_-x", "x" * 64]
    found = contents(GO, *run, *answers)
    assert [part["functionCall"]["name"] for part in found[1]["parts"]] == wanted
    assert [part["functionResponse"]["name"] for part in found[2]["parts"]] == wanted


def test_b013_ids_go_back_only_if_they_came() -> None:
    """The vendor's own ids on both sides, whatever the call is called in the Trace."""
    twice = [calls("f", "{}", call_id, b'{"part":{},"content":{"id":"x"}}') for call_id in ("x", "x#2")]
    found = contents(GO, *twice, calls("f", "{}", "call_3"), *(output("r", one) for one in ("x", "x#2", "call_3")))
    assert [part["functionCall"].get("id") for part in found[1]["parts"]] == ["x", "x", None]
    assert [part["functionResponse"].get("id") for part in found[2]["parts"]] == ["x", "x", None]


def test_outputs_stand_first_and_failures_are_errors() -> None:
    failed = replace(output("no", "c2"), stop_reason="fatal")
    assert contents(GO, calls("a"), calls("b", "{}", "c2"), Text("user", "wait"), output("one"), failed)[2:] == [
        user(response("a", "one"), response("b", "no", "error")),
        user(text("wait")),
    ]
    assert contents(output("stray"))[0] == user(response("unknown", "stray"))


def test_images_of_outputs() -> None:
    """Inside the response where the model takes them there, else behind the whole batch."""
    batch = [GO, calls("a"), calls("b", "{}", "c2"), output("one", images=(PNG, JPEG)), output("two", "c2")]
    assert contents(*batch)[2:] == [
        user(response("a", "one", parts=[inline(), inline(mime_type="image/jpeg")]), response("b", "two"))
    ]
    assert contents(*batch, endpoint=OLDER)[2:] == [
        user(response("a", "one"), response("b", "two")),
        user(inline(), inline(mime_type="image/jpeg")),
    ]
    note = text("[image/gif data, 3 bytes, cannot be shown here]")
    assert contents(GO, calls("a"), output("one", images=(GIF, PNG)))[2:] == [
        user(response("a", "one", parts=[inline()])),
        user(note),
    ]


def test_b164_and_b165_images_become_notes_where_the_model_takes_none() -> None:
    blind = replace(ENDPOINT, quirks=Quirks(images=False))
    note = "[An image is left out here: this model takes no images.]"
    made = InlineData("assistant", "aGk=", "image/png", fidelity=OWN)
    shown = InlineData("user", "aGk=", "image/png")
    batch = [ImageUrl("user", PNG), shown, made, calls("a"), output("one", images=(PNG,))]
    assert contents(*batch, endpoint=blind) == [
        user(text(note)),
        user(text(note)),
        model(text(note), call("a") | {"thoughtSignature": UNSIGNED}),
        user(response("a", f"one\n{note}")),
    ]


def test_images_and_data_of_the_user() -> None:
    web = "https://example.com/a"
    assert contents(
        ImageUrl("user", f"{web}.png?size=1"),
        ImageUrl("user", web),
        ImageUrl("user", JPEG),
        InlineData("user", "aGk=", "image/webp"),
        InlineData("user", "aGk=", "application/pdf"),
        InlineData("user", "aGk=", "application/zip"),
        InlineData("assistant", "aGk=", "image/png"),
    ) == [
        user({"fileData": {"mimeType": "image/png", "fileUri": f"{web}.png?size=1"}}),
        user({"fileData": {"mimeType": "image/jpeg", "fileUri": web}}),
        user(inline(mime_type="image/jpeg")),
        user(inline(mime_type="image/webp")),
        user(inline(mime_type="application/pdf")),
        user(text("[application/zip data, 3 bytes, cannot be shown here]")),
        model(text("[image/png data, 3 bytes, cannot be shown here]")),
    ]


def test_b180_neighbours_are_merged_where_sides_must_take_turns() -> None:
    strict = replace(ENDPOINT, quirks=Quirks(strict_roles=True))
    found = contents(GO, GO, calls("a"), output("one"), Text("user", "wait"), endpoint=strict)
    assert [content["role"] for content in found] == ["user", "model", "user"]
    assert found[2] == user(response("a", "one"), text("wait"))


def test_what_is_kept() -> None:
    foreign = Raw(b'{"signature":"abc"}')
    kept: list[CompletePayload] = [GO, said("x"), replace(said("x"), fidelity=SIGNED), calls("a"), output("r")]
    kept += [Thinking("assistant", "x", fidelity=OWN), InlineData("user", "aGk=", "image/png")]
    lost: list[CompletePayload] = [replace(said("x"), fidelity=foreign), calls("a", fidelity=bytes(foreign))]
    lost += [Thinking("assistant", "x"), Thinking("assistant", "x", fidelity=foreign)]
    lost += [InlineThinking("assistant", "aGk=", "image/png"), InlineData("assistant", "aGk=", "image/png")]
    assert ([PROTOCOL.keeps(one) for one in kept], [PROTOCOL.keeps(one) for one in lost]) == ([True] * 7, [False] * 6)


def test_b162_references_are_written_out_and_what_serves_them_is_left_out() -> None:
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "type": "object",
        "properties": {
            "target": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "exclusiveMinimum": 0},
            "$ref": {"type": "array"},
        },
        "additionalProperties": False,
    }
    node: dict[str, Any] = {"type": "object", "properties": {"next": {}}}
    assert msgspec.json.decode(adapted(Raw(msgspec.json.encode(schema)), GEMINI)) == {
        "type": "object",
        "properties": {
            "target": {"anyOf": [node, {"type": "null"}], "exclusiveMinimum": 0},
            "$ref": {"type": "array", "items": {}},
        },
        "additionalProperties": False,
    }


def assert_same(part: bytes, *, endpoint: Endpoint = ENDPOINT) -> None:
    """What is opaque in the part that came goes out again, byte for byte."""
    raw = b'data: {"candidates":[{"content":{"parts":[%b]}}]}\n\n' % part
    (back,) = replayed(raw, END, endpoint=endpoint)
    given, found = (msgspec.json.decode(one, type=dict[str, Raw]) for one in (part, bytes(back)))
    assert {key: bytes(value) for key, value in found.items() if key != "functionCall"} == {
        key: bytes(value) for key, value in given.items() if key != "functionCall"
    }
    if "functionCall" in given:
        call_given, call_found = (
            msgspec.json.decode(one["functionCall"], type=dict[str, Raw]) for one in (given, found)
        )
        assert {key: bytes(value) for key, value in call_found.items()} == {
            key: bytes(value) for key, value in call_given.items()
        }


@st.composite
def json_texts(draw: st.DrawFn, depth: int = 3) -> bytes:
    """JSON as no encoder of ours would write it."""
    kind = draw(st.sampled_from(["number", "string", "word"] + (["object", "list"] if depth else [])))
    space = draw(st.sampled_from([b"", b" ", b"\t"]))
    match kind:
        case "number":
            return draw(st.sampled_from([b"1.0", b"1e400", b"-0", b"1E+2", b"123456789012345678901234567890", b"0.10"]))
        case "string":
            escaped = draw(st.sampled_from([b"", rb"\u00e9", rb"\/", rb"\ud83d\udc27", rb"\u0000", rb"\\"]))
            letters = draw(
                st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cc", "Cs"]), max_size=4)
            )
            return b'"' + escaped + letters.encode() + b'"'
        case "word":
            return draw(st.sampled_from([b"true", b"false", b"null"]))
        case "list":
            return b"[" + space + b",".join(draw(st.lists(json_texts(depth - 1), max_size=3))) + b"]"
        case _:
            keys = st.sampled_from([b'"a"', b'"a"', rb'"\u00e9"', b'"z z"', b'"text"', b'"id"'])
            pairs = draw(st.lists(st.tuples(keys, json_texts(depth - 1)), max_size=3))
            return b"{" + b",".join(key + b":" + space + value for key, value in pairs) + b"}"


not_null = json_texts().filter(lambda text: text != b"null")
DEEP = b"[" * 100 + b"]" * 100


@given(not_null, not_null)
def test_b032_what_came_with_a_part_goes_back_byte_for_byte(signature: bytes, unknown: bytes) -> None:
    """Received as bytes, made into segments, sent with the next request."""
    opaque = b'"thoughtSignature":' + signature + b',"partMetadata":' + unknown
    assert_same(b'{"text":"hi",' + opaque + b"}")
    assert_same(
        b'{"functionCall":{"name":"f","args":{"x":' + unknown + b'},"id":"i","more":' + unknown + b"}," + opaque + b"}"
    )
    assert_same(b'{"inlineData":{"mimeType":"image/png","data":"aGk="},' + opaque + b"}")
    assert_same(b'{"toolCall":' + unknown + b"," + opaque + b"}")


def test_b032_deep_values_and_repeated_names_survive() -> None:
    twice = b'{"b":1.0,"a":"\\u00e9","b":1e400,"deep":' + DEEP + b"}"
    assert_same(b'{"functionCall":{"name":"f","args":' + twice + b'},"thoughtSignature":' + twice + b"}")
    assert_same(b'{"toolResponse":' + twice + b"}")


@pytest.mark.parametrize("name", ["3d", "_3d", "__x", "a-b", "-"])
def test_a_name_is_the_same_on_its_way_out_and_in(name: str) -> None:
    wired = contents(GO, calls(name))[1]["parts"][0]["functionCall"]["name"]
    (again,) = segments(chunk(call(wired)), END)
    assert isinstance(again, ToolCall)
    assert again.name == name


turns = st.lists(
    st.sampled_from(["user", "image", "text", "think", "calls", "blank", "foreign"]), min_size=1, max_size=12
)


def answer(number: int, *, own: bool) -> list[AssistantContent]:
    """An answer of two calls and what came before them, as this vendor or another one gave it."""
    if not own:
        return [Thinking("assistant", "h"), calls("f", "{}", f"{number}a"), calls("g", "{}", f"{number}b")]
    whole = segments(
        chunk(text(f"h{number}", thought=True), text("t"), text("", thoughtSignature="s==")),
        chunk(call("f", {"n": number}, id="x") | {"thoughtSignature": "t=="}, call("g"), reason="STOP"),
    )
    ids = iter((f"{number}a", f"{number}b"))
    return [replace(one, tool_call_id=next(ids)) if isinstance(one, ToolCall) else one for one in whole]


def conversation(kinds: Sequence[str]) -> list[list[CompletePayload]]:
    """Steps that each end a turn's input, as requests do."""
    steps: list[list[CompletePayload]] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "user":
                steps.append([Text("user", f"u{number}")])
            case "image":
                steps.append([ImageUrl("user", f"https://example.com/{number}")])
            case "text":
                steps.append([said(f"t{number}"), GO])
            case "think":
                steps.append([Thinking("assistant", f"h{number}", fidelity=OWN), said("x"), GO])
            case "calls" | "foreign":
                outputs = [output("r", f"{number}{letter}", (PNG, GIF)) for letter in "ab"]
                steps.append([*answer(number, own=kind == "calls"), *outputs])
            case _:
                steps.append([said(" "), Text("user", " ")])
    return steps


@given(turns, st.sampled_from([ENDPOINT, OLDER]))
def test_b182_each_request_begins_with_the_one_before(kinds: Sequence[str], endpoint: Endpoint) -> None:
    """And the cache gives what a fresh encoding gives."""
    kept, payloads, before = Conversation(PROTOCOL, endpoint), list[CompletePayload](), b""
    tools = (ToolSchema("f", "F."),)
    for step in conversation(kinds):
        payloads += step
        now = sent(Request("s", payloads, tools), endpoint, kept)
        assert now == sent(Request("s", payloads, tools), endpoint)
        assert now.startswith(before)
        before = now.removesuffix(b"]}")


@given(turns, st.data())
def test_the_cache_follows_any_change_of_the_conversation(kinds: Sequence[str], data: st.DataObject) -> None:
    """Retries append what a later request leaves out; another session shares the adapter."""
    kept = Conversation(PROTOCOL, ENDPOINT)
    pool = [payload for step in conversation(kinds) for payload in step]
    for _ in range(4):
        length = data.draw(st.integers(0, len(pool)))
        request = Request("", pool[:length] + data.draw(st.lists(st.sampled_from(pool), max_size=3)))
        assert sent(request, ENDPOINT, kept) == sent(request)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), st.sampled_from(["\0", '"', "\\", '\0"c1"\0']))
def test_no_text_is_taken_for_the_gap_of_a_name(before: str, odd: str) -> None:
    content = f"{before}{odd}x"
    found = contents(Text("user", content), calls(content, "{}", content), output(content, content))
    name = found[1]["parts"][0]["functionCall"]["name"]
    assert found[0] == user(text(content))
    assert found[2] == user(response(name, content))


@pytest.mark.parametrize(
    "payload", [replace(ImageUrl("user", "u"), role="assistant"), Thinking("user", "x")]  # type: ignore[arg-type]
)  # fmt: skip
def test_a_payload_in_the_wrong_mouth_is_a_programming_error(payload: CompletePayload) -> None:
    with pytest.raises(TypeError, match="cannot be the"):
        raw_contents([payload])
