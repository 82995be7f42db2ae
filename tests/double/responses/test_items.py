from __future__ import annotations

from typing import Any

import pytest

from tests.double.responses.conversation import (
    PNG,
    assistant,
    called,
    image,
    output,
    refusals,
    request,
    user,
    without,
    written,
)
from tests.double.steps import Json

ROUND = (user(), called(), output())
NOTHING: Json = {}


def codes(body: Json) -> list[tuple[str | None, str | None]]:
    return [(refusal.code, refusal.param) for refusal in refusals(body)]


BLANKS = ["", " ", "\n\t", "\u200b\ufeff", "\u2800", "\xa0\u3000"]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_blank_text_of_the_client_is_refused_and_of_the_model_is_not(blank: str) -> None:
    for content, end in ((blank, ""), ([written(blank)], "[0].text")):
        assert codes(request(user(content))) == [("blank_text", f"input[0].content{end}")]
        assert codes(request(user(), called(), output(content=content))) == [("blank_text", f"input[2].output{end}")]
    assert codes(request(user(), assistant(blank), user())) == []


ITEMS: list[tuple[list[Any], str | None, str]] = [
    (["x"], "invalid_type", "input[1]"),
    ([{}], "missing_required_parameter", "input[1].type"),
    ([{"type": "tool_result"}], "invalid_value", "input[1]"),
    ([{"role": "tool", "content": "x"}], "invalid_value", "input[1].role"),
    ([{"type": "message", "content": "x"}], "missing_required_parameter", "input[1].role"),
    ([{"role": "user"}], "missing_required_parameter", "input[1].content"),
    ([user(None)], "invalid_type", "input[1].content"),
    ([user([])], "empty_array", "input[1].content"),
    ([user(["x"])], "invalid_type", "input[1].content[0]"),
    ([user([{"type": "text", "text": "x"}])], "invalid_value", "input[1].content[0].type"),
    ([user([{"type": "output_text", "text": "x"}])], "invalid_value", "input[1].content[0].type"),
    ([user([{"type": "input_text"}])], "missing_required_parameter", "input[1].content[0].text"),
    ([user([written() | {"cache_control": NOTHING}])], "unknown_parameter", "input[1].content[0].cache_control"),
    ([user([written() | {"prompt_cache_breakpoint": {"mode": "auto"}}])], "invalid_value",
     "input[1].content[0].prompt_cache_breakpoint.mode"),
    ([user([written() | {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "5m"}}])], "invalid_value",
     "input[1].content[0].prompt_cache_breakpoint.ttl"),
    ([user([{"type": "input_file", "filename": "a"}])], "missing_required_parameter", "input[1].content[0].file_data"),
    ([{**user(), "phase": "commentary"}], "unknown_parameter", "input[1].phase"),
    ([{**user(), "name": "x"}], "unknown_parameter", "input[1].name"),
    ([user([image({"url": PNG})])], "invalid_type", "input[1].content[0].image_url"),
    ([user([{"type": "input_image"}])], "missing_required_parameter", "input[1].content[0].image_url"),
    ([user([{"type": "input_image", "file_id": "file-1"}])], None, "input[1].content[0].file_id"),
    ([user([image("a.png")])], "invalid_value", "input[1].content[0].image_url"),
    ([user([image(PNG.replace("png", "svg+xml"))])], "invalid_value", "input[1].content[0].image_url"),
    ([user([image("data:image/png;base64,Q!")])], "invalid_image", "input[1].content[0].image_url"),
    ([user([image(PNG.replace("png", "jpeg"))])], "invalid_image", "input[1].content[0].image_url"),
    ([user([image(detail="most")])], "invalid_value", "input[1].content[0].detail"),
    ([{"role": "assistant", "content": [written()]}], "invalid_value", "input[1].content[0]"),
    ([{"role": "assistant", "content": None}], "invalid_type", "input[1].content"),
    ([assistant(phase="thinking")], "invalid_value", "input[1].phase"),
    ([assistant(status="done")], "invalid_value", "input[1].status"),
    ([assistant(id="call_1")], "invalid_value", "input[1].id"),
    ([assistant(id="msg_" + "1" * 61)], "string_above_max_length", "input[1].id"),
    ([assistant(id=None)], "invalid_type", "input[1].id"),
    ([assistant(tool_calls=[])], "unknown_parameter", "input[1].tool_calls"),
    ([without(called(), "call_id"), output()], "missing_required_parameter", "input[1].call_id"),
    ([without(called(), "name"), output()], "missing_required_parameter", "input[1].name"),
    ([called(name="list sites"), output()], "invalid_value", "input[1].name"),
    ([called(name="n" * 65), output()], "string_above_max_length", "input[1].name"),
    ([called("c" * 65), output("c" * 65)], "string_above_max_length", "input[1].call_id"),
    ([called(""), output("")], "empty_string", "input[1].call_id"),
    ([called(id="call_1"), output()], "invalid_value", "input[1].id"),
    ([called(arguments={}), output()], "invalid_type", "input[1].arguments"),
    *(([called(arguments=text), output()], "invalid_arguments", "input[1].arguments")
      for text in ("", "not json", "[]", "null", '{"a":', '{"a": "\\ud83d"}', '{"a": NaN}')),
    ([called(), without(output(), "output")], "missing_required_parameter", "input[2].output"),
    ([called(), output(content={"a": 1})], "invalid_type", "input[2].output"),
    ([called(), output(content=[{"type": "output_text", "text": "x"}])], "invalid_value", "input[2].output[0].type"),
    ([{"type": "reasoning", "encrypted_content": "x"}, assistant()], "missing_required_parameter", "input[1].summary"),
    ([{"type": "reasoning", "summary": None, "encrypted_content": "x"}, assistant()], "invalid_type",
     "input[1].summary"),
    ([{"type": "reasoning", "summary": [{"type": "text", "text": "x"}], "encrypted_content": "x"}, assistant()],
     "invalid_value", "input[1].summary[0].type"),
    ([{"type": "reasoning", "summary": [], "encrypted_content": "x", "status": None}, assistant()],
     "unknown_parameter", "input[1].status"),
    ([{"type": "reasoning", "summary": [], "encrypted_content": 1}, assistant()], "invalid_type",
     "input[1].encrypted_content"),
    ([{"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "x"}]}, assistant()],
     "array_above_max_length", "input[1].content"),
    ([{"type": "reasoning", "summary": [], "content": None, "encrypted_content": "x"}, assistant()], "invalid_type",
     "input[1].content"),
    ([{"type": "item_reference"}], "missing_required_parameter", "input[1].id"),
]  # fmt: skip


@pytest.mark.parametrize(("items", "code", "param"), ITEMS, ids=str)
def test_a_wrong_item_is_refused(items: list[Json], code: str | None, param: str) -> None:
    assert codes(request(user(), *items))[0] == (code, param)


THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
WORDS: list[tuple[Json, str]] = [
    (request(user(), called("call_7")), "No tool output found for function call call_7."),
    (request(user(), called("a"), user(), called("b"), output("b")), "No tool output found for function call a."),
    (request(user(), output("call_7")), "No tool call found for function call output with call_id call_7."),
    (request(user(), output("a"), called("a")),
     "No tool call found for function call output with call_id a."),
    (request(*ROUND, *ROUND[1:]),
     "Duplicate item found with id call_1. Remove duplicate items from your input and try again."),
    (request(*ROUND, output()),
     "Duplicate item found with id call_1. Remove duplicate items from your input and try again."),
    (request(user(), assistant(id="msg_1"), assistant(id="msg_1")),
     "Duplicate item found with id msg_1. Remove duplicate items from your input and try again."),
    (request(user(), THOUGHT, assistant()),
     "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set"
     " to true, or remove this item from your input."),
    (request(user(), {"type": "item_reference", "id": "msg_1"}),
     "Item with id 'msg_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set"
     " to true, or remove this item from your input."),
    (request(user(), {**THOUGHT, "encrypted_content": "gAAA"}),
     "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    (request(user(), {**THOUGHT, "encrypted_content": "gAAA"}, user()),
     "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    (request(user(), {**THOUGHT, "encrypted_content": "gAAA"}, assistant()),
     "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or"
     " parsed."),
    (request(user(), called(id="fc_000000000000000000010000"), output()),
     "Item 'fc_000000000000000000010000' of type 'function_call' was provided without its required 'reasoning' item:"
     " 'rs_00000000000000000000ffff'."),
    (request(user(), assistant(id="msg_000000000000000000010000"), user()),
     "Item 'msg_000000000000000000010000' of type 'message' was provided without its required 'reasoning' item:"
     " 'rs_00000000000000000000ffff'."),
    (request(user([{"type": "text", "text": "x"}])),
     "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', and 'input_file'."),
    (request(user(), {"role": "assistant", "content": [written()]}),
     "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."),
    (request(user(), called(id="toolu_1"), output()),
     "Invalid 'input[1].id': 'toolu_1'. Expected an ID that begins with 'fc'."),
    (request(messages=[]),
     "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the"
     " new parameter."),
    (request(max_output_tokens=10),
     "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 10 instead."),
    (request(user(), called("c" * 65), output("c" * 65)),
     "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with"
     " length 65 instead."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), WORDS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_refusal_has_the_vendors_words(body: Json, words: str) -> None:
    assert refusals(body)[0].message == words


def test_an_item_that_is_not_kept_is_not_found() -> None:
    [refusal] = refusals(request(user(), THOUGHT, assistant()))
    assert (refusal.status, refusal.param, refusal.code) == (404, "input", None)
    [refusal] = refusals(request(user(), without(THOUGHT, "id"), assistant()))
    assert (refusal.code, refusal.param) == ("missing_required_parameter", "input[1].encrypted_content")
