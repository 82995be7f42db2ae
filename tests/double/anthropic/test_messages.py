from __future__ import annotations

from typing import Any

import pytest

from tests.double.anthropic.conversation import (
    MARKER,
    PDF,
    PNG,
    Json,
    assistant,
    called,
    image,
    outputs,
    request,
    result,
    source,
    use,
    user,
    without,
    words,
)
from tests.double.anthropic.verdict import codes, texts

LOOP = (user(), called("a"), outputs("a"))


BLANKS = ["", " ", "\n\t", "\u200b\ufeff", "\u2800", "\u3164", "\xa0\u3000"]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_text_without_a_visible_character_is_refused(blank: str) -> None:
    what = "contain non-whitespace text" if blank else "be non-empty"
    for body in (
        request(user([words(blank)])),
        request(user(), assistant(words(blank)), user()),
        request(user(), assistant(words(blank), use()), outputs("a")),
        request(user(), called("a"), user([result("a", [words(blank)])])),
        request(user(), called("a"), user([result("a", blank)])),
        request(user(), called("a"), user([result("a"), words(blank)])),
    ):
        assert texts(body) == [f"messages: text content blocks must {what}"]
    for system in (blank, [words("Be brief."), words(blank)]):
        assert texts(request(system=system)) == [f"system: text content blocks must {what}"]


def test_a_message_without_content_is_refused() -> None:
    assert codes(request(user(""))) == ["empty_message", "blank_text"]
    assert texts(request({"role": "user", "content": []})) == ["messages.0: user messages must have non-empty content"]
    assert texts(request(user(), assistant(), user())) == ["messages.1: assistant messages must have non-empty content"]


