"""The vendor's own SDK talks to the double: what the builders write is what the vendor sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import (
    Anthropic,
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    OverloadedError,
    RateLimitError,
)
from anthropic.types import Message

from tests.double.anthropic.build import (
    MODEL,
    between,
    call,
    counts,
    error,
    fails,
    finish,
    heartbeats,
    limit,
    redacted,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.anthropic.conversation import BUDGET, PNG, TOOL, Json, result, user
from tests.double.anthropic.endpoint import AnthropicEndpoint as Endpoint
from tests.double.client import Double

KEY = "sk-ant-test-123456"


@pytest.fixture
def sdk(double: Double) -> Iterator[Anthropic]:
    with Anthropic(api_key=KEY, base_url=double.base_url("anthropic"), max_retries=0) as client:
        yield client


def answer(sdk: Anthropic, *messages: Any, **extra: Any) -> Message:
    """The whole answer, put together by the SDK."""
    said: list[Any] = list(messages or (user(),))
    tools: list[Any] = [TOOL]
    with sdk.messages.stream(
        model=MODEL, max_tokens=4096, messages=said, tools=tools, cache_control={"type": "ephemeral"}, **extra
    ) as stream:
        return stream.get_final_message()


def test_text_and_usage(double: Double, sdk: Anthropic) -> None:
    tokens = counts(100, 10, cached=60, written=30, reasoning=4)
    double.load(script(turn(text("Hello, 🐧!", parts=4), tokens=tokens), endpoint=Endpoint(key=KEY)))
    whole = answer(sdk)
    assert [block.to_dict() for block in whole.content] == [{"type": "text", "text": "Hello, 🐧!"}]
    assert (whole.id, whole.model, whole.role) == ("msg_01Double000000000000", MODEL, "assistant")
    assert (whole.stop_reason, whole.stop_sequence) == ("end_turn", None)
    usage = whole.usage
    assert (usage.input_tokens, usage.output_tokens) == (10, 10)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (60, 30)
    assert usage.output_tokens_details is not None
    assert usage.output_tokens_details.thinking_tokens == 4


def test_thinking_and_calls_go_round_in_the_sdks_own_form(double: Double, sdk: Anthropic) -> None:
    said = [thinking("Hm.", parts=2), redacted(), text("I look."), thinking("So.")]
    calls = [call("read_file", {"path": "é"}, parts=5), call("read_file", {}, id="call_2")]
    double.load(script(turn(*said, *calls), turn(thinking(""), call("read_file", id="call_3")), reply("Done.")))
    first = answer(sdk, thinking=BUDGET)
    assert first.stop_reason == "tool_use"
    kinds = ["thinking", "redacted_thinking", "text", "thinking", "tool_use", "tool_use"]
    assert [block.type for block in first.content] == kinds
    assert [block.input for block in first.content if block.type == "tool_use"] == [{"path": "é"}, {}]
    pictures = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]
    outputs = user([result("call_1", "ok"), result("call_2", pictures)])
    history = [user(), first.to_param(), outputs]
    second = answer(sdk, *history, thinking=BUDGET)
    history += [second.to_param(), user([result("call_3", is_error=True)])]
    assert answer(sdk, *history, thinking=BUDGET).stop_reason == "end_turn"
    assert double.refusals() == []


def test_a_changed_signature_is_a_bad_request(double: Double, sdk: Anthropic) -> None:
    double.load(script(turn(thinking("Hm."), call("read_file")), reply("Done.")))
    first = answer(sdk)
    [block, use] = first.content
    assert block.type == "thinking"
    forged: Json = {"role": "assistant", "content": [block.model_copy(update={"thinking": "Hm!"}), use]}
    with pytest.raises(BadRequestError) as caught:
        answer(sdk, user(), forged, user([result("call_1")]))
    assert caught.value.api_message == "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id == "req_011CDouble000000000400"
    assert [refusal.code for refusal in double.refusals()] == ["invalid_signature", "answer_changed"]


def test_a_lost_answer_is_a_bad_request(double: Double, sdk: Anthropic) -> None:
    double.load(script(turn(thinking("Hm."), text("One")), reply("Two")))
    answer(sdk)
    with pytest.raises(BadRequestError, match="nothing comes back"):
        answer(sdk, user(), user("And?"))
    assert len(double.refusals()) == 1


ENDINGS: list[tuple[Any, str]] = [
    (limit(), "max_tokens"),
    (finish("stop_sequence", sequence="END"), "stop_sequence"),
    (finish("pause_turn"), "pause_turn"),
    (finish("model_context_window_exceeded"), "model_context_window_exceeded"),
    (refusal("No."), "refusal"),
]


@pytest.mark.parametrize(("ending", "reason"), ENDINGS, ids=[reason for _, reason in ENDINGS])
def test_every_stop_reason_is_read(double: Double, sdk: Anthropic, ending: Any, reason: str) -> None:
    double.load(script(turn(text("Half"), ending)))
    whole = answer(sdk)
    assert whole.stop_reason == reason
    assert whole.stop_sequence == ("END" if reason == "stop_sequence" else None)
    explained = whole.stop_details.explanation if whole.stop_details else None
    assert explained == ("No." if reason == "refusal" else None)


def test_signs_of_life_disturb_nothing(double: Double, sdk: Anthropic) -> None:
    pieces = [thinking("Hm.", parts=2), text("Hello", parts=2), call("read_file", {"path": "a"}, parts=3)]
    double.load(script(turn(between(pieces, heartbeats()))))
    whole = answer(sdk)
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use"]
    assert whole.stop_reason == "tool_use"


def test_every_event_is_one_that_the_sdk_knows(double: Double, sdk: Anthropic) -> None:
    double.load(script(turn(thinking("Hm."), redacted(), text("Hi"), call("read_file"))))
    said: Any = user()
    tools: list[Any] = [TOOL]
    stream = sdk.messages.create(
        model=MODEL, max_tokens=5, messages=[said], tools=tools, stream=True, cache_control={"type": "ephemeral"}
    )
    kinds = [event.type for event in stream]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert set(kinds[1:-2]) == {"content_block_start", "content_block_delta", "content_block_stop"}


def test_an_error_in_the_stream_is_raised(double: Double, sdk: Anthropic) -> None:
    double.load(script(turn(text("Half"), error())))
    with pytest.raises(APIStatusError) as caught:
        answer(sdk)
    assert (caught.value.type, caught.value.api_message) == ("overloaded_error", "Overloaded")


FAILURES: list[tuple[int, type[APIStatusError], str]] = [
    (400, BadRequestError, "invalid_request_error"),
    (401, AuthenticationError, "authentication_error"),
    (404, NotFoundError, "not_found_error"),
    (429, RateLimitError, "rate_limit_error"),
    (500, InternalServerError, "api_error"),
    (529, OverloadedError, "overloaded_error"),
]


@pytest.mark.parametrize(("status", "wrong", "kind"), FAILURES, ids=str)
def test_an_http_error_raises_its_class(
    double: Double, sdk: Anthropic, status: int, wrong: type[APIStatusError], kind: str
) -> None:
    double.load(script(fails(status, "Not now", headers={"retry-after": "3"})))
    with pytest.raises(wrong) as caught:
        answer(sdk)
    assert (caught.value.type, caught.value.api_message) == (kind, "Not now")
    assert caught.value.response.headers["retry-after"] == "3"
    assert caught.value.request_id == f"req_011CDouble{status:012}"


def test_an_unknown_model_and_a_wrong_key_are_refused(double: Double, sdk: Anthropic) -> None:
    double.load(script(reply("Hi"), model="another", endpoint=Endpoint(key="sk-ant-other")))
    with pytest.raises(NotFoundError):
        answer(sdk)
    double.load(script(reply("Hi"), endpoint=Endpoint(key="sk-ant-other")))
    with pytest.raises(AuthenticationError, match="invalid x-api-key"):
        answer(sdk)
    assert [refusal.status for refusal in double.refusals()] == [404, 401]


def test_the_models_are_listed(double: Double, sdk: Anthropic) -> None:
    double.load(script(model="a"), script(model="b"))
    page = sdk.models.list()
    assert [(model.id, model.type, model.lifecycle) for model in page] == [
        ("a", "model", "active"),
        ("b", "model", "active"),
    ]
