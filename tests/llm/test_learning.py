"""What refusals teach, in the words of real endpoints; and that nothing is learnt from other failures, or twice."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from penguin_harness.contracts import ModelRef, Request
from penguin_harness.llm.endpoint import Endpoint, Quirks, Thinking
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.learning import learn
from penguin_harness.llm.opacity import unsigned
from penguin_harness.omnimessage import ImageUrl, InlineData, Text, ToolCall, ToolCallOutput
from penguin_harness.omnimessage import Thinking as Thinking_

ENDPOINT = Endpoint(ModelRef("custom", "m"), "http://127.0.0.1:1/v1", 128_000)
PNG = "data:image/png;base64,aGk="
SIGNED = Thinking_("assistant", "Hm.", fidelity=Raw(b'{"signature":"s"}'))
SEEING = Request(
    "", (Text("user", "hi"), SIGNED, ImageUrl("user", PNG)), thinking_level="high", max_output_tokens=50_000
)
BLIND = Request("", (Text("user", "hi"),), thinking_level="high", max_output_tokens=50_000)


def refused(message: str, status: int = 400) -> TransportError:
    return TransportError("fatal", "rejected", f"HTTP {status}: {message}")


def taught(message: str, request: Request = SEEING, endpoint: Endpoint = ENDPOINT) -> Endpoint | None:
    lesson = learn(endpoint, refused(message), request)
    return None if lesson is None else lesson.endpoint


WORDINGS: list[tuple[str, dict[str, Any]]] = [
    ("No endpoints found that support image input", {"images": False}),
    ("This model does not support image inputs", {"images": False}),
    ("Invalid content type. image_url is only supported by certain models.", {"images": False}),
    ("Image input modality is not enabled for models/gemma-3-1b", {"images": False}),
    (
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        {"images": False},
    ),
    ("m is not a multimodal model and cannot take image data", {"images": False}),
    (
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        {"reasoning": "required"},
    ),
    (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        {"reasoning": "required"},
    ),
    ("Unrecognized request argument supplied: messages.2.reasoning_content", {"reasoning": "never"}),
    ("messages.1.reasoning_content: Extra inputs are not permitted", {"reasoning": "never"}),
    ("Conversation roles must alternate user/assistant/user/assistant/...", {"strict_roles": True}),
    (
        "After the optional system message, conversation roles must alternate user and assistant roles",
        {"strict_roles": True},
    ),
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_tokens_field": "max_completion_tokens"},
    ),
    ("Unrecognized request argument supplied: stream_options", {"usage_option": False}),
    ("cache_control: Extra inputs are not permitted", {"cache": False}),
    ("Unrecognized request argument supplied: reasoning_effort", {"thinking": False}),
    ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", {"thinking": False}),
    ("Thinking level is not supported for this model.", {"thinking": False}),
    ("m does not support thinking", {"thinking": False}),
    ("Your organization must be verified to generate reasoning summaries.", {"summaries": False}),
    ("Budget 0 is invalid. This model only works in thinking mode.", {"thinking": False}),
    ("Unable to extract include_thoughts: it is only enabled when thinking is enabled.", {"thinking": False}),
    ("Unable to process input image. Please retry or report the issue.", {"images": False}),
    ("messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6 MB > 5 MB", {"images": False}),
]


@pytest.mark.parametrize(("message", "expected"), WORDINGS, ids=lambda one: str(one)[:60])
def test_a_refusal_that_names_a_part_of_the_protocol_is_a_lesson(message: str, expected: dict[str, Any]) -> None:
    endpoint = taught(message)
    assert endpoint is not None
    assert endpoint.quirks == replace(Quirks(), **expected)
    lesson = learn(ENDPOINT, refused(message), SEEING)
    assert lesson is not None
    assert lesson.note.startswith("sent again")


@pytest.mark.parametrize("message", [message for message, _ in WORDINGS])
def test_b044_no_lesson_is_learnt_twice(message: str) -> None:
    """Else the same request would be sent for ever."""
    endpoint: Endpoint | None = ENDPOINT
    for _ in range(10):
        endpoint = taught(message, endpoint=endpoint)
        if endpoint is None:
            return
    pytest.fail("there is always another lesson")


@pytest.mark.parametrize(
    ("message", "kind", "after"),
    [
        ("adaptive thinking is not supported on this model", "adaptive", "budget"),
        (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.',
            None,
            "adaptive",
        ),
    ],
)
def test_the_other_way_to_ask_for_thinking(message: str, kind: Any, after: str) -> None:
    endpoint = taught(message, endpoint=replace(ENDPOINT, thinking=Thinking(kind)))
    assert endpoint is not None
    assert endpoint.thinking.kind == after


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("max_tokens: 50000 > 8192, which is the maximum allowed number of output tokens for m", 8192),
        ("max_tokens is too large: 50000. This model supports at most 16384 completion tokens", 16384),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("'max_tokens' must be less than or equal to '32768'", 32768),
        ("max_output_tokens: the value must be up to 65,536", 65536),
        ("The maxOutputTokens: supported range is from 1 (inclusive) to 65537 (exclusive)", 65536),
    ],
)
def test_the_output_limit_is_read_off_the_refusal(message: str, limit: int) -> None:
    endpoint = taught(message)
    assert endpoint is not None
    assert endpoint.output_limit == limit
    assert taught(message, endpoint=endpoint) is None


@pytest.mark.parametrize(
    "message",
    [
        "messages: something is invalid",
        "Invalid schema for function 'a'",
        "The model `m` does not exist",
        "prompt is too long: 214676 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "This model's maximum context length is 128000 tokens.",
        "",
    ],
)
def test_other_refusals_teach_nothing(message: str) -> None:
    assert taught(message) is None


def test_a_model_that_cannot_reason_is_asked_for_nothing_sealed() -> None:
    endpoint = taught("Encrypted content is not supported with this model.")
    assert endpoint is not None
    assert endpoint.thinking.kind == "none"
    assert taught("Encrypted content is not supported with this model.", endpoint=endpoint) is None


def test_contradicting_refusals_come_to_an_end() -> None:
    """Two lessons that undo each other are each learnt once."""
    adaptive, budget = "adaptive thinking is not supported", '"thinking.type.enabled" is not supported: use adaptive'
    endpoint, learnt = replace(ENDPOINT, thinking=Thinking("adaptive")), list[str]()
    for message in (adaptive, budget) * 5:
        if lesson := learn(endpoint, refused(message), SEEING, learnt):
            endpoint = lesson.endpoint
            learnt.append(lesson.note)
    assert len(learnt) <= 2


@pytest.mark.parametrize(
    "message",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
        "The encrypted content for item rs_1 could not be verified. Reason: another organization",
        "Invalid thought signature.",
        "Function call is missing a thought_signature in functionCall parts.",
    ],
)
def test_signatures_that_count_no_more_are_not_sent_again(message: str) -> None:
    lesson = learn(ENDPOINT, refused(message), SEEING)
    assert lesson is not None
    assert (lesson.unsigned, lesson.endpoint) == (True, ENDPOINT)
    assert learn(ENDPOINT, refused(message), replace(SEEING, messages=tuple(map(unsigned, SEEING.messages)))) is None


def test_only_definitive_refusals_teach() -> None:
    message = "This model does not support image inputs"
    for failure in (
        TransportError("retryable", "network", message),
        TransportError("fatal", "auth", message),
        TransportError("retryable", "malformed", message),
    ):
        assert learn(ENDPOINT, failure, SEEING) is None


def test_nothing_is_learnt_about_what_was_not_sent() -> None:
    assert taught("This model does not support image inputs", BLIND) is None
    quiet = replace(BLIND, thinking_level=None)
    assert taught("m does not support thinking", quiet) is None


@pytest.mark.parametrize(
    "payload",
    [ImageUrl("user", PNG), InlineData("user", "aGk=", "image/png"), ToolCallOutput("user", "x", "c", (PNG,))],
)
def test_images_are_found_wherever_they_stand(payload: Any) -> None:
    request = Request("", (Text("user", "hi"), ToolCall("assistant", "a", "{}", "c"), payload))
    assert taught("This model does not support image inputs", request) is not None