MESSAGES: list[tuple[list[Any], str]] = [
    ([{"role": "bogus", "content": "x"}],
     'messages: Unexpected role "bogus". Allowed roles are "user" or "assistant"'),
    ([{"content": "x"}], "messages.0.role: Field required"),
    ([{"role": "user"}], "messages.0.content: Field required"),
    ([{"role": "user", "content": 7}], "messages.0.content: Input should be a valid array"),
    ([{"role": "user", "content": [{}]}], "messages.0.content.0.type: Field required"),
    ([{**user(), "name": "x"}], "messages.0.name: Extra inputs are not permitted"),
    ([{"role": "system", "content": "x"}, user()],
     "messages.0: use the top-level 'system' parameter for the initial system prompt"),
    ([user(), {"role": "system", "content": "x"}], "role 'system' is not supported on this model"),
    ([assistant(words()), user()], 'messages: first message must use the "user" role'),
    ([user(), assistant(words())],
     "This model does not support assistant message prefill. The conversation must end with a user message."),
    ([user([{"type": "input_text", "text": "x"}])],
     "messages.0.content.0: Input tag 'input_text' found using 'type' does not match any of the expected tags: "
     "'text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'"),
    ([user([{"type": "text"}])], "messages.0.content.0.text: Field required"),
    (["x"], "messages.0: Input should be an object"),
    ([user([words(7)])], "messages.0.content.0.text: Input should be a valid string"),
    ([user([words(cache_control="x")])], "messages.0.content.0.text.cache_control: Input should be an object"),
    ([user([words(cache_control={"type": "ephemeral", "x": 1})])],
     "messages.0.content.0.text.cache_control.x: Extra inputs are not permitted"),
    ([user(), assistant({"type": "redacted_thinking"}, words()), user()],
     "messages.1.content.0.redacted_thinking.data: Field required"),
    ([user(), assistant({"type": "thinking", "thinking": "x"}, words()), user()],
     "messages.1.content.0.thinking.signature: Field required"),
    ([user([words(id="x")])], "messages.0.content.0.text.id: Extra inputs are not permitted"),
    ([user([use()])], "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    ([user(), assistant(result()), user()], "messages.1: `tool_result` blocks can only be in `user` messages"),
    ([user(), assistant(image()), user()], "messages.1: `image` blocks can only be in `user` messages"),
    ([user([{"type": "thinking", "thinking": "x", "signature": "y"}])],
     "messages.0: `thinking` blocks can only be in `assistant` messages"),
    ([user([words(citations=[{"type": "char_location"}])])],
     "messages.0.content.0.text.citations: Extra inputs are not permitted"),
    ([user(), assistant({"type": "document", "source": PDF}), user()],
     "messages.1: `document` blocks can only be in `user` messages"),
    ([user([words("", cache_control=MARKER)])],
     "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "text"), MESSAGES, ids=str)
def test_a_wrong_message_is_refused(messages: list[Any], text: str) -> None:
    assert texts(request(*messages))[0] == text


SVG = source(type="base64", media_type="image/svg+xml", data=PNG)


MEDIA: list[tuple[Json, str]] = [
    ({"type": "image"}, "image.source: Field required"),
    ({"type": "image", "source": PNG}, "image.source: Input should be an object"),
    (source(type="url", url="https://example.org/a.png", detail="low"),
     "image.source.url.detail: Extra inputs are not permitted"),
    (SVG, "image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"),
    (image("not base64"), "image.source.base64: Could not process image"),
    (image(""), "image.source.base64: Could not process image"),
    (image(PNG, "image/jpeg"), "image.source.base64: The image was specified using the image/jpeg media type, but the "
     "image appears to be a image/png image"),
    (image(f"data:image/png;base64,{PNG}"), "image.source.base64: Could not process image"),
    (image(PNG[:-1] + "A" * 5 * 1024 * 1024), "image.source.base64: image exceeds 5 MB maximum: 5242891 bytes > "
     "5242880 bytes"),
    (source(type="url", url="http://example.org/a.png"), "image.source.url.url: Only HTTPS URLs are supported."),
    (source(type="file", file_id="f"), "image.source: Input tag 'file' found using 'type' does not match any of the "
     "expected tags: 'base64', 'url'"),
    (source(type="base64", data=PNG), "image.source.base64.media_type: Field required"),
    ({"type": "document", "source": {**PDF, "data": PNG}},
     "document.source.base64.data: The PDF specified was not valid."),
    ({"type": "document", "source": {**PDF, "media_type": "image/png"}},
     "document.source.base64.media_type: Input should be 'application/pdf'"),
    ({"type": "document", "source": {"type": "text", "media_type": "text/html", "data": "x"}},
     "document.source.text.media_type: Input should be 'text/plain'"),
    ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": " "}},
     "document.source.text.data: text content must be non-empty"),
]  # fmt: skip


@pytest.mark.parametrize(("block", "text"), MEDIA, ids=[text for _, text in MEDIA])
def test_a_wrong_image_is_refused_wherever_it_stands(block: Json, text: str) -> None:
    assert texts(request(user([block])))[0] == f"messages.0.content.0.{text}"
    inside = request(user(), called("a"), user([result("a", [block])]))
    assert texts(inside)[0] == f"messages.2.content.0.tool_result.content.0.{text}"


CALLS: list[tuple[Json, str]] = [
    (use("call_1|fc_1"), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    (without(use(), "id"), "tool_use.id: Field required"),
    (use(name="list sites"), "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    (use(input="{}"), "tool_use.input: Input should be a valid dictionary"),
    (use(input=[]), "tool_use.input: Input should be a valid dictionary"),
    (use(input=None), "tool_use.input: Input should be a valid dictionary"),
    (without(use(), "input"), "tool_use.input: Field required"),
    (
        use(caller={"type": "code_execution_20260120"}),
        "tool_use.caller: Input tag 'code_execution_20260120' found using "
        "'type' does not match any of the expected tags: 'direct'",
    ),
    (use(arguments="{}"), "tool_use.arguments: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("call", "text"), CALLS, ids=str)
def test_a_wrong_call_is_refused(call: Json, text: str) -> None:
    body = request(user(), assistant(call), user([result(call.get("id", ""))]))
    assert texts(body) == [f"messages.1.content.0.{text}"]


RESULTS: list[tuple[Json, str]] = [
    (result("a", 7), "tool_result.content: Input should be a valid string or a valid list"),
    (result("a", None), "tool_result.content: Input should be a valid string or a valid list"),
    (result("a", [use("b")]), "tool_result.content.0: Input tag 'tool_use' found using 'type' does not match any of "
     "the expected tags: 'text', 'image', 'document'"),
    (result("a", is_error="yes"), "tool_result.is_error: Input should be a valid boolean"),
    (result("a", [image()], is_error=True), 'tool_result: all content must be type "text" if `is_error` is true'),
    (result("a", name="read_file"), "tool_result.name: Extra inputs are not permitted"),
]  # fmt: skip


def test_a_result_says_which_call_it_answers() -> None:
    body = request(user(), called("a"), user([without(result("a"), "tool_use_id")]))
    assert texts(body)[0] == "messages.2.content.0.tool_result.tool_use_id: Field required"


@pytest.mark.parametrize(("output", "text"), RESULTS, ids=str)
def test_a_wrong_result_is_refused(output: Json, text: str) -> None:
    assert texts(request(user(), called("a"), user([output]))) == [f"messages.2.content.0.{text}"]


UNANSWERED = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block "
    "must have a corresponding `tool_result` block in the next message."
)


UNEXPECTED = (
    "messages.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must have a "
    "corresponding `tool_use` block in the previous message."
)


PAIRS: list[tuple[list[Json], list[str]]] = [
    ([user(), called("a"), user("And?")], [UNANSWERED.format("a")]),
    ([user(), called("a", "b"), outputs("b")], [UNANSWERED.format("a")]),
    ([user(), called("a"), user([words(), result("a")])], [UNANSWERED.format("a")]),
    ([user(), called("a"), user("And?"), outputs("a")], [UNANSWERED.format("a")]),
    ([user(), called("a", "b"), user([result("a"), words(), result("b")])], [UNANSWERED.format("b")]),
    ([user(), called("a"), assistant(words()), user(), outputs("a")], [UNANSWERED.format("a")]),
    ([user([result("a")])], [UNEXPECTED.format("0.content.0", "a")]),
    ([user(), called("a"), outputs("a", "b")], [UNEXPECTED.format("2.content.1", "b")]),
    ([user(), called("a"), outputs("a"), assistant(words()), outputs("a")], [UNEXPECTED.format("4.content.0", "a")]),
    ([user(), called("a"), outputs("a", "a")],
     ["messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"]),
    ([*LOOP, called("a"), outputs("a")], ["messages.3.content.0: `tool_use` ids must be unique"]),
    ([user(), called("a", "a"), outputs("a")], ["messages.1.content.1: `tool_use` ids must be unique"]),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), PAIRS, ids=str)
def test_calls_and_results_pair(messages: list[Json], expected: list[str]) -> None:
    assert texts(request(*messages)) == expected
